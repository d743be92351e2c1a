/** Reads, watches and initially writes the operator's `content.json`. */
import { unwatchFile, watchFile } from 'node:fs';
import { copyFile, cp, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../platform/store/disk.ts';
import { makeFolder } from '../platform/store/folder.ts';
import { contentJsonSchema, type Reading, readContent } from './file.ts';

interface ReadFile {
  /** Empty if the file can't be read. */
  bytes: Buffer;
  reading: Reading;
  /** The file's modification time, but never in the future. */
  changedAt: Date;
}

const POLL_MS = 200;
/** Delay before the second read of an invalid file, which an editor may still be writing. */
const SETTLE_MS = 150;

const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';

const read = async (path: string): Promise<ReadFile> => {
  try {
    const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)]);
    return { bytes, reading: readContent(bytes), changedAt: new Date(Math.min(mtimeMs, Date.now())) };
  } catch (error) {
    const message = isMissing(error)
      ? 'content.json is missing'
      : `content.json can't be read: ${(error as Error).message}`;
    return { bytes: Buffer.alloc(0), reading: { ok: false, issues: [{ path: '', message }] }, changedAt: new Date() };
  }
};

/** Reads and validates the file; never throws. An invalid file is read a second time, after a delay. */
export const readContentFile = async (path: string): Promise<ReadFile> => {
  const found = await read(path);
  if (found.reading.ok) return found;
  await delay(SETTLE_MS);
  return read(path);
};

/**
 * Calls `listener` when the file changes. It polls, because file system events miss changes on network folders and
 * mounts, and by editors that replace the file.
 * @returns a function that ends the watch
 */
export const watchContentFile = (path: string, listener: () => void): (() => void) => {
  watchFile(path, { interval: POLL_MS }, listener);
  return () => unwatchFile(path, listener);
};

interface Demo {
  /** `content.json` and `media/`. */
  demoDir: string;
  /** The media are copied to this folder. */
  mediaDir: string;
}

const demoOf = ({ demoDir }: Pick<Demo, 'demoDir'>): string => join(demoDir, 'content.json');

/** Writes the demo if there is no file at `path`. */
export const writeDemo = async (path: string, demo: Demo): Promise<void> => {
  if (!(await stat(path).then(() => false, isMissing))) return;
  const { demoDir, mediaDir } = demo;
  await makeFolder(mediaDir);
  await cp(join(demoDir, 'media'), mediaDir, { recursive: true, force: false });
  // Last, and atomic: after an interrupted first start the next start writes the demo again.
  await copyFile(demoOf(demo), `${path}.new`);
  await rename(`${path}.new`, path);
};

/** Whether the bytes are those of the unedited demo. */
export const isDemo = async (bytes: Buffer, demo: Pick<Demo, 'demoDir'>): Promise<boolean> =>
  readFile(demoOf(demo)).then(
    (demoFile) => bytes.equals(demoFile),
    () => false,
  );

/** Writes the JSON Schema of `content.json`, which editors use for completion. */
export const writeSchema = async (path: string): Promise<void> => {
  const schema = `${JSON.stringify(contentJsonSchema(), null, 2)}\n`;
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before !== schema) await writeFile(path, schema);
};
