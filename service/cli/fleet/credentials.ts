/** Credentials of one site: what it may send and receive, for nats-server.conf or signed by the key of an account. */
import { createHash } from 'node:crypto';
import { nkeys } from '@nats-io/transport-node';
import {
  CONTENT_BUCKET,
  commandSubject,
  connectionsSubject,
  inboxPrefix,
  keySubject,
  STATUS_BUCKET,
  statusKey,
  upwardSubject,
} from '../../domain/fleet-subjects.ts';

interface Permissions {
  publish: string[];
  subscribe: string[];
}

/** Reads the newest value of a key, and of no other (NATS ADR-31). */
const readSubject = (bucket: string, key: string): string =>
  `$JS.API.DIRECT.GET.KV_${bucket}.${keySubject(bucket, key)}`;

export const permissionsOf = (site: string): Permissions => ({
  publish: [
    upwardSubject(site, 'plays'),
    upwardSubject(site, 'alerts'),
    keySubject(STATUS_BUCKET, statusKey(site, '*')),
    readSubject(STATUS_BUCKET, statusKey(site, '*')),
    readSubject(CONTENT_BUCKET, site),
  ],
  subscribe: [
    commandSubject(site, '*'),
    connectionsSubject(site, '*'),
    keySubject(CONTENT_BUCKET, site),
    `${inboxPrefix(site)}.>`,
  ],
});

/** For how long a request may be answered. */
const ANSWER_SECONDS = 60;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A user of an account, as `nsc` makes one (JWT of NATS, version 2). */
const signUser = (site: string, user: string, account: ReturnType<typeof nkeys.fromSeed>): string => {
  const { publish, subscribe } = permissionsOf(site);
  const claims = {
    jti: createHash('sha256').update(`${user} ${site}`).digest('hex'),
    iat: Math.floor(Date.now() / 1000),
    iss: account.getPublicKey(),
    name: site,
    sub: user,
    nats: {
      pub: { allow: publish },
      sub: { allow: subscribe },
      resp: { max: 1, ttl: ANSWER_SECONDS * 1e9 },
      ...{ subs: -1, data: -1, payload: -1, type: 'user', version: 2 },
    },
  };
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(claims)}`;
  return `${text}.${Buffer.from(account.sign(Buffer.from(text))).toString('base64url')}`;
};

const block = (name: string, text: string): string => `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n`;

export interface SiteCredentials {
  /** What the box gets, in a file that SIGNAGE_FLEET_CREDENTIALS names. */
  file: string;
  /** What belongs into `users` of nats-server.conf; null: the file was signed by an account, and the hub needs nothing. */
  config: string | null;
}

/**
 * Makes a key for a site, with permissions for its own subjects alone.
 * @param accountSeed seed of an account (`SA...`); null: the hub is told of the key in its configuration
 * @throws an Error where the seed is none of an account
 */
export const createCredentials = (site: string, accountSeed: string | null): SiteCredentials => {
  const user = nkeys.createUser();
  const seed = block('USER NKEY SEED', Buffer.from(user.getSeed()).toString());
  if (accountSeed !== null) {
    if (!/^SA[A-Z2-7]{56}$/.test(accountSeed)) throw new Error('it is no seed of an account, which begins with SA');
    const jwt = signUser(site, user.getPublicKey(), nkeys.fromSeed(Buffer.from(accountSeed)));
    return { file: `${block('NATS USER JWT', jwt)}\n${seed}`, config: null };
  }
  const { publish, subscribe } = permissionsOf(site);
  const permissions = {
    publish,
    subscribe,
    allow_responses: { max: 1, expires: `${ANSWER_SECONDS}s` },
  };
  return { file: seed, config: `# ${site}\n${JSON.stringify({ nkey: user.getPublicKey(), permissions }, null, 2)}\n` };
};
