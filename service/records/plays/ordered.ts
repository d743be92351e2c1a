/** Reads plays in the order of their start, in pieces: of a day only the positions are in memory. */
import { type FileHandle, open } from 'node:fs/promises';
import { type Play, play as playSchema } from '../../contract/plays.ts';
import { jsonOf } from '../../domain/json.ts';
import { linesOf, type Part, type Parts, UNDATED } from './parts.ts';

/** Which plays are wanted. */
export interface Range {
  /** On `started_at`, ms since the epoch; null: open. */
  from: number | null;
  /** Exclusive. */
  to: number | null;
  /** Slug; null: all screens. */
  screen: string | null;
}

const MAX_BATCH = 500;
/** Adjacent lines are read together, with what is between them. */
const MAX_GAP_BYTES = 4_096;
const MAX_READ_BYTES = 1024 ** 2;

const DAY_MS = 86_400_000;

const parse = (text: string): Play | null => playSchema.safeParse(jsonOf(text)).data ?? null;

/** The positions of the plays of some parts, in the order of their start; at a tie, in the order they were kept. */
interface Positions {
  startedAt: Float64Array;
  part: Uint16Array;
  offset: Float64Array;
  length: Uint32Array;
  order: Uint32Array;
}

const locate = async (
  files: readonly Part[],
  handles: readonly (FileHandle | null)[],
  { from, to, screen }: Range,
): Promise<Positions> => {
  const most = files.reduce((sum, { count }) => sum + Math.max(count, 0), 0);
  const startedAt = new Float64Array(most);
  const part = new Uint16Array(most);
  const offset = new Float64Array(most);
  const length = new Uint32Array(most);
  let count = 0;
  for (const [index, file] of files.entries()) {
    const handle = handles[index] ?? null;
    if (handle === null) continue;
    for await (const lines of linesOf(handle, 0, file.bytes)) {
      for (const line of lines) {
        const start = Date.parse(/"started_at":"([^"]*)"/.exec(line.text)?.[1] ?? '');
        const isWanted = start >= (from ?? Number.NEGATIVE_INFINITY) && start < (to ?? Number.POSITIVE_INFINITY);
        if (!isWanted || count === most) continue;
        if (screen !== null && !line.text.includes(`,"screen":"${screen}",`)) continue;
        startedAt[count] = start;
        part[count] = index;
        offset[count] = line.offset;
        length[count] = line.length;
        count += 1;
      }
    }
  }
  const order = Uint32Array.from({ length: count }, (_, index) => index).sort(
    (a, b) => (startedAt[a] ?? 0) - (startedAt[b] ?? 0) || a - b,
  );
  return { startedAt, part, offset, length, order };
};

interface Place {
  part: number;
  offset: number;
  length: number;
}

const placesAt = ({ part, offset, length, order }: Positions, first: number): Place[] =>
  [...order.subarray(first, first + MAX_BATCH)].map((at) => ({
    part: part[at] as number,
    offset: offset[at] as number,
    length: length[at] as number,
  }));

/** Groups lines that are near each other in one file. */
const runsOf = (places: readonly Place[]): [Place, ...Place[]][] => {
  const runs: [Place, ...Place[]][] = [];
  for (const place of places.toSorted((a, b) => a.part - b.part || a.offset - b.offset)) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    const isNear =
      run !== undefined &&
      last?.part === place.part &&
      place.offset - last.offset - last.length <= MAX_GAP_BYTES &&
      place.offset + place.length - run[0].offset <= MAX_READ_BYTES;
    if (isNear) run.push(place);
    else runs.push([place]);
  }
  return runs;
};

const readPlaces = async (places: readonly Place[], handles: readonly (FileHandle | null)[]): Promise<Play[]> => {
  const texts = new Map<Place, string>();
  const readRun = async (run: [Place, ...Place[]]): Promise<void> => {
    const [{ part, offset: start }] = run;
    const { offset, length } = run.at(-1) as Place;
    const bytes = Buffer.alloc(offset + length - start);
    await handles[part]?.read(bytes, 0, bytes.length, start);
    for (const place of run) {
      const from = place.offset - start;
      texts.set(place, bytes.toString('utf8', from, from + place.length));
    }
  };
  await Promise.all(runsOf(places).map(readRun));
  return places.flatMap((place) => parse(texts.get(place) ?? '') ?? []);
};

async function* readParts(files: readonly Part[], parts: Parts, range: Range): AsyncGenerator<Play[]> {
  // Old plays may be deleted meanwhile; open files can be read to their end.
  const handles = await Promise.all(files.map((file) => open(parts.pathOf(file)).catch(() => null)));
  try {
    const positions = await locate(files, handles, range);
    for (let first = 0; first < positions.order.length; first += MAX_BATCH) {
      yield await readPlaces(placesAt(positions, first), handles);
    }
  } finally {
    for (const handle of handles) await handle?.close();
  }
}

const mayHold = (day: string, { from, to }: Range): boolean => {
  const start = Date.parse(day);
  return start < (to ?? Number.POSITIVE_INFINITY) && start + DAY_MS > (from ?? Number.NEGATIVE_INFINITY);
};

const partsOf = (parts: Parts, day: string): Part[] => parts.list().filter((part) => part.day === day);

async function* readDays(parts: Parts, range: Range): AsyncGenerator<Play[]> {
  await parts.ready();
  const days = new Set(parts.list().map(({ day }) => day));
  days.delete(UNDATED);
  for (const day of [...days].filter((each) => mayHold(each, range)).toSorted()) {
    yield* readParts(partsOf(parts, day), parts, range);
  }
}

async function* readUndated(parts: Parts, range: Range): AsyncGenerator<Play[]> {
  await parts.ready();
  yield* readParts(partsOf(parts, UNDATED), parts, range);
}

/** The plays of this box, as sequences that are each in the order of their start. */
export const ownSequences = (parts: Parts, range: Range): AsyncGenerator<Play[]>[] => [
  readDays(parts, range),
  readUndated(parts, range),
];

interface Source {
  plays: Play[];
  next: number;
  rest: AsyncIterator<Play[]>;
}

/** Whether the source has a play at its head. */
const fill = async (source: Source): Promise<boolean> => {
  while (source.next >= source.plays.length) {
    const { done, value } = await source.rest.next();
    if (done === true) return false;
    source.plays = value;
    source.next = 0;
  }
  return true;
};

const startOf = ({ plays, next }: Source): string => plays[next]?.started_at ?? '';

/**
 * Merges sequences that are each ordered by `started_at` into one, in batches. A play that several of them have, since its
 * page moved from one box to another before it was acknowledged, comes once.
 */
export async function* mergePlays(sequences: readonly AsyncIterable<Play[]>[]): AsyncGenerator<Play[]> {
  const all = sequences.map((each): Source => ({ plays: [], next: 0, rest: each[Symbol.asyncIterator]() }));
  try {
    let open: Source[] = [];
    for (const source of all) if (await fill(source)) open.push(source);
    let batch: Play[] = [];
    /** The ids of the plays that started when the last one did. */
    let ids = new Set<string>();
    let start = '';
    while (open.length > 0) {
      const source = open.reduce((first, each) => (startOf(each) < startOf(first) ? each : first));
      const play = source.plays[source.next] as Play;
      source.next += 1;
      if (play.started_at !== start) ids = new Set();
      start = play.started_at;
      if (!ids.has(play.play_id)) batch.push(play);
      ids.add(play.play_id);
      if (!(await fill(source))) open = open.filter((each) => each !== source);
      if (batch.length < MAX_BATCH) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  } finally {
    for (const { rest } of all) await rest.return?.();
  }
}
