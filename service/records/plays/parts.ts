/** The files of the plays: one a day, or several where a day has many plays. */
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { isMissing, systemDisk } from '../../platform/store/disk.ts';
import { createDurable } from '../../platform/store/durable.ts';
import { makeFolder } from '../../platform/store/folder.ts';
import { readLines } from './lines.ts';

/** The key of plays without a believable time. Sorts after all dates. */
export const UNDATED = 'undated';

/** One file. */
export interface Part {
  name: string;
  /** The UTC date on which its plays started, or {@link UNDATED}. */
  day: string;
  /** Bytes of its durable lines. */
  bytes: number;
  /** Number of its plays. */
  count: number;
  /** Bytes from its start that each receiver has taken, by its key. */
  delivered: Record<string, number>;
}

const NAME = /^(\d{4}-\d\d-\d\d|undated)(?:\.(\d+))?\.jsonl$/;
const numberOf = (name: string): number => Number(NAME.exec(name)?.[2] ?? 1);

const schema = z.object({
  parts: z.array(
    z.tuple([
      z.string(),
      z.object({ bytes: z.number(), count: z.number(), delivered: z.record(z.string(), z.number()).catch({}) }),
    ]),
  ),
});

const byAge = (a: Part, b: Part): number =>
  a.day === b.day ? numberOf(a.name) - numberOf(b.name) : a.day < b.day ? -1 : 1;

interface Options {
  folder: string;
  /** File of what is known about the parts; where it is lost, the parts are counted, and delivered again. */
  indexPath: string;
  log: Pick<Logger, 'error' | 'warn'>;
}

export type Parts = Awaited<ReturnType<typeof openParts>>;

/** Opens the folder. Parts that changed since they were counted are counted again in the background. */
export const openParts = async ({ folder, indexPath, log }: Options) => {
  await makeFolder(folder);
  const index = await createDurable({
    path: indexPath,
    schema,
    initial: { parts: [] },
    log,
    disk: systemDisk,
    now: Date.now,
  });
  const known = new Map(index.read().parts);
  const parts = new Map<string, Part>();
  for (const name of await readdir(folder)) {
    const [, day] = NAME.exec(name) ?? [];
    if (day === undefined) continue;
    const { size } = await stat(join(folder, name));
    const { count, bytes, delivered } = known.get(name) ?? { count: 0, bytes: -1, delivered: {} };
    parts.set(name, {
      name,
      day,
      bytes: size,
      count: bytes === size ? count : -1,
      delivered,
    });
  }

  const pathOf = ({ name }: Pick<Part, 'name'>): string => join(folder, name);

  const count = async (part: Part): Promise<void> => {
    let lines = 0;
    let end = 0;
    for await (const batch of readLines(pathOf(part), 0, part.bytes)) {
      lines += batch.length;
      const last = batch.at(-1);
      if (last !== undefined) end = last.offset + last.length + 1;
    }
    part.count = lines;
    // A line that was broken off is no play; the next append to the file removes it.
    part.bytes = end;
    for (const [key, position] of Object.entries(part.delivered)) part.delivered[key] = Math.min(position, end);
  };
  const countAll = async (): Promise<void> => {
    for (const part of parts.values()) if (part.count < 0) await count(part);
  };
  const ready = countAll();
  ready.catch(() => undefined);

  const save = async (): Promise<void> => {
    await ready;
    await index.update(() => ({
      parts: [...parts.values()].map(({ name, bytes, count: plays, delivered }) => [
        name,
        { bytes, count: plays, delivered },
      ]),
    }));
  };

  return {
    /** Resolves when all parts are counted. */
    ready,
    pathOf,
    /** Oldest first. */
    list: (): Part[] => [...parts.values()].toSorted(byAge),
    of: (day: string): Part[] => [...parts.values()].filter((part) => part.day === day).toSorted(byAge),
    /** Adds the next part of a day, which has no file yet. */
    add: (day: string): Part => {
      const last = [...parts.values()]
        .filter((part) => part.day === day)
        .toSorted(byAge)
        .at(-1);
      const number = last === undefined ? 1 : numberOf(last.name) + 1;
      const part = { name: `${day}${number === 1 ? '' : `.${number}`}.jsonl`, day, bytes: 0, count: 0, delivered: {} };
      parts.set(part.name, part);
      return part;
    },
    /** Deletes a part and its plays. */
    remove: async (part: Part): Promise<void> => {
      parts.delete(part.name);
      await unlink(pathOf(part)).catch((error: unknown) => {
        if (!isMissing(error)) log.warn({ err: error, file: part.name }, 'old plays could not be deleted');
      });
    },
    /** Saves the counts, and what was delivered. @throws as {@link createDurable} does */
    save,
    faults: index.faults,
    writes: index.writes,
    close: async () => {
      await save().catch(() => undefined);
      await index.close();
    },
  };
};
