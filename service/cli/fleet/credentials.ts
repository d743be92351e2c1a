/** Credentials and permissions of one site, for nats-server.conf or signed by the key of an account. */
import { createHash, randomBytes } from 'node:crypto';
import { nkeys } from '@nats-io/transport-node';
import {
  CONTENT_BUCKET,
  commandSubject,
  connectionsSubject,
  HUB_DOMAIN,
  inboxPrefix,
  keySubject,
  OPERATOR_INBOX,
  STATUS_BUCKET,
  statusKey,
  upwardSubject,
  wantedSubject,
} from '../../domain/fleet-subjects.ts';

interface Permissions {
  publish: string[];
  subscribe: string[];
}

/** Reads the newest value of a key, and of no other (NATS ADR-31). */
const readSubject = (bucket: string, key: string): string => `DIRECT.GET.KV_${bucket}.${keySubject(bucket, key)}`;

/**
 * The permissions of a site.
 * @param connects a box, or a leaf node: it names the hub's domain, and nats-server does not apply `allow_responses` to it
 */
export const permissionsOf = (site: string, connects: 'box' | 'leaf' = 'box'): Permissions => {
  const status = keySubject(STATUS_BUCKET, statusKey(site, '*'));
  const reads = [readSubject(STATUS_BUCKET, statusKey(site, '*')), readSubject(CONTENT_BUCKET, site)];
  const inDomain = (subject: string): string => `$JS.${HUB_DOMAIN}.API.${subject}`;
  return {
    publish: [
      upwardSubject(site, 'plays'),
      upwardSubject(site, 'alerts'),
      ...(connects === 'box'
        ? [status, ...reads.map((subject) => `$JS.API.${subject}`)]
        : [...[status, ...reads].map(inDomain), `${OPERATOR_INBOX}.>`]),
    ],
    subscribe: [
      commandSubject(site, '*'),
      connectionsSubject(site, '*'),
      wantedSubject(site),
      ...(connects === 'box' ? [keySubject(CONTENT_BUCKET, site)] : []),
      `${inboxPrefix(site)}.>`,
    ],
  };
};

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
      subs: -1,
      data: -1,
      payload: -1,
      type: 'user',
      version: 2,
    },
  };
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(claims)}`;
  return `${text}.${Buffer.from(account.sign(Buffer.from(text))).toString('base64url')}`;
};

const block = (name: string, text: string): string => `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n`;

export interface SiteCredentials {
  /** Contents of the file for the site: credentials of its boxes, or the configuration of its leaf node. */
  file: string;
  /** The user of the site in nats-server.conf of the hub; null: an account has signed the file, and the hub needs nothing. */
  user: object | null;
}

const allowResponses = { max: 1, expires: `${ANSWER_SECONDS}s` };

/**
 * Makes a key for the boxes of a site, with permissions for the subjects of that site alone.
 * @param accountSeed seed of the account (`SA...`) that signs it; null: the key is added to the configuration of the hub
 * @throws Error if `accountSeed` is not the seed of an account
 */
export const createCredentials = (site: string, accountSeed: string | null): SiteCredentials => {
  const user = nkeys.createUser();
  const seed = block('USER NKEY SEED', Buffer.from(user.getSeed()).toString());
  if (accountSeed !== null) {
    if (!/^SA[A-Z2-7]{56}$/.test(accountSeed)) throw new Error('an account seed begins with SA and has 58 characters');
    const jwt = signUser(site, user.getPublicKey(), nkeys.fromSeed(Buffer.from(accountSeed)));
    return { file: `${block('NATS USER JWT', jwt)}\n${seed}`, user: null };
  }
  return {
    file: seed,
    user: {
      nkey: user.getPublicKey(),
      permissions: { ...permissionsOf(site), allow_responses: allowResponses },
    },
  };
};

/**
 * Makes a password and the configuration of a leaf node: with nats-server 2.9 a leaf node can not use the seed of an nkey.
 * @param hub URL of the hub's port for leaf nodes
 */
export const createLeaf = (site: string, hub: URL): SiteCredentials => {
  const password = randomBytes(24).toString('base64url');
  const url = new URL(hub);
  url.username = site;
  url.password = password;
  const file = `# nats-server -c THIS_FILE, at the site ${site}. Its boxes have SIGNAGE_FLEET_URL=nats://ADDRESS_OF_THIS_MACHINE:4222
server_name: ${JSON.stringify(site)}
listen: "0.0.0.0:4222"
default_js_domain: { "$G": ${JSON.stringify(HUB_DOMAIN)} }
leafnodes { remotes: [ { url: ${JSON.stringify(url.href)} } ] }
`;
  return { file, user: { user: site, password, permissions: permissionsOf(site, 'leaf') } };
};

const markOf = (site: string): string => ` # site ${site}`;

/**
 * Adds the user of a site to a file that nats-server.conf includes, in the place of its user before; pure.
 * @param users contents of the file: `users: [`, a line for each user, `]`
 * @throws Error if no line of the file begins with `]`
 */
export const withUser = (users: string, site: string, user: object): string => {
  const lines = users.split('\n').filter((line) => !line.endsWith(markOf(site)));
  const end = lines.map((line) => line.startsWith(']')).lastIndexOf(true);
  if (end < 0) throw new Error('a line of the file must be "]", the end of its list of users');
  return [...lines.slice(0, end), `  ${JSON.stringify(user)}${markOf(site)}`, ...lines.slice(end)].join('\n');
};
