/** The operator's file: the demo at first, read once its editor is done with it, and watched. */
import { unwatchFile, watchFile } from 'node:fs';
import { copyFile, cp, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../platform/store/disk.ts';
import { makeFolder } from '../platform/store/folder.ts';
import { contentJsonSchema, type Reading, readContent } from './file.ts';

/** The file as it was found. */
interface Found {
  /** None where it can't be read. */
  bytes: Buffer;
  reading: Reading;
  /** When it was written, as far as that is believable. */
  changedAt: Date;
}

const POLL_MS = 200;
/** A file that is read while an editor writes it is given this long to become whole. */
const SETTLE_MS = 150;

const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';

const read = async (path: string): Promise<Found> => {
  try {
    const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)]);
    return { bytes, reading: readContent(bytes), changedAt: new Date(Math.min(mtimeMs, Date.now())) };
  } catch (error) {
    const message = isMissing(error)
      ? 'content.json is missing'
      : `content.json can't be read: ${(error as Error).message}`;
    return { bytes: Buffer.alloc(0), reading: { ok: false, faults: [{ path: '', message }] }, changedAt: new Date() };
  }
};

/** Reads the file; never throws. */
export const readOriginal = async (path: string): Promise<Found> => {
  const found = await read(path);
  if (found.reading.ok) return found;
  await delay(SETTLE_MS);
  return read(path);
};

/**
 * Calls back when the file is another. Polling sees what editors that replace it, network folders and mounts do, where
 * events may not.
 * @returns what ends that
 */
export const watchOriginal = (path: string, listener: () => void): (() => void) => {
  watchFile(path, { interval: POLL_MS }, listener);
  return () => unwatchFile(path, listener);
};

interface Demo {
  /** `content.json` and `media/`. */
  demoDir: string;
  /** Where its media are copied to. */
  mediaDir: string;
}

const demoOf = ({ demoDir }: Pick<Demo, 'demoDir'>): string => join(demoDir, 'content.json');

/** Writes the demo where there is no file yet. */
export const writeDemo = async (path: string, demo: Demo): Promise<void> => {
  if (!(await stat(path).then(() => false, isMissing))) return;
  const { demoDir, mediaDir } = demo;
  await makeFolder(mediaDir);
  await cp(join(demoDir, 'media'), mediaDir, { recursive: true, force: false });
  // Last, and whole: a start that was cut off before this is a first start again.
  await copyFile(demoOf(demo), `${path}.new`);
  await rename(`${path}.new`, path);
};

/** Whether nobody has edited these bytes: they are the demo's. */
export const isDemo = async (bytes: Buffer, demo: Pick<Demo, 'demoDir'>): Promise<boolean> =>
  readFile(demoOf(demo)).then(
    (original) => bytes.equals(original),
    () => false,
  );

/** Writes the schema of the file beside it, which editors complete it by. */
export const writeSchema = async (path: string): Promise<void> => {
  const schema = `${JSON.stringify(contentJsonSchema(), null, 2)}\n`;
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before !== schema) await writeFile(path, schema);
};
