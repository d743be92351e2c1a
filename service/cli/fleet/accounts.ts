/** The accounts of a hub and of its sites, as JWT. Pure but for random ids. */
import { reachOf, SITE_API } from '../../domain/fleet-subjects.ts';
import { type Key, signClaims } from './keys.ts';

const unlimited = {
  subs: -1,
  data: -1,
  payload: -1,
  imports: -1,
  exports: -1,
  wildcards: true,
  conn: -1,
  leaf: -1,
};
const jetstream = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

export const MAX_CONNECTIONS = 50;
const MAX_SUBSCRIPTIONS = 2_000;

/** The keys that sign for a hub. */
export interface HubKeys {
  operator: Key;
  system: Key;
  headOffice: Key;
}

type Kind = 'service' | 'stream';

const withPrefix = (subject: string): string => `${SITE_API}.${subject}`;
/** Of the head office's own JetStream, for a subject without prefix. */
const ownSubject = (subject: string): string => (subject.startsWith('$KV.') ? subject : `$JS.API.${subject}`);

/** @param site its name, or `*` for the exports */
const subjectsOf = (site: string): { kind: Kind; subject: string }[] => {
  const { jetstream: requests, services, streams } = reachOf(site);
  return [
    ...[...services, ...requests.map(withPrefix)].map((subject) => ({ kind: 'service' as const, subject })),
    ...streams.map((subject) => ({ kind: 'stream' as const, subject })),
  ];
};

/** `{{wildcard(n)}}` for each `*` of a subject. */
const numbered = (subject: string): string => {
  let n = 0;
  return subject.replaceAll('*', () => {
    n += 1;
    return `{{wildcard(${n})}}`;
  });
};

/**
 * The head office's account maps what sites ask of JetStream. No import may rename a subject: one message then ends a
 * nats-server 2.10.
 */
const mappings = Object.fromEntries(
  reachOf('*').jetstream.map((subject) => [
    withPrefix(subject),
    [{ subject: numbered(ownSubject(subject)), weight: 100 }],
  ]),
);

export const operatorJwt = ({ operator, system }: HubKeys, now: number): string =>
  signClaims(
    operator,
    { subject: operator.publicKey, name: 'signage', nats: { type: 'operator', system_account: system.publicKey } },
    now,
  );

export const systemJwt = ({ operator, system }: HubKeys, now: number): string =>
  signClaims(
    operator,
    { subject: system.publicKey, name: 'system', nats: { type: 'account', limits: unlimited } },
    now,
  );

/** Its exports do not depend on the sites. */
export const headOfficeJwt = ({ operator, headOffice }: HubKeys, now: number): string => {
  const exports = subjectsOf('*').map(({ kind, subject }) => ({
    name: subject,
    subject,
    type: kind,
    token_req: true,
    ...(kind === 'service' && { response_type: 'Singleton' }),
  }));
  const nats = { type: 'account', limits: { ...unlimited, ...jetstream }, exports, mappings };
  return signClaims(operator, { subject: headOffice.publicKey, name: 'head office', nats }, now);
};

export interface SiteAccount {
  site: string;
  /** Public key of the account. */
  account: string;
  hasLeaf: boolean;
  /** By public key of a user: credentials that were issued until then are refused, seconds since the epoch. */
  revoked: Readonly<Record<string, number>>;
}

/** The account of a site: it imports what {@link reachOf} tells, and exports nothing. */
export const siteJwt = (
  { operator, headOffice }: Pick<HubKeys, 'operator' | 'headOffice'>,
  { site, account, hasLeaf, revoked }: SiteAccount,
  now: number,
): string => {
  const tokens = new Map<string, string>();
  /** An activation covers what begins with the name of the site. */
  const tokenOf = (kind: Kind, subject: string): string => {
    const covered = subject.startsWith(`signage.${site}.`) ? `signage.${site}.>` : subject;
    const key = `${kind} ${covered}`;
    const token =
      tokens.get(key) ??
      signClaims(
        headOffice,
        { subject: account, name: key, nats: { type: 'activation', subject: covered, kind } },
        now,
      );
    tokens.set(key, token);
    return token;
  };
  const imports = subjectsOf(site).map(({ kind, subject }) => ({
    name: subject,
    subject,
    account: headOffice.publicKey,
    type: kind,
    token: tokenOf(kind, subject),
  }));
  const limits = {
    ...unlimited,
    conn: MAX_CONNECTIONS,
    subs: MAX_SUBSCRIPTIONS,
    leaf: Number(hasLeaf),
    imports: imports.length,
    exports: 0,
  };
  const nats = { type: 'account', limits, imports, ...(Object.keys(revoked).length > 0 && { revocations: revoked }) };
  return signClaims(operator, { subject: account, name: site, nats }, now);
};

export type UserKind = 'box' | 'leaf' | 'program';

/** What a key connects as: the key of a leaf node is of no use to a client, and the other way round. */
const connectionTypes: Readonly<Record<UserKind, string[] | undefined>> = {
  box: ['STANDARD', 'WEBSOCKET'],
  leaf: ['LEAFNODE'],
  program: undefined,
};

interface User {
  /** Public key. */
  user: string;
  name: string;
  kind: UserKind;
  /** Seconds since the epoch; absent: never. */
  expiresAt?: number;
}

/** A user of an account, with the rights of the account. */
export const userJwt = (account: Key, { user, name, kind, expiresAt }: User, now: number): string => {
  const types = connectionTypes[kind];
  const nats = {
    type: 'user',
    subs: -1,
    data: -1,
    payload: -1,
    pub: {},
    sub: {},
    ...(types !== undefined && { allowed_connection_types: types }),
  };
  return signClaims(account, { subject: user, name, nats, ...(expiresAt !== undefined && { expiresAt }) }, now);
};
