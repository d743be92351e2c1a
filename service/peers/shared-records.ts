/** What boxes ask of each other to exchange shared records: those in the buckets that differ, a page at a time. */
import { createHash } from 'node:crypto';
import { readFields } from '../contract/fields.ts';
import {
  mostSharedRecords,
  type NamedRecord,
  sharedBuckets,
  sharedDigests,
  sharedRecords,
} from '../contract/shared.ts';
import { canonical } from '../domain/canonical.ts';
import { checkDepth, readJson, readJsonText } from '../http/body.ts';
import type { Routes } from '../http/routes.ts';
import type { SiteCopy, SiteRenditions } from '../media/index.ts';
import type { ServiceContext } from '../module.ts';
import type { ExchangedSet, Shared } from '../shared/index.ts';
import { bucketDigests, bucketOf, differingBuckets, type Row } from './digest.ts';
import type { AskPeers } from './operations.ts';
import type { LivePeer, Registry } from './registry.ts';
import type { PeerAnswer } from './reply.ts';

/** Boxes that are asked before this one downloads a file: they were to download it while this one was away. */
const MAX_ASKED = 2;

const weightOf = (url: string, nodeId: string): string => createHash('sha256').update(`${nodeId} ${url}`).digest('hex');

/** Rendezvous hashing: the order in which boxes download a file, equal on all boxes. Pure. */
export const downloadersOf = (url: string, nodeIds: readonly string[]): string[] =>
  nodeIds
    .map((nodeId) => [weightOf(url, nodeId), nodeId] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, nodeId]) => nodeId);

/** Finds the copy of a remote file, whose download is one box's, so that a site downloads each file once. */
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

/** Asks the other boxes for renditions, so that a site makes each once. */
export const createSharedRenditions =
  (peers: Pick<Registry, 'all' | 'settled'>, asking: Pick<AskPeers, 'askAll'>) =>
  async (originals: readonly string[]): Promise<SiteRenditions> => {
    await peers.settled();
    if (peers.all().length === 0) return { holders: [] };
    const { answers } = await asking.askAll('media.renditions', originals);
    const holders = answers.flatMap(({ peer, body }) =>
      (body?.renditions ?? []).map((each) => ({
        ...each,
        nodeId: peer.nodeId ?? '',
        from: `${peer.url}/renditions/${each.rendition?.sha256}`,
      })),
    );
    return { holders };
  };

/** A change that is longer is fetched by the other boxes. */
const MAX_SENT_BYTES = 48 * 1024;
const bodyLimits = { bytes: 256 * 1024, ms: 15_000 };
/** Of one answer. */
const MAX_ANSWER_CHARACTERS = 4 * 1024 ** 2;
/** What is left out because its time is over changes with the clock. */
const HOUR_MS = 3_600_000;

type Place = readonly [set: string, id: string];

const order = ([setA, idA]: Place, [setB, idB]: Place): number =>
  setA === setB ? (idA < idB ? -1 : idA > idB ? 1 : 0) : setA < setB ? -1 : 1;

/** One page of records after a place. Pure. */
export const pageOf = (
  records: readonly NamedRecord[],
  after: Place | null,
): { records: NamedRecord[]; isCut: boolean } => {
  const rest = records
    .map((named) => [named, [named[0], named[1].id] as const] as const)
    .filter(([, place]) => after === null || order(place, after) > 0)
    .toSorted(([, a], [, b]) => order(a, b))
    .map(([named]) => named);
  let characters = 0;
  const page = rest.slice(0, mostSharedRecords).filter((named, index) => {
    characters += JSON.stringify(named).length;
    return index === 0 || characters <= MAX_ANSWER_CHARACTERS;
  });
  return { records: page, isCut: page.length < rest.length };
};

export const createSharedExchange = (
  { now, options: { sharedSecret } }: Pick<ServiceContext, 'now' | 'options'>,
  shared: Pick<Shared, 'sets' | 'merge' | 'onPut'>,
  asking: Pick<AskPeers, 'ask' | 'broadcast'>,
  onTooLong: () => void,
) => {
  const known = new Map<string, { version: string; digests: string }>();
  const digestsOf = ({ name, version, list }: ExchangedSet): string => {
    const current = `${version()} ${Math.floor(now() / HOUR_MS)}`;
    const before = known.get(name);
    if (before?.version === current) return before.digests;
    const digests = bucketDigests(
      list().map((record): Row => [record.id, canonical(record)]),
      sharedBuckets,
    );
    known.set(name, { version: current, digests });
    return digests;
  };
  const sets = (): ExchangedSet[] => shared.sets(sharedSecret !== null);
  const digests = (): Record<string, string> => Object.fromEntries(sets().map((set) => [set.name, digestsOf(set)]));

  shared.onPut(async (records) => {
    if (JSON.stringify(records).length > MAX_SENT_BYTES) onTooLong();
    else await asking.broadcast('shared.send', records);
  });

  const routes = {
    'POST /api/peers/shared/differing': async (ctx) => {
      const asked = readFields(sharedDigests, await readJson(ctx));
      // The answer to a box is encrypted; anybody else with the secret gets it as it is.
      const isSealed = ctx.state.seal !== null;
      const offered = sets().filter(({ protection }) => isSealed || protection !== 'sealed');
      const differing = offered.flatMap((set): NamedRecord[] => {
        const theirs = asked.digests[set.name];
        if (theirs === undefined) return [];
        const buckets = differingBuckets(digestsOf(set), theirs);
        return set
          .list()
          .filter(({ id }) => buckets.has(bucketOf(id, sharedBuckets)))
          .map((record) => [set.name, record]);
      });
      ctx.body = pageOf(differing, asked.after ?? null);
    },
    'POST /api/peers/shared': async (ctx) => {
      const { value } = await readJsonText(ctx, bodyLimits);
      checkDepth(value);
      const { records } = readFields(sharedRecords, value);
      const taken = new Set(
        sets().flatMap(({ name, protection }) => (ctx.state.isSealed || protection !== 'sealed' ? name : [])),
      );
      await shared.merge(records.filter(([name]) => taken.has(name)));
      ctx.body = {};
    },
  } satisfies Routes;

  return {
    routes,
    /** SHA-256 (hex) of the digests of all sets. */
    digest: (): string => createHash('sha256').update(canonical(digests())).digest('hex'),
    /** Fetches the records of a peer that differ from ours. */
    ask: async ({ nodeId }: LivePeer): Promise<PeerAnswer<{ shared: NamedRecord[] }>> => {
      const own = digests();
      // A peer answers what it likes: without a secret, nobody adds people.
      const asked = new Set(Object.keys(own));
      const records: NamedRecord[] = [];
      let after: Place | undefined;
      for (;;) {
        const body = { digests: own, ...(after && { after: [...after] as [string, string] }) };
        const answer = await asking.ask({ nodeId }, 'shared.differing', body);
        if (!answer.ok) return answer;
        records.push(...answer.body.records.filter(([name]) => asked.has(name)));
        const last = answer.body.records.at(-1);
        if (!answer.body.isCut || last === undefined) return { ...answer, body: { shared: records } };
        const place = [last[0], last[1].id] as const;
        // A peer that repeats itself would never end.
        if (after !== undefined && order(place, after) <= 0) return { ...answer, body: { shared: records } };
        after = place;
      }
    },
  };
};
