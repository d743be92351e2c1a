/** What a receiver has taken, in the order of sending; and from where it is sent again if the receiver has lost it. */
import type { Play } from '../../contract/plays.ts';
import type { ServiceContext } from '../../module.ts';
import { type Part, type Parts, readLines } from './parts.ts';

/** Plays of an earlier day that come late begin a run, and so do those after them. */
const MAX_RUNS = 1_000;

export const createSent = (
  { tempo, monotonicNow }: Pick<ServiceContext, 'tempo' | 'monotonicNow'>,
  parts: Parts,
  key: string,
) => {
  const sent = parts.sentTo(key);
  let rewoundAt = Number.NEGATIVE_INFINITY;

  /** The offsets at which plays begin, and at which they end, by their ids. */
  const find = async (part: Part, ids: ReadonlySet<string>): Promise<Map<string, { start: number; end: number }>> => {
    const found = new Map<string, { start: number; end: number }>();
    for await (const lines of readLines(parts.pathOf(part), 0, part.bytes)) {
      for (const { text, offset, length } of lines) {
        const [, id = ''] = /^\{"play_id":"([^"]*)"/.exec(text) ?? [];
        if (ids.has(id)) found.set(id, { start: offset, end: offset + length + 1 });
      }
    }
    return found;
  };

  /** @returns whether the part was delivered beyond the position */
  const resume = (part: Part, position: number): boolean => {
    const before = part.delivered[key] ?? 0;
    part.delivered[key] = Math.min(before, position);
    return before > position;
  };

  const resumeAll = (): number => {
    sent.last = null;
    sent.runs = [];
    return parts.list().filter((part) => resume(part, 0)).length;
  };

  return {
    /** @param last id of the last of these plays that the receiver has; null: none */
    note: (part: Part, plays: readonly Play[], last: string | null): void => {
      const [first] = plays;
      if (last !== null) sent.last = last;
      if (first === undefined || sent.runs.at(-1)?.[0] === part.name) return;
      sent.runs = [...sent.runs, [part.name, first.play_id] satisfies [string, string]].slice(-MAX_RUNS);
    },
    /**
     * Makes everything be delivered again that was sent after a play, or everything if that is not kept any more.
     * @param newest id of the newest play that the receiver has; null: it has none
     * @returns the number of parts of which plays are sent again
     * @throws Error whose message is a clause, if that happens too often
     */
    rewind: async (newest: string | null): Promise<number> => {
      if (newest === sent.last) return 0;
      if (newest === null) return resumeAll();
      // A program that sends records in the name of this box must not make it send everything again all the time.
      if (monotonicNow() - rewoundAt < tempo.records.rewind) throw new Error('the receiver has lost plays too often');
      rewoundAt = monotonicNow();
      for (const part of parts.list().toReversed()) {
        const firsts = sent.runs.flatMap(([name, id]) => (name === part.name ? [id] : []));
        const found = await find(part, new Set([newest, ...firsts]));
        const place = found.get(newest);
        if (place === undefined) continue;
        // It was sent, and its acknowledgement was lost.
        if (place.end > (part.delivered[key] ?? 0)) {
          rewoundAt = Number.NEGATIVE_INFINITY;
          return 0;
        }
        const run = sent.runs.findLastIndex(
          ([name, id]) => name === part.name && (found.get(id)?.start ?? Number.POSITIVE_INFINITY) <= place.start,
        );
        if (run < 0) return resumeAll();
        const resumed = new Set(resume(part, place.end) ? [part.name] : []);
        for (const [name, id] of sent.runs.slice(run + 1)) {
          const later = parts.list().find((each) => each.name === name);
          if (later === undefined || later === part) continue;
          const start = (await find(later, new Set([id]))).get(id)?.start ?? 0;
          if (resume(later, start)) resumed.add(name);
        }
        sent.runs = sent.runs.slice(0, run + 1);
        sent.last = newest;
        return resumed.size;
      }
      return resumeAll();
    },
  };
};
