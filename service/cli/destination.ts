/** Files that commands write: whole or not at all. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CliError } from './exit.ts';
import { visible } from './text.ts';

/** @param verb past participle, such as `written` */
export const cannot = (path: string, { code }: NodeJS.ErrnoException, verb: string): CliError =>
  new CliError('usage', `${visible(path)} cannot be ${verb} (${code}).`);

/** Whether a path is a device or a pipe, or names an open file, as `/dev/stdout` does: a rename would replace it. */
const isOpenElsewhere = async (path: string): Promise<boolean> => {
  const link = await readlink(path).catch(() => '');
  const found = await stat(path).catch(() => null);
  return link.startsWith('/proc/') || (found !== null && !found.isFile());
};

/** An older part belongs to a run that was killed, ms since its last write. */
const LEFT_MS = 3_600_000;

/** Removes what killed runs have left of a file. */
const sweep = async (path: string): Promise<void> => {
  const [folder, name] = [dirname(path), basename(path)];
  for (const each of await readdir(folder)) {
    if (!each.startsWith(`${name}.`) || !/^\.[\da-f]{8}\.part$/.test(each.slice(name.length))) continue;
    const part = join(folder, each);
    if (Date.now() - (await stat(part)).mtimeMs > LEFT_MS) await rm(part, { force: true });
  }
};

export interface Destination {
  /** Whether a file is replaced once all is written; else what is written goes to a device or a pipe at once. */
  isFile: boolean;
  write(data: string | Uint8Array): Promise<void>;
}

/**
 * Opens a part of the file before `fill` is called, which replaces the file once it is on the disk.
 * @param name of the file; `-`: standard output
 * @param mode default: only its owner reads it
 * @throws CliError `usage` if it cannot be written; what `fill` throws
 */
export const writeWhole = async <Result>(
  name: string,
  fill: (destination: Destination) => Promise<Result>,
  mode = 0o600,
): Promise<Result> => {
  const path = name === '-' ? '/dev/stdout' : name;
  const unwritable = (error: NodeJS.ErrnoException): never => {
    throw cannot(path, error, 'written');
  };
  const isFile = !(await isOpenElsewhere(path));
  // A link stays, and what it leads to is replaced.
  const target = isFile ? await realpath(path).catch(() => path) : path;
  const part = `${target}.${randomBytes(4).toString('hex')}.part`;
  if (isFile) await sweep(target).catch(() => undefined);
  const create = (): Promise<FileHandle> => (isFile ? open(part, 'wx', mode) : open(path, 'a'));
  const file = await create().catch(unwritable);
  try {
    const result = await fill({ isFile, write: (data) => file.writeFile(data).catch(unwritable) });
    if (isFile) await file.sync().catch(unwritable);
    await file.close().catch(unwritable);
    if (isFile) await rename(part, target).catch(unwritable);
    return result;
  } catch (error) {
    await file.close().catch(() => undefined);
    if (isFile) await rm(part, { force: true });
    throw error;
  }
};
