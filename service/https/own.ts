/**
 * The certificate of a box, which follows its addresses: signed by the authority of the site, or self-signed. It is kept,
 * so that browsers of a self-signed one ask once.
 */

import { createPrivateKey, sign, verify, type X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Authority, SiteAuthority } from '../authority/index.ts';
import type { Interfaces } from '../domain/lan-address.ts';
import { bareHost, needsZone } from '../domain/network-scope.ts';
import { type EpochMs, isTrusted } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { keepCopy } from '../platform/store/file.ts';
import { chainOf, makeCertificate, type Pair } from '../platform/x509.ts';

const DAY_MS = 86_400_000;
/** Browsers take no longer life than 398 days. */
const LIFE_MS = 397 * DAY_MS;
const MAX_NAMES = 100;
const MAX_COMMON_NAME = 64;

/** Names and addresses of a box, in a fixed order. Pure. */
export const namesOf = (
  {
    machineName,
    publicUrl,
    allowedHosts,
  }: { machineName: string; publicUrl: string | null; allowedHosts: readonly string[] },
  interfaces: Interfaces,
): string[] => {
  const short = machineName.toLowerCase().replace(/\..*$/, '');
  const addresses = Object.values(interfaces)
    .flatMap((infos = []) => infos.map(({ address }) => bareHost(address)))
    .filter((address) => !needsZone(address));
  const given = [...(publicUrl === null ? [] : [new URL(publicUrl).hostname]), ...allowedHosts].map((name) =>
    bareHost(name).toLowerCase(),
  );
  const names = new Set(['localhost', '127.0.0.1', '::1', short, `${short}.local`, ...given, ...addresses.toSorted()]);
  // IA5String (RFC 5280, 4.2.1.6).
  return [...names].filter((name) => isIP(name) > 0 || /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name)).slice(0, MAX_NAMES);
};

/** As Node spells the name in a certificate. */
const canonical = (name: string): string => {
  if (isIP(name) === 0) return `DNS:${name}`;
  if (isIP(name) === 4) return `IP Address:${name}`;
  const [head = '', tail] = name.split('%', 1)[0]?.split('::') ?? [];
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [front, back] = [groups(head), groups(tail ?? '')];
  const all = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back];
  return `IP Address:${all.map((group) => Number.parseInt(group, 16).toString(16).toUpperCase()).join(':')}`;
};

/** Whether a clock cannot date a certificate: it is before the beginning of what signs it, or was never set. */
const isUndated = (signer: X509Certificate | undefined, now: EpochMs): boolean =>
  signer === undefined ? !isTrusted(now) : now < Date.parse(signer.validFrom);

/**
 * Whether a certificate serves these names alone, and for a while: a new one is made at two thirds of its life, unless it
 * lasts for as long as what signs it. Pure.
 * @param now ms since the epoch
 */
export const serves = ({ cert }: Pair, names: readonly string[], now: number): boolean => {
  const [leaf, signer] = chainOf(cert) ?? [];
  if (leaf === undefined) return false;
  const listed = (leaf.subjectAltName ?? '').split(', ');
  const [from, to] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
  const isOfNames = names.every((name) => listed.includes(canonical(name))) && listed.length === names.length;
  const isLast = signer !== undefined && to >= Date.parse(signer.validTo);
  return isOfNames && (isUndated(signer, now) || (now >= from && now < (isLast ? to : from + ((to - from) * 2) / 3)));
};

/**
 * Whether TLS can answer with a pair, as it was once written. A key can be damaged so that only what it signs tells. Pure.
 */
export const isWhole = ({ cert, key }: Pair): boolean => {
  const [leaf, signer] = chainOf(cert) ?? [];
  if (leaf === undefined) return false;
  try {
    createSecureContext({ cert, key });
    const probe = Buffer.from(leaf.fingerprint256);
    const isItsKey = verify('sha256', probe, leaf.publicKey, sign('sha256', probe, createPrivateKey(key)));
    return isItsKey && leaf.verify((signer ?? leaf).publicKey);
  } catch {
    return false;
  }
};

/** The authority that signed a certificate; undefined: none of these did. Pure. */
const signerOf = ({ cert }: Pair, known: readonly Authority[]): Authority | undefined => {
  const [, signer] = chainOf(cert) ?? [];
  return known.find((each) => chainOf(each.signer.cert)?.[0]?.fingerprint256 === signer?.fingerprint256);
};

export interface Own {
  pair: Pair;
  /** What signed it; null: it signs itself. */
  signer: Authority | null;
  /** Names and addresses that it must not hold. */
  leftOut: readonly string[];
  /** When it would be made again, had one not been made a moment ago; in ms from now. Null: it serves. */
  againMs: number | null;
}

export const createOwn = (
  {
    dirs,
    machineName,
    now,
    monotonicNow,
    tempo,
  }: Pick<ServiceContext, 'dirs' | 'machineName' | 'now' | 'monotonicNow' | 'tempo'>,
  authority: Pick<SiteAuthority, 'known' | 'permits' | 'sign'>,
) => {
  const path = join(dirs.data, 'https.pem');
  let last: Pair | null = null;
  let madeAt = Number.NEGATIVE_INFINITY;

  /** The kept pair; one that is missing or damaged has no key. */
  const read = async (): Promise<Pair> => {
    const text = await readFile(path, 'latin1').catch(() => '');
    const [cert = '', key = ''] = text.split(/(?=-----BEGIN PRIVATE KEY-----)/);
    return isWhole({ cert, key }) ? { cert, key } : { cert: '', key: '' };
  };

  const selfSigned = (names: readonly string[]): Promise<Pair> => {
    const notBefore = now() - DAY_MS;
    const commonName = machineName.slice(0, MAX_COMMON_NAME);
    return makeCertificate({ commonName, notBefore, notAfter: notBefore + LIFE_MS, names });
  };

  /** The kept certificate if it still serves, else a new one, which is kept. At most one in a while, unless none is usable. */
  return async (names: readonly string[]): Promise<Own> => {
    last ??= await read();
    const known = authority.known();
    const [current = null] = known;
    const signer = last.key === '' ? undefined : signerOf(last, known);
    const { kept, leftOut } = current === null ? { kept: names, leftOut: [] } : await authority.permits(current, names);
    const wanted = signer && signer !== current ? (await authority.permits(signer, names)).kept : kept;
    const isUsable = last.key !== '' && (current === null ? chainOf(last.cert)?.length === 1 : signer !== undefined);
    const own = { pair: last, signer: signer ?? null, leftOut };
    if (isUsable && serves(last, wanted, now())) return { ...own, againMs: null };
    const waitMs = madeAt + tempo.https.leaf - monotonicNow();
    if (isUsable && waitMs > 0) return { ...own, againMs: waitMs };
    madeAt = monotonicNow();
    last = current === null ? await selfSigned(names) : await authority.sign(current, kept);
    await keepCopy(systemDisk, path, Buffer.from(last.cert + last.key));
    return { pair: last, signer: current, leftOut, againMs: null };
  };
};
