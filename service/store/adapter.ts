import { basename, dirname, join } from 'node:path';
import type { Adapter } from 'lowdb';
import type { Logger } from 'pino';
import { z } from 'zod';
import { codeOf, type Disk, isFull } from './disk.ts';
import { seal, unseal } from './envelope.ts';
import { isLeftover, previousOf, renamePatiently, replaceFile } from './file.ts';
import type { Reserve } from './reserve.ts';

interface Options<T> {
  path: string;
  /** Both ways: what is read is decoded by it, what is written encoded. */
  schema: z.ZodType<T>;
  disk: Disk;
  reserve: Pick<Reserve, 'release'> | undefined;
  log: Pick<Logger, 'error'>;
  /** ms since the epoch */
  now: () => number;
}

/** Errors of a process that is short of something; they say nothing about the file. */
const passing = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'];

/** lowdb's rim, in place of its own file adapter, which calls no fsync and believes what it reads. */
export function createAdapter<T>(options: Options<T>): Adapter<T> & { faults(): string[] } {
  const { path, schema, disk, reserve, log, now } = options;
  const folder = dirname(path);
  const base = basename(path);
  let names: string[] = [];
  let seq = 0;

  /** Moves a file that can't be read out of the way, under a name that nothing has yet. */
  async function setAside(name: string, reason: unknown): Promise<void> {
    let at = now();
    const aside = (): string => `${name}.corrupt-${new Date(at).toISOString().replaceAll(/[-:.]/g, '')}`;
    while (names.includes(aside())) at += 1;
    await renamePatiently(disk, join(folder, name), join(folder, aside()));
    names.push(aside());
    log.error({ err: reason, file: name, movedTo: aside() }, 'a state file that could not be read was set aside');
  }

  /** The generation in a file; null where there is none, or none that can be trusted. */
  async function load(file: string): Promise<T | null> {
    try {
      const sealed = unseal(await disk.readFile(file));
      const state = schema.parse(sealed.body);
      seq = sealed.seq;
      return state;
    } catch (error) {
      const code = codeOf(error) ?? '';
      if (passing.includes(code)) throw error;
      if (code !== 'ENOENT') await setAside(basename(file), error);
      return null;
    }
  }

  return {
    /** The current generation, or the one before it, or null. */
    async read() {
      names = await disk.readdir(folder);
      for (const name of names.filter((each) => isLeftover(each, base))) {
        await disk.unlink(join(folder, name)).catch(() => {});
      }
      return (await load(path)) ?? (await load(previousOf(path)));
    },

    /** Resolves once the state is on disk for good. */
    async write(state) {
      // Counted even where the write fails: what a failed one left may be on disk all the same.
      seq += 1;
      const bytes = seal(z.encode(schema, state), seq, now());
      try {
        await replaceFile(disk, path, bytes);
      } catch (error) {
        if (!isFull(error) || !reserve) throw error;
        await reserve.release();
        await replaceFile(disk, path, bytes);
      }
    },

    faults: () =>
      names
        .filter((name) => name.startsWith(`${base}.`) && name.includes('.corrupt-'))
        .map((name) => `a state file that could not be read was set aside as ${name}`),
  };
}
