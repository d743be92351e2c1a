import { basename, dirname, join } from 'node:path';
import type { Adapter } from 'lowdb';
import type { Logger } from 'pino';
import { z } from 'zod';
import { codeOf, type Disk, isFull } from './disk.ts';
import { currentFormat, seal, unseal } from './envelope.ts';
import { isLeftover, keepCopy, previousOf, renamePatiently, replaceFile } from './file.ts';
import type { Reserve } from './reserve.ts';

interface Options<T> {
  path: string;
  /** Both ways: what is read is decoded by it, what is written encoded. */
  schema: z.ZodType<T>;
  /** Reads what it can of a body that a newer version wrote, where the schema can't; null: nothing. */
  salvage: ((body: unknown) => T | null) | undefined;
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
  const { path, schema, salvage, disk, reserve, log, now } = options;
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

  const kept = new Set<number>();

  /** Keeps a newer version's file beside the one that this version will write over it: the newest of each format. */
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

  /** As much of a newer version's state as this one understands. The file is never set aside. */
  async function loadNewer(format: number, body: unknown, bytes: Buffer): Promise<T | null> {
    await keepNewer(format, bytes);
    const { success, data } = schema.safeParse(body);
    const state = success ? data : (salvage?.(body) ?? null);
    log.error({ file: path, format, isRead: state !== null }, 'the state was written by a newer version');
    return state;
  }

  /** The generation in a file; null where there is none, or none that can be trusted. */
  async function load(file: string): Promise<T | null> {
    try {
      const bytes = await disk.readFile(file);
      const { format, seq: generation, body } = unseal(bytes);
      const state = format > currentFormat ? await loadNewer(format, body, bytes) : schema.parse(body);
      if (state !== null) seq = generation;
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
