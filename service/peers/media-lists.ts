/** The media of the peers: their lists, fetched as their states change. */
import type { PeerMedium } from '../contract/peers.ts';
import { isPlausibleTime } from '../domain/merge.ts';
import { singleFlight } from '../domain/single-flight.ts';
import type { SiteTime } from '../domain/time.ts';
import type { Media } from '../media/index.ts';
import type { ServiceContext } from '../module.ts';
import type { Offer } from './media-transfers.ts';
import type { AskPeers } from './operations.ts';
import type { Misdated } from './records.ts';
import { isLive, type LivePeer, type Registry } from './registry.ts';

export interface MediaSite {
  peers: Pick<Registry, 'alive' | 'find' | 'onState' | 'onReachabilityChange'>;
  asking: Pick<AskPeers, 'ask'>;
  media: Pick<Media, 'deletions'>;
  misdated: Pick<Misdated, 'note'>;
  siteTime: Pick<SiteTime, 'now'>;
}

interface Listeners {
  /** Called with the name of each file that a peer did not have before. */
  onNew(name: string): void;
  onChange(): void;
}

interface List {
  /** That the state of the peer had. */
  digest: string;
  media: ReadonlyMap<string, PeerMedium>;
  /** Whether the digest matches this list exactly. */
  isExact: boolean;
}

export const createMediaLists = (
  { logs }: Pick<ServiceContext, 'logs'>,
  { peers, asking, media: { deletions }, misdated, siteTime }: MediaSite,
  { onNew, onChange }: Listeners,
) => {
  /** By node id. */
  const lists = new Map<string, List>();
  /** Lists that are being fetched, by digest. */
  const fetchingDigests = new Map<string, Promise<void>>();

  const isDeleted = ({ name, modifiedAt }: PeerMedium): boolean => Date.parse(modifiedAt) <= deletions.at(name);

  const known = (): LivePeer[] => peers.alive().filter(({ nodeId }) => lists.has(nodeId));

  const keep = (nodeId: string, list: List): void => {
    const before = lists.get(nodeId)?.media;
    lists.set(nodeId, list);
    for (const [name, { sha256 }] of list.media) if (before?.get(name)?.sha256 !== sha256) onNew(name);
    onChange();
  };

  const fetchList = async (peer: LivePeer): Promise<void> => {
    const { nodeId, state } = peer;
    const answer = await asking.ask(peer, 'media.list');
    const log = logs(`peer ${nodeId}`);
    if (answer.ok) {
      await deletions.merge(answer.body.deleted).catch((err: unknown) => {
        log.error({ nodeId, err }, 'the deletions of a peer could not be stored');
      });
      const dated = answer.body.media.map(({ name, modifiedAt }) => [name, modifiedAt] as const);
      misdated.note(nodeId, 'media', dated);
      const deleted = answer.body.deleted.map(({ name, deletedAt }) => [name, deletedAt] as const);
      misdated.note(nodeId, 'deletions', deleted);
      const theirs = answer.body.media.filter(({ modifiedAt }) => isPlausibleTime(modifiedAt, siteTime.now()));
      const isExact = answer.body.digest === state.media;
      keep(nodeId, { digest: state.media, media: new Map(theirs.map((each) => [each.name, each])), isExact });
    } else if (answer.status !== null) {
      log.warn({ nodeId, reason: answer.reason }, 'a peer returned no list of media');
    }
  };

  /** Reuses the equal list of another peer. @returns whether there is one */
  const share = (nodeId: string, digest: string): boolean => {
    const equal = [...lists.values()].find((list) => list.isExact && list.digest === digest);
    if (equal !== undefined) keep(nodeId, equal);
    return equal !== undefined;
  };

  /** Most boxes of a site have the same media: one of equal lists is fetched. */
  const fetchDistinct = async (peer: LivePeer): Promise<void> => {
    const { nodeId, state } = peer;
    if (lists.get(nodeId)?.digest === state.media || share(nodeId, state.media)) return;
    const running = fetchingDigests.get(state.media);
    if (running !== undefined) {
      await running;
      if (share(nodeId, state.media)) return;
    }
    const done = fetchList(peer).finally(() => {
      if (fetchingDigests.get(state.media) === done) fetchingDigests.delete(state.media);
    });
    fetchingDigests.set(state.media, done);
    await done;
  };

  /** Fetches the list until it is that of the peer's newest state, which may arrive meanwhile. */
  const follow = async (peer: LivePeer): Promise<void> => {
    const { media } = peer.state;
    await fetchDistinct(peer);
    const current = peers.find(peer.nodeId);
    if (isLive(current) && current.state.media !== media) await follow(current);
  };

  peers.onReachabilityChange(() => {
    for (const nodeId of lists.keys()) if (!isLive(peers.find(nodeId))) lists.delete(nodeId);
  });
  const followOnce = singleFlight(async (nodeId: string) => {
    const peer = peers.find(nodeId);
    if (isLive(peer)) await follow(peer);
  });
  peers.onState(({ nodeId }) => void followOnce(nodeId));
  const learn = singleFlight(async () => void (await Promise.all(peers.alive().map(fetchList))));

  return {
    /** Whether a deletion at the site covers the file. */
    isDeleted,
    /** The files that peers have, without those that are deleted. */
    offers: (): Offer[] =>
      known().map((peer) => {
        const theirs = lists.get(peer.nodeId)?.media;
        const find = (name: string): PeerMedium | undefined => {
          const medium = theirs?.get(name);
          return medium !== undefined && !isDeleted(medium) ? medium : undefined;
        };
        return { url: peer.url, find };
      }),
    /** The live peers whose lists are known. */
    known,
    /** Requests the current lists of media of all peers; concurrent callers share the answers. */
    learn: (): Promise<void> => learn('all'),
  };
};
