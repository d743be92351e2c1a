/** Keeps the last versions of the content, one file each: a line of JSON about the version, then its text, gzipped. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { contentVersionSummary, mostContentBytes } from '../contract/console/content.ts';
import { type ContentDocument, contentVersion } from '../contract/peers.ts';
import { compareVersions } from '../domain/merge.ts';
import { createQueue } from '../platform/queue.ts';
import { codeOf, type Disk } from '../platform/store/disk.ts';
import { keepCopy, makeFolder } from '../platform/store/file.ts';

/** As many versions are always kept. */
const MIN_KEPT = 50;
/** Up to this many are kept while their files are not larger than {@link MAX_BYTES} together. */
const MAX_KEPT = 200;
const MAX_BYTES = 64 * 1024 ** 2;
/** Versions that wait in memory for a disk that takes no writes. */
const MAX_UNSAVED = 10;
/** The first line of a file is shorter. */
const HEAD_BYTES = 2_048;
/** The largest file that is unpacked: content.json has no limit, but what the console publishes has. */
const MAX_TEXT_BYTES = 4 * mostContentBytes;

const NAME = /^[0-9a-f]{64}\.json\.gz$/;

const versionHead = contentVersionSummary.omit({ replaced_by: true }).extend(contentVersion.shape);
type VersionHead = z.infer<typeof versionHead>;

interface Version extends VersionHead {
  /** Size of the file, bytes; 0 while it is not written. */
  stored: number;
  /** Where the text begins in the file. */
  start: number;
  /** Of its text, once that has been read. */
  measured?: Pick<VersionText, 'sha256' | 'bytes'>;
}

/** The text of a version, without a byte order mark. */
export interface VersionText {
  /** SHA-256, hex. */
  sha256: string;
  bytes: number;
  /** Reads it a piece at a time. */
  stream(): Readable;
}

export type RecordedVersion = Pick<
  ContentDocument,
  'counter' | 'nodeId' | 'sha256' | 'changedAt' | 'operator' | 'person' | 'approved_by' | 'text'
>;

export type VersionStore = ReturnType<typeof createVersionStore>;

const zip = promisify(gzip);

const headOf = ({
  counter,
  nodeId,
  sha256,
  changedAt,
  operator,
  person = null,
  approved_by = null,
  text,
}: RecordedVersion): VersionHead => ({
  counter,
  nodeId,
  sha256,
  changedAt,
  operator,
  person,
  approved_by,
  bytes: Buffer.byteLength(text),
});

const readHead = async (path: string): Promise<Version> => {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
    const { size: stored } = await handle.stat();
    return { ...versionHead.parse(JSON.parse(line)), stored, start: Buffer.byteLength(line) + 1 };
  } finally {
    await handle.close();
  }
};

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

const withoutMark = (text: Buffer): Buffer =>
  text.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? text.subarray(BYTE_ORDER_MARK.length) : text;

/** The text of a file whose gzip begins at `start`, bytes. */
async function* unpack(path: string, start: number): AsyncGenerator<Buffer> {
  const pieces = pipeline(createReadStream(path, { start }), createGunzip(), () => undefined);
  let isFirst = true;
  for await (const piece of pieces as AsyncIterable<Buffer>) {
    yield isFirst ? withoutMark(piece) : piece;
    isFirst = false;
  }
}

/** @throws Error if the text is too long, or cannot be read */
const measure = async (text: Readable): Promise<Pick<VersionText, 'sha256' | 'bytes'>> => {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of text as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_TEXT_BYTES) throw new Error(`the text is longer than ${MAX_TEXT_BYTES} bytes`);
    hash.update(piece);
  }
  return { sha256: hash.digest('hex'), bytes };
};

/** The versions that are dropped. Pure. @param versions newest first */
export const expired = <Each extends Pick<Version, 'stored'>>(versions: readonly Each[]): Each[] => {
  let bytes = 0;
  return versions.filter(({ stored }, index) => {
    bytes += stored;
    return index >= MIN_KEPT && (index >= MAX_KEPT || bytes > MAX_BYTES);
  });
};

