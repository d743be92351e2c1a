/** Asks the other boxes of the site for renditions, so that a site makes each once. */
import type { SiteRenditions } from '../media/index.ts';
import type { AskPeers } from './operations.ts';
import type { Registry } from './registry.ts';

export const createSharedRenditions =
  (peers: Pick<Registry, 'all' | 'settled'>, asking: Pick<AskPeers, 'askAll'>) =>
  async (originals: readonly string[]): Promise<SiteRenditions> => {
    await peers.settled();
    if (peers.all().length === 0) return { holders: [], isIncomplete: false };
    const { answers } = await asking.askAll('media.renditions', originals);
    const holders = answers.flatMap(({ peer, body }) =>
      (body?.renditions ?? []).map((each) => ({
        ...each,
        nodeId: peer.nodeId ?? '',
        from: `${peer.url}/renditions/${each.rendition?.sha256}`,
      })),
    );
    return { holders, isIncomplete: answers.some(({ peer, body }) => body === null && !peer.isForeign) };
  };
