/**
 * The requests between boxes of a site. Other modules pass the name of an operation and its input; only this file maps them
 * to HTTP.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type AlertRecord, peerAlerts } from '../contract/alerts.ts';
import type { Command, CommandTarget } from '../contract/commands.ts';
import { actionAnswer, type PeerOrder, type PeerReset } from '../contract/console/actions.ts';
import { passedDraft, peerDrafts } from '../contract/console/drafts.ts';
import { peerKeys } from '../contract/console/people.ts';
import { type BoxLogQuery, boxLog, type PeerAuditQuery, peerAudit } from '../contract/console/site.ts';
import {
  differingBindings,
  type GossipRequest,
  gossipAnswer,
  type MemberExchange,
  memberRecords,
  type PeerNews,
  peerNewsAnswer,
  reachAnswer,
} from '../contract/gossip.ts';
import { type Binding, onboardingResult } from '../contract/onboarding.ts';
import type { OperationName } from '../contract/operations/index.ts';
import {
  commandIdHeader,
  contentDocument,
  type DeviceBinding,
  type MediaDeletion,
  mostContentCharacters,
  mostPeers,
  mostQueryCharacters,
  peerClaimAnswers,
  peerCommandAnswers,
  peerConnections,
  peerCopy,
  peerDevices,
  peerMedia,
  peerRenditions,
  peerScreenshot,
  peerSent,
  peerSite,
  peerTakeovers,
  peerTime,
  relayHeader,
  type TakeoverRecord,
} from '../contract/peers.ts';
import { peerPlays, type peerPlaysQuery } from '../contract/plays.ts';
import { differingRecords, type NamedRecord, type SharedDigests } from '../contract/shared.ts';
import { type peerShow, peerShown } from '../contract/show.ts';
import { remember } from '../domain/collections.ts';
import type { ServiceContext } from '../module.ts';
import type { PeerRequest } from './call.ts';
import type { Peer, PeerAddress, Registry } from './registry.ts';
import type { PeerAnswer } from './reply.ts';

/** The variable parts of a request. */
interface Parts {
  /** Of the path, by name. */
  params?: Readonly<Record<string, string>>;
  /** `undefined` leaves a parameter out. */
  query?: Readonly<Record<string, string | number | undefined>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** Encodes a value of a query; commas are kept, so that a list stays short. */
const encode = (value: string | number): string => encodeURIComponent(value).replaceAll('%2C', ',');

const pathOf = (pattern: string, { params = {}, query = {} }: Parts): string => {
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encode(value)}`],
  );
  return given.length === 0 ? path : `${path}?${given.join('&')}`;
};

interface Limits extends Pick<PeerRequest<z.ZodType>, 'deadlineMs' | 'maxBytes' | 'isRepeatable' | 'isDated'> {
  /** The peer does not forward the request. */
  relayed?: true;
}

/**
 * @param http the operation that answers
 * @param schema of the JSON of a successful answer
 * @param partsOf the variable parts for an input
 */
const define =
  <Schema extends z.ZodType, Input = void>(
    http: OperationName,
    schema: Schema,
    partsOf: (input: Input) => Parts = () => ({}),
    { relayed, ...limits }: Limits = {},
  ) =>
  (input: Input) => {
    const [method, pattern = ''] = http.split(' ') as ['GET' | 'POST', string];
    const parts = partsOf(input);
    const { body, headers = {} } = parts;
    const request: PeerRequest<Schema> = { method, path: pathOf(pattern, parts), schema, headers, ...limits };
    return { request: body === undefined ? request : { ...request, body }, relayed: relayed === true };
  };

/** A command for the pages of the peers. */
interface RelayedCommand {
  slug: string;
  command: Command;
  target: CommandTarget;
  /** Each box runs an id only once. */
  id: string;
}

const commandBody = ({ command, target }: Pick<RelayedCommand, 'command' | 'target'>): object => ({
  ...command,
  ...Object.fromEntries(Object.entries(target).filter(([, value]) => value != null)),
});

/** The input is the body. */
const asBody = <Body>(body: Body): Parts => ({ body });

/** The body has the input as a list of that name. */
const asList =
  <Item>(name: string) =>
  (items: readonly Item[]): Parts => ({ body: { [name]: items } });

const nothing = z.object({});

const MIB = 1024 ** 2;

const peerOperations = {
  'clock.time': define('GET /api/peers/time', peerTime),
  'devices.bind': define('POST /api/onboarding', onboardingResult.pick({ queued: true }), asBody<Binding>, {
    relayed: true,
  }),
  'bindings.send': define('POST /api/peers/bindings', nothing, asList<DeviceBinding>('bindings'), { relayed: true }),
  /** The bindings of the peer that differ from ours. */
  'bindings.differing': define(
    'POST /api/peers/bindings/differing',
    differingBindings,
    (digests: string) => ({ body: { digests } }),
    { deadlineMs: 10_000, maxBytes: 16 * MIB, isRepeatable: true },
  ),
  'peers.gossip': define('POST /api/peers/gossip', gossipAnswer, asBody<GossipRequest>, {
    isRepeatable: true,
  }),
  'peers.members': define('POST /api/peers/members', memberRecords, asBody<MemberExchange>, {
    isRepeatable: true,
    maxBytes: 8 * MIB,
  }),
  /** Whether the peer reaches a box; it may have to probe. */
  'peers.reach': define('GET /api/peers/reach', reachAnswer, (nodeId: string) => ({ query: { nodeId } }), {
    deadlineMs: 2_000,
  }),
  'peers.news': define('POST /api/peers/news', peerNewsAnswer, asBody<PeerNews>, {
    deadlineMs: 3_000,
    isRepeatable: true,
  }),
  'devices.known': define(
    'GET /api/peers/devices',
    peerDevices,
    (deviceIds: readonly string[]) => ({ query: { deviceIds: deviceIds.join(',') } }),
    { relayed: true },
  ),
  'devices.claims': define(
    'POST /api/peers/claims',
    peerClaimAnswers,
    asList<{ deviceId: string; claim: string }>('claims'),
    { relayed: true, isRepeatable: true },
  ),
  /** Liveness probe while another request is pending. */
  'boxes.probe': define('GET /api/peers/time', peerTime, undefined, { deadlineMs: 700 }),
  /** The newest document; or the last one that lost at the peer, by its hash. */
  'content.document': define(
    'GET /api/peers/content',
    contentDocument,
    (sha256: string | undefined) => ({ query: { sha256 } }),
    {
      deadlineMs: 10_000,
      // A character of the text takes at most three bytes, or two if it is escaped.
      maxBytes: 3 * mostContentCharacters + 8 * MIB,
    },
  ),
  'media.list': define('GET /api/peers/media', peerMedia, undefined, { deadlineMs: 10_000, maxBytes: 16 * MIB }),
  /** Resolves when the peer has renamed and removed its files. */
  'media.sendDeletions': define('POST /api/peers/deletions', nothing, asList<MediaDeletion>('deleted'), {
    isRepeatable: true,
  }),
  'media.copy': define('POST /api/peers/copy', peerCopy, (url: string) => ({ body: { url } }), { isRepeatable: true }),
  'media.renditions': define(
    'POST /api/peers/renditions',
    peerRenditions,
    (originals: readonly string[]) => ({ body: { originals } }),
    { isRepeatable: true },
  ),
  'boxes.log': define('GET /api/peers/log', boxLog, (query: BoxLogQuery) => ({ query: { ...query } }), {
    maxBytes: 4 * MIB,
  }),
  'boxes.restart': define('POST /api/peers/restart', nothing),
  /** The hardware is awaited for 5 s. */
  'boxes.act': define('POST /api/peers/actions', actionAnswer, asBody<PeerOrder>, { relayed: true, deadlineMs: 8_000 }),
  'boxes.reset': define('POST /api/peers/resets', nothing, asBody<PeerReset>, { relayed: true }),
  /** A screenshot of a display; takes up to 2 s. */
  'boxes.screenshot': define(
    'GET /api/peers/screenshot',
    peerScreenshot,
    (connectionId: string) => ({ query: { connectionId } }),
    { deadlineMs: 2_500, maxBytes: 4 * MIB },
  ),
  'boxes.site': define('GET /api/peers/site', peerSite, undefined, { maxBytes: 16 * MIB }),
  'records.alerts': define('GET /api/peers/alerts', peerAlerts, undefined, { relayed: true, maxBytes: 2 * MIB }),
  'records.sendAlerts': define('POST /api/peers/alerts', nothing, asList<AlertRecord>('records'), { relayed: true }),
  'records.audit': define('GET /api/peers/audit', peerAudit, (query: PeerAuditQuery) => ({ query: { ...query } }), {
    relayed: true,
    deadlineMs: 3_000,
    // 1,000 records with two states of up to 2,000 characters each, of up to three bytes.
    maxBytes: 16 * MIB,
  }),
  'records.plays': define(
    'GET /api/peers/plays',
    peerPlays,
    (query: Partial<z.input<typeof peerPlaysQuery>> & { skip?: number; limit: number }) => ({ query }),
    // A box answers with some 8 MiB of plays at most; a slow one needs time to find the first one of a day.
    { deadlineMs: 10_000, maxBytes: 16 * MIB },
  ),
  'screens.command': define(
    'POST /api/screens/:slug/commands',
    z.object({ sent: peerSent }),
    (relayed: RelayedCommand) => ({
      params: { slug: relayed.slug },
      headers: { [commandIdHeader]: relayed.id },
      body: commandBody(relayed),
    }),
    { relayed: true },
  ),
  /** A batch of commands, for a peer of this protocol. */
  'screens.commands': define(
    'POST /api/peers/commands',
    peerCommandAnswers,
    (relayed: readonly (RelayedCommand & { ageMs: number })[]) => {
      const commands = relayed.map(({ id, slug, ageMs, ...rest }) => ({ id, slug, body: commandBody(rest), ageMs }));
      return { body: { commands } };
    },
    { relayed: true, isRepeatable: true, isDated: true },
  ),
  'screens.show': define('POST /api/peers/show', peerShown, asBody<z.input<typeof peerShow>>, { relayed: true }),
  /** The connections of screens; of all screens if there is no list, or the slugs do not fit into a URL. */
  'screens.connections': define(
    'GET /api/peers/connections',
    peerConnections,
    (slugs: readonly string[] | undefined) => {
      const screens = slugs?.join(',');
      return { query: { screens: (screens?.length ?? 0) > mostQueryCharacters ? undefined : screens } };
    },
    { maxBytes: 16 * MIB },
  ),
  'drafts.list': define('GET /api/peers/drafts', peerDrafts),
  'drafts.record': define('GET /api/peers/drafts/:id', passedDraft, (id: string) => ({ params: { id } }), {
    deadlineMs: 10_000,
    maxBytes: 3 * mostContentCharacters,
  }),
  'people.keys': define('GET /api/peers/keys', peerKeys, undefined, { relayed: true, maxBytes: 4 * MIB }),
  /** The shared records of the peer that differ from ours, and those that follow. */
  'shared.differing': define('POST /api/peers/shared/differing', differingRecords, asBody<SharedDigests>, {
    relayed: true,
    deadlineMs: 10_000,
    maxBytes: 16 * MIB,
    isRepeatable: true,
  }),
  'shared.send': define('POST /api/peers/shared', nothing, asList<NamedRecord>('records'), {
    relayed: true,
    isRepeatable: true,
  }),
  'takeovers.list': define('GET /api/peers/takeovers', peerTakeovers, undefined, {
    deadlineMs: 10_000,
    maxBytes: 8 * MIB,
  }),
  'takeovers.send': define('POST /api/peers/takeovers', nothing, asList<TakeoverRecord>('takeovers'), {
    relayed: true,
  }),
};

type PeerOperations = typeof peerOperations;
export type PeerOperationName = keyof PeerOperations;
/** The input of an operation: one argument, or none. */
export type PeerInput<Name extends PeerOperationName> = Parameters<PeerOperations[Name]>;
export type PeerOutput<Name extends PeerOperationName> = z.output<
  ReturnType<PeerOperations[Name]>['request']['schema']
>;

type Make<Name extends PeerOperationName> = (...input: PeerInput<Name>) => {
  request: PeerRequest<z.ZodType<PeerOutput<Name>>>;
  relayed: boolean;
};

const make = <Name extends PeerOperationName>(operation: Name, input: PeerInput<Name>) =>
  (peerOperations[operation] as unknown as Make<Name>)(...input);

/** The answers of the peers. A peer without the screen counts as answered, and adds no answer. */
export interface Gathered<T> {
  answers: T[];
  /** Whether a known peer did not answer within a second, answered with an error, or is of another protocol and was not asked. */
  degraded: boolean;
}

export type AskPeers = ReturnType<typeof createAskPeers>;

/** How a peer answered; `late`: not in time. */
type Outcome = 'answered' | 'late' | 'failed';

/** How long a peer that is overdue is waited for: it may be back. */
const OVERDUE_PATIENCE_MS = 100;

export type Overdue = ReturnType<typeof createOverdue>;

/**
 * Peers that accept connections and do not answer. Without a secret any host can be a peer: each delays one answer to an
 * operation, is named, and is hardly waited for until it answers that operation. Every answer without it is incomplete.
 */
export const createOverdue = (
  { logs, options: { sharedSecret } }: Pick<ServiceContext, 'logs' | 'options'>,
  { isThere }: Pick<Registry, 'isThere'>,
) => {
  const overdue = new Map<string, Peer>();
  const keyOf = ({ nodeId, url }: Peer, operation: string): string => `${operation} ${nodeId ?? url}`;

  return {
    has: (peer: Peer, operation: string): boolean => overdue.has(keyOf(peer, operation)),
    /** Notes how a peer answered. @returns whether this makes the answer of this box incomplete */
    note: (peer: Peer, operation: string, outcome: Outcome): boolean => {
      const key = keyOf(peer, operation);
      const isOverdue = sharedSecret === null && outcome === 'late' && isThere(peer);
      if (isOverdue && !overdue.has(key)) {
        const { nodeId, url } = peer;
        logs(`peer ${url}`).warn({ nodeId, url, operation }, 'a peer does not answer, and is left out until it does');
      }
      if (isOverdue) remember(overdue, key, peer, 8 * mostPeers);
      else overdue.delete(key);
      return outcome !== 'answered';
    },
    /** The addresses of those that are alive otherwise; the others are named as away. */
    urls: (all: readonly Pick<Peer, 'nodeId' | 'alive'>[]): string[] => {
      const alive = new Set(all.flatMap(({ nodeId, alive: isAlive }) => (isAlive ? nodeId : [])));
      return [...new Set([...overdue.values()].flatMap(({ nodeId, url }) => (alive.has(nodeId) ? url : [])))];
    },
  };
};

const outcomeOf = (answer: PeerAnswer<unknown>): Outcome => {
  if (answer.ok || answer.code === 'screen_not_found') return 'answered';
  return answer.isLate ? 'late' : 'failed';
};

/** Whether a peer knows the operation: a box of another protocol has only those of the specified interface. */
const knows = ({ isForeign }: Pick<Peer, 'isForeign'>, path: string): boolean =>
  !isForeign || !path.startsWith('/api/peers/');

export const createAskPeers = (peers: Pick<Registry, 'all' | 'call' | 'settled'>, overdue: Overdue, nodeId: string) => {
  /** Asks one peer, as {@link Registry.call} does; never rejects. */
  const ask = <Name extends PeerOperationName>(
    peer: PeerAddress,
    operation: Name,
    ...input: PeerInput<Name>
  ): Promise<PeerAnswer<PeerOutput<Name>>> => {
    const { request, relayed } = make(operation, input);
    return peers.call(peer, relayed ? { ...request, headers: { ...request.headers, [relayHeader]: nodeId } } : request);
  };
  /** Asks all peers that know the operation concurrently; never rejects. The body is null for a peer without an answer. */
  const askAll = async <Name extends PeerOperationName>(operation: Name, ...input: PeerInput<Name>) => {
    await peers.settled();
    const { path } = make(operation, input).request;
    const all = await Promise.all(
      peers.all().map(async (peer) => {
        const none = { peer, body: null, isMissing: true };
        if (!knows(peer, path)) return none;
        const isOverdue = overdue.has(peer, operation);
        const asking = ask(peer, operation, ...input).then((answer) => {
          const isMissing = overdue.note(peer, operation, outcomeOf(answer));
          return { peer, body: answer.ok ? answer.body : null, isMissing };
        });
        return isOverdue ? Promise.race([asking, pause(OVERDUE_PATIENCE_MS, none, { ref: false })]) : asking;
      }),
    );
    const answers = all.map(({ peer, body }) => ({ peer, body }));
    return { answers, degraded: all.some(({ isMissing }) => isMissing) };
  };

  return {
    ask,
    askAll,
    /** The same, without the peers. */
    broadcast: async <Name extends PeerOperationName>(
      operation: Name,
      ...input: PeerInput<Name>
    ): Promise<Gathered<PeerOutput<Name>>> => {
      const { answers, degraded } = await askAll(operation, ...input);
      return { answers: answers.flatMap(({ body }) => (body === null ? [] : [body])), degraded };
    },
  };
};
