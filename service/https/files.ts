/** The certificate of the operator: a chain and its key in two files, PEM. */
import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { chainOf, type Pair } from '../platform/x509.ts';

/** What two files hold, or why it is not used: `reason` completes "HTTPS does not use the certificate ...: ". */
export type Verdict = { pair: Pair } | { reason: string };

/** Of a file; a chain with its key has some KiB. */
const MAX_BYTES = 256 * 1024;
const encrypted = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

const nameOf = ({ subject, serialNumber }: X509Certificate): string =>
  JSON.stringify(subject === undefined ? serialNumber : subject.replaceAll('\n', ', '));

const readKey = (text: string): KeyObject | null => {
  try {
    return createPrivateKey(text);
  } catch {
    return null;
  }
};

/** Why a chain and a key cannot be used; null: they can. Pure. @param now ms since the epoch */
export const faultOf = (
  { cert, key }: Pair,
  paths: { tlsCert: string; tlsKey: string },
  now: number,
): string | null => {
  const chain = chainOf(cert) ?? [];
  const [leaf] = chain;
  if (leaf === undefined) return `${paths.tlsCert} holds no certificate in PEM`;
  if (encrypted.test(key)) return `the key in ${paths.tlsKey} is encrypted; store it without a passphrase`;
  const privateKey = readKey(key);
  if (privateKey === null) return `${paths.tlsKey} holds no private key in PEM`;
  if (!leaf.checkPrivateKey(privateKey)) return `the key in ${paths.tlsKey} is not that of the certificate`;
  const ended = chain.find(({ validTo }) => Date.parse(validTo) <= now);
  if (ended !== undefined) {
    return `the certificate ${nameOf(ended)} expired at ${new Date(ended.validTo).toISOString()}`;
  }
  const wrong = chain.findIndex((each, index) => {
    const signer = chain[index + 1];
    return signer !== undefined && !(each.checkIssued(signer) && each.verify(signer.publicKey));
  });
  const [signed, other] = chain.slice(wrong);
  if (wrong >= 0 && signed !== undefined && other !== undefined) {
    return `${nameOf(signed)} is not signed by ${nameOf(other)}, which follows it in ${paths.tlsCert}`;
  }
  try {
    createSecureContext({ cert, key });
    return null;
  } catch (error) {
    return `TLS refuses it (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`;
  }
};

const readText = async (path: string): Promise<string> => {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
};

/** Reads and checks both files. @param now ms since the epoch */
export const readPair = async (paths: { tlsCert: string; tlsKey: string }, now: number): Promise<Verdict> => {
  const { tlsCert, tlsKey } = paths;
  const texts: string[] = [];
  for (const path of [tlsCert, tlsKey]) {
    try {
      texts.push(await readText(path));
    } catch (error) {
      return { reason: `${path} cannot be read (${(error as NodeJS.ErrnoException).code})` };
    }
  }
  const [cert = '', key = ''] = texts;
  const reason = faultOf({ cert, key }, { tlsCert, tlsKey }, now);
  return reason === null ? { pair: { cert, key } } : { reason };
};
