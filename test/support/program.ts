import { existsSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/** The first of these programs on the PATH, or at its absolute path; undefined: none. */
export const findProgram = (...names: string[]): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => resolve(folder, name)))
    .find((path) => existsSync(path));
