/** The boxes that were once known, on disk: one that does not come back after a power cut is named. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { mostPeers } from '../contract/peers.ts';
import { type EpochMs, isOlder, isTrusted } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import { openDurable } from '../platform/store/durable.ts';

const box = z.object({
  nodeId: z.uuid(),
  url: z.url(),
  at: z.number().default(0).describe('when it last answered, by the clock of this box, ms since the epoch'),
});
export type KnownBox = Pick<z.infer<typeof box>, 'nodeId' | 'url'>;

const schema = z.object({
  boxes: z.array(box),
  startedAt: z.number().default(0).describe('when this box started last, by a clock that was set, ms since the epoch'),
});

/** The registry forgets after 25 hours without a break, which a box that is switched off each night never reaches. */
const FORGET_MS = 7 * 24 * 3_600_000;
/** How often new dates alone are stored. */
const STORE_MS = 3_600_000;

export const openKnownBoxes = async (
  context: Pick<ServiceContext, 'dirs' | 'log' | 'now' | 'monotonicNow' | 'keep'>,
) => {
  const { now, monotonicNow } = context;
  const durable = context.keep(
    await openDurable(context, 'known-boxes.json', { schema, initial: { boxes: [], startedAt: 0 } }),
  );
  const time = now();
  /** A date that cannot be right counts as now, and is stored, so that it grows old. */
  const dateOf = (at: EpochMs): EpochMs => (isTrusted(time) && (at > time || !isTrusted(at)) ? time : at);
  const before = durable.read();
  const startedAt = isTrusted(time) ? time : before.startedAt;
  /** This box may have been off itself: what does not come back after that is named until the next start. */
  const ranAt = Math.min(time, Math.max(before.startedAt, ...before.boxes.map(({ at }) => at)));
  let boxes = new Map(
    before.boxes
      .filter(({ at }) => !isOlder(at, FORGET_MS, ranAt))
      .map(({ nodeId, url, at }) => [nodeId, { url, at: dateOf(at) }] as const),
  );
  let storedAt = monotonicNow();

  const list = () => [...boxes].map(([nodeId, { url, at }]) => ({ nodeId, url, at }));
  const save = (next: typeof boxes): void => {
    boxes = new Map([...next].slice(0, mostPeers));
    storedAt = monotonicNow();
    const stored = list();
    // A write that fails is repeated with the next change; the store reports it.
    void durable.update(() => ({ boxes: stored, startedAt })).catch(() => undefined);
  };

  if (!isDeepStrictEqual({ boxes: list(), startedAt }, before)) save(boxes);

  return {
    list: (): KnownBox[] => list(),
    add: ({ nodeId, url }: KnownBox): void => {
      const isMoved = boxes.get(nodeId)?.url !== url;
      boxes.set(nodeId, { url, at: now() });
      if (isMoved || monotonicNow() - storedAt >= STORE_MS) save(boxes);
    },
    /** Forgets the boxes that are not among the peers any more. */
    keepOnly: (peers: readonly { nodeId: string | null }[]): void => {
      const ids = new Set(peers.map(({ nodeId }) => nodeId));
      const kept = new Map([...boxes].filter(([nodeId]) => ids.has(nodeId)));
      if (kept.size < boxes.size) save(kept);
    },
  };
};
