/** The self-signed certificate of a box, which follows its addresses. It is kept, so that browsers ask once. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Interfaces } from '../domain/lan-address.ts';
import { bareHost, needsZone } from '../domain/network-scope.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { keepCopy } from '../platform/store/file.ts';
import type { Pair } from './files.ts';

const DAY_MS = 86_400_000;
/** Browsers take no longer life than 398 days. */
const LIFE_MS = 397 * DAY_MS;
const MAX_NAMES = 100;

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

/** Whether a certificate serves these names, and for a while: a new one is made at two thirds of its life. Pure. */
export const serves = ({ cert }: Pair, names: readonly string[], now: number): boolean => {
  try {
    const { subjectAltName = '', validFrom, validTo } = new X509Certificate(cert);
    const listed = subjectAltName.split(', ');
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
    const isOfNames = names.every((name) => listed.includes(canonical(name)));
    const isOfNoOthers = listed.length === names.length;
    return isOfNames && isOfNoOthers && now >= from && now < from + ((to - from) * 2) / 3;
  } catch {
    return false;
  }
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

const pem = (label: string, bytes: ArrayBuffer): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(bytes).toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;

/** Makes a self-signed certificate (ECDSA P-256). @param now ms since the epoch */
const make = async (machineName: string, names: readonly string[], now: number): Promise<Pair> => {
  // The library needs it, and takes tens of milliseconds: only where there is no certificate yet.
  await import('reflect-metadata');
  const {
    BasicConstraintsExtension,
    ExtendedKeyUsageExtension,
    SubjectAlternativeNameExtension,
    X509CertificateGenerator,
  } = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [machineName.slice(0, 64)] }],
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now - DAY_MS + LIFE_MS),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(false),
      new ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1']),
      new SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) > 0 ? ('ip' as const) : ('dns' as const), value })),
      ),
    ],
  });
  return {
    cert: `${certificate.toString('pem')}\n`,
    key: pem('PRIVATE KEY', await crypto.subtle.exportKey('pkcs8', keys.privateKey)),
  };
};

/** The kept certificate if it still serves, else a new one, which is kept. */
export const createOwn = ({ dataDir, machineName }: { dataDir: string; machineName: string }) => {
  const path = join(dataDir, 'https.pem');
  let last: Pair | null = null;
  return async (names: readonly string[], now: number): Promise<Pair> => {
    if (last === null) {
      const text = await readFile(path, 'latin1').catch(() => '');
      const [cert = '', key = ''] = text.split(/(?=-----BEGIN PRIVATE KEY-----)/);
      last = { cert, key };
    }
    if (serves(last, names, now) && last.key !== '') return last;
    last = await make(machineName, names, now);
    await keepCopy(systemDisk, path, Buffer.from(last.cert + last.key));
    return last;
  };
};