export const createVersionStore = ({ folder, disk, log }: { folder: string; disk: Disk; log: Logger }) => {
  const known = new Map<string, Version>();
  const unsaved = new Map<string, RecordedVersion>();
  const enqueue = createQueue();
  let fault: string | null = null;

  const pathOf = (sha256: string): string => join(folder, `${sha256}.json.gz`);
  const sorted = (): Version[] => [...known.values()].toSorted((a, b) => compareVersions(b, a));

  const load = async (): Promise<void> => {
    await makeFolder(folder);
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      try {
        const version = NAME.test(name) ? await readHead(path) : null;
        if (version !== null) known.set(version.sha256, version);
        // Anything else is left of a write that a power cut interrupted.
        else await disk.unlink(path).catch(() => undefined);
      } catch (error) {
        // An error of the system does not mean that it is damaged.
        if (codeOf(error) === undefined) await disk.unlink(path).catch(() => undefined);
        else log.warn({ err: error, name }, 'a version of the content cannot be read');
      }
    }
  };

  const write = async (document: RecordedVersion): Promise<void> => {
    const head = headOf(document);
    const line = Buffer.from(`${JSON.stringify(head)}\n`);
    const bytes = Buffer.concat([line, await zip(document.text)]);
    await keepCopy(disk, pathOf(document.sha256), bytes);
    await disk.syncFolder(folder);
    known.set(head.sha256, { ...head, stored: bytes.length, start: line.length });
    unsaved.delete(head.sha256);
  };

  const prune = async (): Promise<void> => {
    for (const { sha256 } of expired(sorted())) {
      known.delete(sha256);
      unsaved.delete(sha256);
      await disk.unlink(pathOf(sha256)).catch(() => undefined);
    }
  };

  /** The oldest go only once the newest are on the disk. */
  const save = async (): Promise<void> => {
    try {
      for (const document of [...unsaved.values()]) await write(document);
      fault = null;
      await prune();
    } catch (error) {
      if (fault === null) log.error({ err: error }, 'a version of the content could not be kept');
      fault = 'The newest versions of the content could not be kept: the disk takes no writes.';
    }
  };

  const loaded = enqueue(load).catch((error: unknown) => {
    log.error({ err: error, folder }, 'the versions of the content cannot be read');
  });

  return {
    /** Keeps the document, if it is not kept already. Never rejects: a failure is a fault, and is tried again. */
    record: async (document: RecordedVersion): Promise<void> => {
      await loaded;
      if (known.has(document.sha256)) return;
      known.set(document.sha256, { ...headOf(document), stored: 0, start: 0 });
      unsaved.set(document.sha256, document);
      const [oldest = ''] = unsaved.keys();
      if (unsaved.size > MAX_UNSAVED) {
        unsaved.delete(oldest);
        known.delete(oldest);
      }
      await enqueue(save);
    },
    /** Newest first. */
    list: async (): Promise<VersionHead[]> => {
      await loaded;
      return sorted();
    },
    /** The text of a version; null: it is not kept. */
    read: async (sha256: string): Promise<VersionText | null> => {
      await loaded;
      const version = known.get(sha256);
      if (version === undefined) return null;
      const waiting = unsaved.get(sha256);
      const stream = (): Readable =>
        waiting === undefined
          ? Readable.from(unpack(pathOf(sha256), version.start))
          : Readable.from([withoutMark(Buffer.from(waiting.text))]);
      try {
        version.measured ??= await measure(stream());
        return { ...version.measured, stream };
      } catch (error) {
        log.warn({ err: error, sha256 }, 'a version of the content cannot be read');
        return null;
      }
    },
    /** One sentence if the newest versions could not be written. */
    faults: (): string[] => (fault === null ? [] : [fault]),
    close: (): Promise<void> => enqueue(async () => undefined),
  };
};
