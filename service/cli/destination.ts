/** Files that commands write: whole or not at all. */
import { type FileHandle, open, readlink, rename, rm, stat } from 'node:fs/promises';
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

export interface Destination {
  /** Whether a file is replaced once all is written; else what is written goes to a device or a pipe at once. */
  isFile: boolean;
  write(data: string | Uint8Array): Promise<void>;
}

/**
 * Opens the file before `fill` is called. Only its owner reads it.
 * @param part path of the file until it is whole
 * @throws CliError `usage` if it cannot be written; what `fill` throws
 */
export const writeWhole = async <Result>(
  path: string,
  part: string,
  fill: (destination: Destination) => Promise<Result>,
): Promise<Result> => {
  const unwritable = (error: NodeJS.ErrnoException): never => {
    throw cannot(path, error, 'written');
  };
  const isFile = !(await isOpenElsewhere(path));
  const create = async (): Promise<FileHandle> => {
    if (!isFile) return open(path, 'a');
    await rm(part, { force: true });
    return open(part, 'wx', 0o600);
  };
  const file = await create().catch(unwritable);
  try {
    const result = await fill({ isFile, write: (data) => file.writeFile(data).catch(unwritable) });
    await file.close().catch(unwritable);
    if (isFile) await rename(part, path).catch(unwritable);
    return result;
  } catch (error) {
    await file.close().catch(() => undefined);
    if (isFile) await rm(part, { force: true });
    throw error;
  }
};
