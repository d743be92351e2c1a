/** The files of the plays: one a day, or several where a day has many plays. */
import { type FileHandle, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ServiceContext } from '../../module.ts';
import { isMissing, systemDisk } from '../../platform/store/disk.ts';
import { openDurable } from '../../platform/store/durable.ts';
import { isLeftover, keepCopy, makeFolder } from '../../platform/store/file.ts';

/** A line of a file, without its line end. */
export interface Line {
  text: string;
  /** Bytes from the start of the file. */
  offset: number;
  /** Bytes. */
  length: number;
}

const NEWLINE = 0x0a;

/** The whole lines of an open file between two offsets, a few at a time. */
export async function* linesOf(handle: FileHandle, start: number, end: number): AsyncGenerator<Line[]> {
  if (end <= start) return;
  let rest = Buffer.alloc(0);
  let offset = start;
  const chunks = handle.createReadStream({ start, end: end - 1, highWaterMark: 64 * 1024, autoClose: false });
  for await (const chunk of chunks) {
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
}

/** The whole lines of a file, as {@link linesOf}. A deleted file has none. */
export async function* readLines(path: string, start: number, end: number): AsyncGenerator<Line[]> {
  const handle = await open(path).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (handle === null) return;
  try {
    yield* linesOf(handle, start, end);
  } finally {
    await handle.close();
  }
}

/** The key of plays without a believable time. Sorts after all dates. */
export const UNDATED = 'undated';

/** One file. It is replaced when plays are deleted from it, never changed otherwise than by appending. */
export interface Part {
  name: string;
  /** The UTC date on which its plays started, or {@link UNDATED}. */
  day: string;
  /** Of an undated one: the UTC date by which its plays had come, which a clock that can be relied on told; null: none has. */
  since: string | null;
  /** Of devices that have no share of the store of their own. */
  isOther: boolean;
  /** Bytes of its durable lines. */
  bytes: number;
  count: number;
  /** Bytes from its start that each receiver has taken, by its key. */
  delivered: Record<string, number>;
}

const NAME = /^(\d{4}-\d\d-\d\d|undated)(\.others)?(?:\.(\d+))?\.jsonl$/;
const numberOf = (name: string): number => Number(NAME.exec(name)?.[3] ?? 1);

/** What a receiver has taken, in the order in which it was sent. */
export interface Sent {
  /** Id of the last play that it has; null: none is known. */
  last: string | null;
  /** The parts that the plays are of, one after the other, each with the id of its first play. */
  runs: [part: string, firstId: string][];
}

const schema = z.object({
  sent: z
    .record(z.string(), z.object({ last: z.string().nullable(), runs: z.array(z.tuple([z.string(), z.string()])) }))
    .default({}),
  parts: z.array(
    z.tuple([
      z.string(),
      z.object({
        bytes: z.number(),
        count: z.number(),
        delivered: z.record(z.string(), z.number()),
        since: z.string().nullable().default(null),
      }),
    ]),
  ),
});

/** What the parts have in common that are filled one after the other. */
export interface Series {
  day: string;
  isOther: boolean;
}

const byAge = (a: Part, b: Part): number => {
  if (a.day !== b.day) return a.day < b.day ? -1 : 1;
  return Number(a.isOther) - Number(b.isOther) || numberOf(a.name) - numberOf(b.name);
};

export type Parts = Awaited<ReturnType<typeof openParts>>;

/**
 * Opens the folder. Parts that changed since they were counted are counted again in the background; where the file of what
 * is known about them is lost, all are counted, and delivered again.
 */
export const openParts = async (context: Pick<ServiceContext, 'dirs' | 'log' | 'now'>) => {
  const folder = join(context.dirs.data, 'plays');
  await makeFolder(folder);
  const index = await openDurable(context, 'plays.json', { schema, initial: { sent: {}, parts: [] } });
  const known = new Map(index.read().parts);
  const sent: Record<string, Sent> = structuredClone(index.read().sent);
  const parts = new Map<string, Part>();
  for (const name of await readdir(folder)) {
    const [, day, others] = NAME.exec(name) ?? [];
    const base = name.replace(/\.[^.]+\.tmp$/, '');
    // A power cut ended the deletion of plays from this part.
    if (NAME.test(base) && isLeftover(name, base)) await unlink(join(folder, name)).catch(() => undefined);
    if (day === undefined) continue;
    const { size } = await stat(join(folder, name));
    const unknown = { count: 0, bytes: -1, delivered: {}, since: null };
    const { count, bytes, delivered, since } = known.get(name) ?? unknown;
    parts.set(name, {
      name,
      day,
      since,
      isOther: others !== undefined,
      bytes: size,
      count: bytes === size ? count : -1,
      // A file is smaller than before where a crash followed a deletion: its lines are elsewhere, and delivered again.
      delivered: size < bytes ? {} : delivered,
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
  let counting: Promise<void> | null = null;
  const ready = (): Promise<void> => {
    counting ??= countAll().catch((error: unknown) => {
      counting = null;
      throw error;
    });
    return counting;
  };
  ready().catch(() => undefined);

  const save = async (): Promise<void> => {
    await ready();
    await index.update(() => ({
      sent: structuredClone(sent),
      parts: [...parts.values()].map(({ name, bytes, count: plays, delivered, since }) => [
        name,
        { bytes, count: plays, delivered, since },
      ]),
    }));
  };

  const of = ({ day, isOther }: Series): Part[] =>
    [...parts.values()].filter((part) => part.day === day && part.isOther === isOther).toSorted(byAge);

  const remove = async (part: Part): Promise<void> => {
    parts.delete(part.name);
    await unlink(pathOf(part)).catch((error: unknown) => {
      if (!isMissing(error)) context.log.warn({ err: error, file: part.name }, 'old plays could not be deleted');
    });
  };

  return {
    /** Resolves when all parts are counted; after an error the next call counts the rest. @throws the system's error */
    ready,
    pathOf,
    /** Oldest first. */
    list: (): Part[] => [...parts.values()].toSorted(byAge),
    of,
    /** Of a receiver; changes are saved by `save`. */
    sentTo: (key: string): Sent => {
      const own = sent[key] ?? { last: null, runs: [] };
      sent[key] = own;
      return own;
    },
    /** Adds the next part of a series, which has no file yet. */
    add: (series: Series): Part => {
      const last = of(series).at(-1);
      const number = last === undefined ? '' : `.${numberOf(last.name) + 1}`;
      const name = `${series.day}${series.isOther ? '.others' : ''}${number}.jsonl`;
      const part = { name, ...series, since: null, bytes: 0, count: 0, delivered: {} };
      parts.set(part.name, part);
      return part;
    },
    remove,
    /**
     * Deletes plays of a part, whose file is not open for writing.
     * @returns how many
     * @throws the system's error; then nothing is deleted
     */
    filter: async (part: Part, isKept: (line: Line) => boolean): Promise<number> => {
      /** Offsets. */
      const deleted = new Set<number>();
      const before = Object.entries(part.delivered);
      const delivered = { ...part.delivered };
      let count = 0;
      for await (const batch of readLines(pathOf(part), 0, part.bytes)) {
        for (const line of batch) {
          count += 1;
          if (isKept(line)) continue;
          deleted.add(line.offset);
          for (const [key, position] of before)
            if (line.offset < position) delivered[key] = (delivered[key] ?? 0) - line.length - 1;
        }
      }
      if (deleted.size === 0) return 0;
      if (deleted.size === count) await remove(part);
      else {
        // So that the next start notices the smaller file.
        await save();
        let bytes = 0;
        const keptLines = async function* (): AsyncGenerator<Buffer> {
          for await (const batch of readLines(pathOf(part), 0, part.bytes)) {
            const kept = batch.filter(({ offset }) => !deleted.has(offset));
            const chunk = Buffer.from(kept.map(({ text }) => `${text}\n`).join(''));
            bytes += chunk.length;
            yield chunk;
          }
        };
        await keepCopy(systemDisk, pathOf(part), keptLines());
        // A delivery that is under way changes what it has read, and delivers that again.
        parts.set(part.name, { ...part, bytes, count: count - deleted.size, delivered });
      }
      return deleted.size;
    },
    /** Saves the counts, and what was delivered. @throws as {@link openDurable} does */
    save,
    faults: index.faults,
    writes: index.writes,
    close: async () => {
      await save().catch(() => undefined);
      await index.close();
    },
  };
};
