/** Makes and renews the credentials of sites at a running hub. */
import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import type { UserCredentials } from '../../platform/nats.ts';
import { CliError } from '../exit.ts';
import { visible } from '../text.ts';
import { type HubKeys, siteJwt, userJwt } from './accounts.ts';
import { accountOf, nowSeconds } from './hub-files.ts';
import { readSite, type SiteKeys, writeSite } from './key-folder.ts';
import { accountIn, createKey, credentialsText, type Key, keyOf, signClaims } from './keys.ts';

/** How long a user for one run is of use, seconds: the clock of the hub may differ. */
const RUN_SECONDS = 3_600;
const ANSWER_MS = 8_000;
/**
 * A revocation refuses what was issued until then, seconds since the epoch. A key gets one JWT, which a clock that was ahead
 * may have dated: this is later than any (end of the year 9999).
 */
const REVOKED_UNTIL = 253_402_300_799;

/** Credentials of an account of the hub, only for this run. */
const runCredentials = (account: Key): UserCredentials => {
  const [user, now] = [createKey('user'), nowSeconds()];
  const claims = { user: user.publicKey, name: 'signage', kind: 'program', expiresAt: now + RUN_SECONDS } as const;
  return { jwt: userJwt(account, claims, now), seed: user.seed };
};
export const systemCredentials = ({ system }: Pick<HubKeys, 'system'>): UserCredentials => runCredentials(system);
export const headOfficeCredentials = ({ headOffice }: Pick<HubKeys, 'headOffice'>): UserCredentials =>
  runCredentials(headOffice);

/** Asks the resolver of the hub. @throws CliError if it refuses */
const askResolver = async (nats: NatsConnection, action: 'UPDATE' | 'DELETE', jwt: string): Promise<void> => {
  const answer = await nats
    .request(`$SYS.REQ.CLAIMS.${action}`, jwt, { timeout: ANSWER_MS })
    .catch((error: unknown) => {
      const isSilent = error instanceof errors.RequestError && error.isNoResponders();
      if (!isSilent) throw error;
      throw new CliError('refused', 'The hub keeps no accounts: its configuration is not that of "signage fleet hub".');
    });
  const { error } = answer.json<{ error?: { description?: string } }>();
  if (error !== undefined) {
    throw new CliError('refused', `The hub refuses the account: ${visible(String(error.description ?? 'no reason'))}.`);
  }
};

/** The server of the site: its boxes connect to it with their own credentials, and it to the hub. */
const leafConfiguration = (site: string, boxes: string, url: string, credentials: string): string =>
  [
    `# nats-server -c THIS_FILE, at the site ${site}; its boxes have SIGNAGE_FLEET_URL=nats://ADDRESS_OF_THIS_MACHINE:4222`,
    '# On another machine, change the path of the credentials, which only nats-server may read.',
    `server_name: ${JSON.stringify(site)}`,
    'listen: "0.0.0.0:4222"',
    `authorization { users: [ { nkey: ${boxes} } ] }`,
    `leafnodes { remotes: [ { url: ${JSON.stringify(url)}, credentials: ${JSON.stringify(credentials)} } ] }`,
    '',
  ].join('\n');

interface Renewal {
  site: string;
  keys: HubKeys;
  keysFolder: string;
  /** Absolute path of the `.creds` file. One that exists is replaced if it is of the same site. */
  output: string;
  /** The hub's port for leaf nodes; null: that of before, if there was one. */
  leafUrl: string | null;
}

/** @throws CliError `usage` if there is something else than credentials of the site's account */
const checkReplaceable = async (path: string, site: string, account: string): Promise<void> => {
  const found = await stat(path).catch(() => null);
  if (found === null || (found.isFile() && accountIn(await readFile(path, 'utf8').catch(() => '')) === account)) return;
  throw new CliError('usage', `${visible(path)} exists already, and is no key of ${site}; name another file.`);
};

/**
 * Makes the account of a site, or a new key for it, whose predecessor is revoked.
 * @param nats of the system account
 * @returns the files that were written
 * @throws CliError
 */
export const renewSite = async (
  nats: NatsConnection,
  { site, keys, keysFolder, output, leafUrl }: Renewal,
): Promise<string[]> => {
  const before = readSite(keysFolder, site);
  const account = before === null ? createKey('account') : keyOf(before.account);
  const now = nowSeconds();
  const boxes = createKey('user');
  const url = leafUrl ?? before?.leaf?.url ?? null;
  const leaf = url === null ? null : { key: createKey('user'), url };
  const revoked = [...Object.keys(before?.revoked ?? {}), before?.boxes, before?.leaf?.key].filter(
    (key) => key !== undefined,
  );
  const after: SiteKeys = {
    account: account.seed,
    boxes: boxes.publicKey,
    leaf: leaf && { key: leaf.key.publicKey, url: leaf.url },
    revoked: Object.fromEntries(revoked.map((key) => [key, REVOKED_UNTIL])),
  };
  const userOf = (user: typeof boxes, kind: 'box' | 'leaf'): string =>
    credentialsText(userJwt(account, { user: user.publicKey, name: site, kind }, now), user.seed);

  const files = [{ path: output, text: userOf(boxes, 'box') }];
  if (leaf !== null) {
    const [configuration, credentials] = [`${output}.leaf.conf`, `${output}.leaf.creds`];
    files.push(
      { path: configuration, text: leafConfiguration(site, boxes.publicKey, leaf.url, credentials) },
      { path: credentials, text: userOf(leaf.key, 'leaf') },
    );
  }
  const suffix = `.${randomBytes(4).toString('hex')}.part`;
  const unwritable = (path: string) => (error: NodeJS.ErrnoException) => {
    throw new CliError('usage', `${visible(path)} cannot be written (${error.code}).`);
  };
  await checkReplaceable(output, site, account.publicKey);
  try {
    for (const { path, text } of files) {
      await writeFile(path + suffix, text, { mode: 0o600, flag: 'wx', flush: true }).catch(unwritable(path));
    }
    writeSite(keysFolder, site, after);
    await askResolver(nats, 'UPDATE', siteJwt(keys, accountOf(site, after), now)).catch((error: unknown) => {
      writeSite(keysFolder, site, before);
      throw error;
    });
    for (const { path } of files) await rename(path + suffix, path).catch(unwritable(path));
  } finally {
    for (const { path } of files) await rm(path + suffix, { force: true });
  }
  return files.map(({ path }) => path);
};

/** Deletes the account of a site. @returns whether it had one; @throws CliError `refused` */
export const revokeSite = async (
  nats: NatsConnection,
  keys: HubKeys,
  keysFolder: string,
  site: string,
): Promise<boolean> => {
  const before = readSite(keysFolder, site);
  if (before === null) return false;
  const { operator } = keys;
  const nat = { type: 'generic', accounts: [keyOf(before.account).publicKey] };
  const jwt = signClaims(operator, { subject: operator.publicKey, name: 'delete', nats: nat }, nowSeconds());
  await askResolver(nats, 'DELETE', jwt);
  writeSite(keysFolder, site, null);
  return true;
};
