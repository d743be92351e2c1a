/** The files of a hub: keys, accounts and the configuration of nats-server. No server is needed for them. */
import { existsSync, lchownSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HUB_DOMAIN } from '../../domain/fleet-subjects.ts';
import { type HubKeys, headOfficeJwt, operatorJwt, type SiteAccount, siteJwt, systemJwt, userJwt } from './accounts.ts';
import { listSites, makeKeys, type Owner, readSite, replaceFile, type SiteKeys } from './key-folder.ts';
import { createKey, credentialsText, keyOf } from './keys.ts';

/** Where nats-server listens, `HOST:PORT`, and its certificate. */
export interface HubSetup {
  listen: string;
  /** For leaf nodes; null: none. */
  leafListen: string | null;
  /** Absolute paths; null: without TLS. */
  tls: { cert: string; key: string } | null;
}

/** Seconds since the epoch. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

/** The site's account, for {@link siteJwt}. */
export const accountOf = (site: string, { account, leaf, revoked }: SiteKeys): SiteAccount => ({
  site,
  account: keyOf(account).publicKey,
  hasLeaf: leaf !== null,
  revoked,
});

const configurationOf = (folder: string, keys: HubKeys, { listen, leafListen, tls }: HubSetup): string => {
  const now = nowSeconds();
  const quoted = JSON.stringify;
  const block = tls === null ? null : `tls { cert_file: ${quoted(tls.cert)}, key_file: ${quoted(tls.key)} }`;
  const leaf =
    leafListen === null
      ? []
      : [`leafnodes {`, `  listen: ${quoted(leafListen)}`, ...(block === null ? [] : [`  ${block}`]), '}'];
  return [
    '# Written by: signage fleet hub. It has no secrets.',
    `server_name: hub`,
    `listen: ${quoted(listen)}`,
    ...(block === null ? [] : [block]),
    // The default of 10 s closes the connection of a box whose line needs longer for the content that is wanted.
    'write_deadline: "120s"',
    `jetstream { store_dir: ${quoted(join(folder, 'store'))}, domain: ${HUB_DOMAIN} }`,
    ...leaf,
    `operator: ${operatorJwt(keys, now)}`,
    `system_account: ${keys.system.publicKey}`,
    `resolver { type: full, dir: ${quoted(join(folder, 'accounts'))}, allow_delete: true, interval: "2m", limit: 100000 }`,
    'resolver_preload {',
    `  ${keys.system.publicKey}: ${systemJwt(keys, now)}`,
    `  ${keys.headOffice.publicKey}: ${headOfficeJwt(keys, now)}`,
    '}',
    '',
  ].join('\n');
};

/** The folders that nats-server writes to. */
const SERVER_FOLDERS = ['store', 'accounts'];

/** The user of nats-server, as its folders tell; null: not known, or this is not run by root. */
const serverUser = (folder: string): Owner | null => {
  if (process.getuid?.() !== 0) return null;
  const owners = SERVER_FOLDERS.map((name) => statSync(join(folder, name), { throwIfNoEntry: false }));
  return owners.find((owner) => owner !== undefined && owner.uid !== 0) ?? null;
};

/** Writes the accounts of all sites, as their keys tell, and deletes those of others. @returns the number of sites */
const writeAccounts = (folder: string, keys: HubKeys, owner: Owner | null): number => {
  const accounts = join(folder, 'accounts');
  const sites = listSites(join(folder, 'keys'));
  const kept = new Set([keys.system.publicKey, keys.headOffice.publicKey]);
  for (const site of sites) {
    const siteKeys = readSite(join(folder, 'keys'), site);
    if (siteKeys === null) continue;
    const account = accountOf(site, siteKeys);
    kept.add(account.account);
    replaceFile(join(accounts, `${account.account}.jwt`), siteJwt(keys, account, nowSeconds()), 0o644, owner);
  }
  for (const file of readdirSync(accounts)) {
    if (/^A[A-Z2-7]{55}\.jwt$/.test(file) && !kept.has(file.slice(0, -4))) rmSync(join(accounts, file));
  }
  return sites.length;
};

/**
 * Makes the folder of a hub, or what it lacks: existing keys stay, and the accounts of sites that have keys are written
 * again. The folders that nats-server writes to, and what is in them, stay those of its user.
 * @param folder absolute
 * @throws CliError `configuration` for keys, else the error of the system
 */
export const writeHub = (folder: string, setup: HubSetup): { keys: HubKeys; sites: number } => {
  const owner = serverUser(folder);
  for (const name of SERVER_FOLDERS) {
    mkdirSync(join(folder, name), { recursive: true });
    if (owner !== null) lchownSync(join(folder, name), owner.uid, owner.gid);
  }
  const keys = makeKeys(join(folder, 'keys'));
  const credentials = join(folder, 'operator.creds');
  if (!existsSync(credentials)) {
    const user = createKey('user');
    const jwt = userJwt(keys.headOffice, { user: user.publicKey, name: 'operator', kind: 'program' }, nowSeconds());
    replaceFile(credentials, credentialsText(jwt, user.seed));
  }
  const sites = writeAccounts(folder, keys, owner);
  replaceFile(join(folder, 'nats-server.conf'), configurationOf(folder, keys, setup), 0o644);
  return { keys, sites };
};
