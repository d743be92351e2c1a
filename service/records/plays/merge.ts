import type { Play } from '../../contract/plays.ts';

const MAX_BATCH = 500;

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
