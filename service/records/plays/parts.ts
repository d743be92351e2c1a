/** The files of the plays: one a day, or several where a day has many plays. */
import { createReadStream } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ServiceContext } from '../../module.ts';
import { isMissing, systemDisk } from '../../platform/store/disk.ts';
import { createDurable } from '../../platform/store/durable.ts';
import { makeFolder } from '../../platform/store/file.ts';

/** A line of a file, without its line end. */
export interface Line {
  text: string;
  /** Bytes from the start of the file. */
  offset: number;
  /** Bytes. */
  length: number;
}

const NEWLINE = 0x0a;

/** The whole lines of a file between two offsets, a few at a time. A deleted file has none. */
export async function* readLines(path: string, start: number, end: number): AsyncGenerator<Line[]> {
  if (end <= start) return;
  let rest = Buffer.alloc(0);
  let offset = start;
  try {
    for await (const chunk of createReadStream(path, { start, end: end - 1, highWaterMark: 64 * 1024 })) {
      const bytes = Buffer.concat([rest, chunk as Buffer]);
      const lines: Line[] = [];
      let from = 0;
      for (let to = bytes.indexOf(NEWLINE); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
        lines.push({ text: bytes.toString('utf8', from, to), offset: offset + from, length: to - from });
        from = to + 1;
      }
      rest = bytes.subarray(from);
      offset += from;
      yield lines;
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

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
      z.object({ bytes: z.number(), count: z.number(), delivered: z.record(z.string(), z.number()) }),
    ]),
  ),
});

const byAge = (a: Part, b: Part): number =>
  a.day === b.day ? numberOf(a.name) - numberOf(b.name) : a.day < b.day ? -1 : 1;

export type Parts = Awaited<ReturnType<typeof openParts>>;

/**
 * Opens the folder. Parts that changed since they were counted are counted again in the background; where the file of what
 * is known about them is lost, all are counted, and delivered again.
 */
export const openParts = async ({ dirs, log, now }: Pick<ServiceContext, 'dirs' | 'log' | 'now'>) => {
  const folder = join(dirs.data, 'plays');
  await makeFolder(folder);
  const index = await createDurable({
    path: join(dirs.data, 'plays.json'),
    schema,
    initial: { parts: [] },
    log,
    disk: systemDisk,
    now,
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
