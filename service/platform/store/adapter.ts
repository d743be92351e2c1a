import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { Adapter } from 'lowdb';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type EpochMs, fileTime } from '../../domain/time.ts';
import { type Disk, isMissing, isShortage } from './disk.ts';
import { isLeftover, keepCopy, previousOf, renamePatiently, replaceFile } from './file.ts';
import { type Reserve, writeWithReserve } from './reserve.ts';

interface Options<T> {
  path: string;
  /** Decodes what is read and encodes what is written. */
  schema: z.ZodType<T>;
  /** Reads a body of a newer version that the schema rejects, as far as possible; null: not at all. */
  salvage: ((body: unknown) => T | null) | undefined;
  disk: Disk;
  reserve: Pick<Reserve, 'release'> | undefined;
  log: Pick<Logger, 'error'>;
  /** ms since the epoch */
  now: () => number;
}

/** An adapter for lowdb. Its own file adapter neither calls fsync nor verifies what it reads. */
export function createAdapter<T>(options: Options<T>): Adapter<T> & { faults(): string[] } {
  const { path, schema, salvage, disk, reserve, log, now } = options;
  const folder = dirname(path);
  const base = basename(path);
  let names: string[] = [];
  let seq = 0;

  /** Unreadable files that are still in place, with the reason. */
  const unreadable = new Map<string, unknown>();

  /** Renames unreadable files to new names. @throws the system's error */
  async function setAside(): Promise<void> {
    for (const [name, reason] of unreadable) {
      let at = now();
      const aside = (): string => `${name}.corrupt-${fileTime(at)}`;
      while (names.includes(aside())) at += 1;
      const isMoved = await renamePatiently(disk, join(folder, name), join(folder, aside())).then(
        () => true,
        (error: unknown) => {
          if (!isMissing(error)) throw error;
          return false;
        },
      );
      unreadable.delete(name);
      // Otherwise somebody has removed it.
      if (!isMoved) continue;
      names.push(aside());
      log.error({ err: reason, file: name, movedTo: aside() }, 'a state file that could not be read was set aside');
    }
  }

  const kept = new Set<number>();

  /** Keeps a copy of a file of a newer version, which this version will overwrite: the newest of each format. */
  async function keepNewer(format: number, bytes: Buffer): Promise<void> {
    if (kept.has(format)) return;
    kept.add(format);
    const name = `${base}.format-${format}`;
    try {
      await keepCopy(disk, join(folder, name), bytes);
      if (!names.includes(name)) names.push(name);
    } catch (error) {
      log.error({ err: error, file: name }, 'a copy of the state of a newer version could not be written');
    }
  }

  /** The part of a newer version's state that this version understands. The file is never set aside. */
  async function loadNewer(format: number, body: unknown, bytes: Buffer): Promise<T | null> {
    await keepNewer(format, bytes);
    const { success, data } = schema.safeParse(body);
    const state = success ? data : (salvage?.(body) ?? null);
    log.error({ file: path, format, isRead: state !== null }, 'the state was written by a newer version');
    return state;
  }

  /** The state in a file; null if it is missing or damaged. */
  async function load(file: string): Promise<T | null> {
    try {
      const bytes = await disk.readFile(file);
      const { format, seq: generation, body } = unseal(bytes);
      const state = format > currentFormat ? await loadNewer(format, body, bytes) : schema.parse(body);
      if (state !== null) seq = generation;
      return state;
    } catch (error) {
      if (isShortage(error)) throw error;
      if (isMissing(error)) return null;
      unreadable.set(basename(file), error);
      // On a disk that takes no writes, the previous generation is read all the same.
      await setAside().catch((failure: unknown) =>
        log.error(
          { err: failure, file, reason: String(error) },
          'a state file that could not be read could not be set aside',
        ),
      );
      return null;
    }
  }

  return {
    /** The current generation, else the previous one, else null. */
    async read() {
      names = await disk.readdir(folder);
      for (const name of names.filter((each) => isLeftover(each, base))) {
        await disk.unlink(join(folder, name)).catch(() => {});
      }
      return (await load(path)) ?? (await load(previousOf(path)));
    },

    /** Resolves once the state is durable. */
    async write(state) {
      // Incremented even if the write fails, because its data may still have reached the disk.
      seq += 1;
      const bytes = seal(z.encode(schema, state), seq, now());
      await writeWithReserve(reserve, async () => {
        // Otherwise an unreadable file would replace the previous generation.
        await setAside();
        await replaceFile(disk, path, bytes);
      });
    },

    faults: () => {
      const beside = names.filter((name) => name.startsWith(`${base}.`));
      const isNewer = (name: string): boolean => Number(/\.format-(\d+)$/.exec(name)?.[1] ?? 0) > currentFormat;
      return [
        ...beside
          .filter((name) => name.includes('.corrupt-'))
          .map((name) => `a state file that could not be read was set aside as ${name}`),
        ...beside
          .filter(isNewer)
          .map(
            (name) => `${base} was written by a newer version, and is kept as ${name}; remove it once it is not needed`,
          ),
      ];
    },
  };
}

/** Incremented when older versions of the service cannot read everything that newer versions write. */
export const currentFormat = 1;

const envelope = z.object({
  format: z.literal(currentFormat),
  seq: z.int().positive().describe('the generation, counted from 1'),
  savedAt: z.string().describe('ISO 8601, for people'),
  sha256: z.string().describe('of the body as JSON.stringify writes it, so that reformatting does not invalidate it'),
  body: z.unknown(),
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Wraps a body so that {@link unseal} detects damage. */
export const seal = (body: unknown, seq: number, savedAt: EpochMs): Buffer => {
  const text = JSON.stringify(body);
  const head = { format: currentFormat, seq, savedAt: new Date(savedAt).toISOString(), sha256: sha256(text) };
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"body":${text}}\n`);
};

/** The used part of an envelope of a newer version; its checksum is not known here. */
const newerEnvelope = z.object({
  format: z.int().gt(currentFormat),
  seq: z.int().positive().catch(1),
  body: z.unknown().optional(),
});

/** @throws if the envelope is incomplete or the checksum of the body is wrong */
export function unseal(bytes: Buffer): { format: number; seq: number; body?: unknown } {
  const json: unknown = JSON.parse(bytes.toString('utf8'));
  const newer = newerEnvelope.safeParse(json);
  if (newer.success) return newer.data;
  const { format, seq, body, sha256: expected } = envelope.parse(json);
  if (sha256(JSON.stringify(body)) !== expected) throw new Error('the checksum does not match');
  return { format, seq, body };
}
