/** The media of the peers: their lists, fetched as their states change. */
import { type PeerMedium, peerMedia } from '../contract/peer-media.ts';
import { isPlausibleTime } from '../domain/merge.ts';
import type { Media } from '../media/index.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import type { LivePeer, Peers } from './peer.ts';
import type { Offer } from './transfer-plan.ts';

interface Dependencies {
  logs: SourceLogs;
  peers: Pick<Peers, 'alive' | 'call' | 'onState'>;
  deletions: Pick<Media['deletions'], 'at' | 'merge'>;
  /** Called with the name of each file that a peer did not have before. */
  onNew(name: string): void;
  /** Called when a list was fetched. */
  onChange(): void;
}

export interface MediaLists {
  /** Whether a deletion at the site covers the file. */
  isDeleted(medium: PeerMedium): boolean;
  /** The files that peers have, without those that are deleted. */
  offers(): Offer[];
  /** Asks all peers which media they have now; concurrent callers share the answers. */
  learn(): Promise<void>;
}

const MAX_LIST_BYTES = 16 * 1024 ** 2;
const LIST_MS = 10_000;

export const createMediaLists = ({ logs, peers, deletions, onNew, onChange }: Dependencies): MediaLists => {
  /** By node id, with the digest that the state of the peer had. */
  const lists = new Map<string, { digest: string; media: ReadonlyMap<string, PeerMedium> }>();
  /** Lists that are being fetched, by node id. */
  const fetching = new Map<string, Promise<void>>();
  let learning: Promise<void> | null = null;

  const isDeleted = ({ name, modifiedAt }: PeerMedium): boolean => Date.parse(modifiedAt) <= deletions.at(name);

  /** @param mode `again`: also if its state has not changed, because the state may be old */
  const fetchList = async (peer: LivePeer, mode?: 'again'): Promise<void> => {
    const { nodeId, state } = peer;
    if (mode !== 'again' && lists.get(nodeId)?.digest === state.media) return;
    const request = { path: '/api/peers/media', deadlineMs: LIST_MS, maxBytes: MAX_LIST_BYTES };
    const answer = await peers.call(peer, { ...request, schema: peerMedia });
    const log = logs(`peer ${nodeId}`);
    if (answer.ok) {
      await deletions.merge(answer.body.deleted ?? []).catch((err: unknown) => {
        log.error({ nodeId, err }, 'the deletions of a peer could not be stored');
      });
      const theirs = answer.body.media.filter(({ modifiedAt }) => isPlausibleTime(modifiedAt, Date.now()));
      const before = lists.get(nodeId)?.media;
      lists.set(nodeId, { digest: state.media, media: new Map(theirs.map((each) => [each.name, each])) });
      for (const { name, sha256 } of theirs) if (before?.get(name)?.sha256 !== sha256) onNew(name);
      onChange();
    } else if (answer.status !== null) {
      log.warn({ nodeId, reason: answer.reason }, 'a peer returned no list of media');
    }
  };

  peers.onState((peer) => {
    const present = new Set(peers.alive().map(({ nodeId }) => nodeId));
    for (const nodeId of lists.keys()) if (!present.has(nodeId)) lists.delete(nodeId);
    const { nodeId } = peer;
    if (fetching.has(nodeId)) return;
    fetching.set(
      nodeId,
      fetchList(peer).finally(() => fetching.delete(nodeId)),
    );
  });

  return {
    isDeleted,
    offers: () =>
      peers.alive().flatMap(({ nodeId, url }) => {
        const theirs = lists.get(nodeId)?.media;
        return theirs === undefined
          ? []
          : [{ url, media: new Map([...theirs].filter(([, each]) => !isDeleted(each))) }];
      }),
    learn: () => {
      learning ??= Promise.all(peers.alive().map((peer) => fetchList(peer, 'again')))
        .then(() => undefined)
        .finally(() => {
          learning = null;
        });
      return learning;
    },
  };
};
