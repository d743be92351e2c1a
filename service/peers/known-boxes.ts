/** The boxes that were once known, on disk: one that does not come back after a power cut is named. */
import { z } from 'zod';
import { mostPeers } from '../contract/peers.ts';
import type { ServiceContext } from '../module.ts';
import { openDurable } from '../platform/store/durable.ts';

const box = z.object({ nodeId: z.uuid(), url: z.url() });
export type KnownBox = z.infer<typeof box>;

const schema = z.object({ boxes: z.array(box) });

export const openKnownBoxes = async (context: Pick<ServiceContext, 'dirs' | 'log' | 'now' | 'keep'>) => {
  const durable = context.keep(await openDurable(context, 'known-boxes.json', { schema, initial: { boxes: [] } }));
  let boxes = new Map(durable.read().boxes.map(({ nodeId, url }) => [nodeId, url]));

  const save = (next: ReadonlyMap<string, string>): void => {
    boxes = new Map([...next].slice(0, mostPeers));
    const list = [...boxes].map(([nodeId, url]) => ({ nodeId, url }));
    // A write that fails is repeated with the next change; the store reports it.
    void durable.update(() => ({ boxes: list })).catch(() => undefined);
  };

  return {
    list: (): KnownBox[] => durable.read().boxes,
    add: ({ nodeId, url }: KnownBox): void => {
      if (boxes.get(nodeId) !== url) save(new Map(boxes).set(nodeId, url));
    },
    /** Forgets the boxes that are not among the peers any more. */
    keepOnly: (peers: readonly { nodeId: string | null }[]): void => {
      const ids = new Set(peers.map(({ nodeId }) => nodeId));
      const kept = new Map([...boxes].filter(([nodeId]) => ids.has(nodeId)));
      if (kept.size < boxes.size) save(kept);
    },
  };
};
