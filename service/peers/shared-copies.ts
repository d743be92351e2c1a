/**
 * Assigns the download of a remote file to one box of the site, and gets its copy, so that a site downloads each file
 * once.
 */
import { createHash } from 'node:crypto';
import type { SiteCopy } from '../media/index.ts';
import type { AskPeers } from './operations.ts';
import type { Registry } from './registry.ts';

/** Boxes that are asked before this one downloads a file: they were to download it while this one was away. */
const MAX_ASKED = 2;

const weightOf = (url: string, nodeId: string): string => createHash('sha256').update(`${nodeId} ${url}`).digest('hex');

/** Rendezvous hashing: the order in which boxes download a file, equal on all boxes. Pure. */
export const downloadersOf = (url: string, nodeIds: readonly string[]): string[] =>
  nodeIds
    .map((nodeId) => [weightOf(url, nodeId), nodeId] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, nodeId]) => nodeId);

export const createSharedCopies =
  (nodeId: string, peers: Pick<Registry, 'alive' | 'settled'>, asking: Pick<AskPeers, 'ask'>) =>
  async (url: string): Promise<SiteCopy> => {
    await peers.settled();
    const urls = new Map(peers.alive().map((peer) => [peer.nodeId, peer.url]));
    const order = downloadersOf(url, [nodeId, ...urls.keys()]);
    const isOurs = order[0] === nodeId;
    for (const other of isOurs ? order.slice(1, 1 + MAX_ASKED) : order.slice(0, 1)) {
      const answer = await asking.ask({ nodeId: other }, 'media.copy', url);
      // A busy box may be downloading it; a late one is not waited for long.
      if (!answer.ok && answer.isLate === true && !isOurs) return 'unknown';
      if (!answer.ok) continue;
      const { state, copy } = answer.body;
      if (copy !== null) return { ...copy, from: `${urls.get(other)}/copies/${copy.sha256}` };
      if (!isOurs && (state === 'coming' || state === 'unknown')) return state;
    }
    return null;
  };
