/** Writes of files that must survive a power failure. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile, systemDisk } from '../service/public.ts';

/** Writes a file atomically and durably, creating its folder; keeps the previous version as `.prev`. */
export const writeDurably = async (path: string, bytes: string | Uint8Array): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(systemDisk, path, Buffer.from(bytes));
};
