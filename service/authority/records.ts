/**
 * The records of the authorities of a site, and which of them signs. Every box comes to the same answer from the same
 * records. Pure.
 */
import { createPrivateKey, type X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { sha256 } from '../contract/terms.ts';
import { canonical } from '../domain/canonical.ts';
import { chainOf } from '../platform/x509.ts';

/** Roots that one may name as replaced; they are never forgotten. */
export const mostReplaced = 20;
/** Longer than any of these certificates is. */
const pem = z.string().max(8_192);

export const authorityRecord = z.looseObject({
  id: sha256.describe('SHA-256 of the root, DER'),
  root: pem.describe('the certificate, PEM'),
  signer: z
    .object({ cert: pem, key: pem })
    .nullable()
    .describe('the intermediate and its private key, PEM; null: the root was replaced'),
  replaces: z.array(sha256).max(mostReplaced).describe('roots that are never used again'),
  lost_at: z.iso
    .datetime()
    .nullable()
    .describe('when an older root was found; what this one has signed lasts until it ends'),
});
export type AuthorityRecord = z.infer<typeof authorityRecord>;

const DAY_MS = 86_400_000;
/** Life of the certificates of boxes. */
export const leafLifeMs = 90 * DAY_MS;
/** Life of roots and intermediates. */
export const rootLifeMs = 3_652 * DAY_MS;
/** Certificates begin a day before they are made, for clients whose clocks are late. */
export const earlyMs = DAY_MS;
/** People must install the next root in time. */
const renewMs = 180 * DAY_MS;

const later = (a: string | null, b: string | null): string | null => (a !== null && (b === null || a > b) ? a : b);

/** Of two records of one root: what was replaced stays so. Commutative, associative and idempotent. */
export const mergeAuthorities = (a: AuthorityRecord, b: AuthorityRecord): AuthorityRecord => {
  const restOf = ({ signer: _, replaces: __, lost_at: ___, ...rest }: AuthorityRecord) => rest;
  const [rest] = [restOf(a), restOf(b)].toSorted((one, other) => (canonical(one) < canonical(other) ? -1 : 1));
  const signers = [a.signer, b.signer].toSorted((one, other) => (canonical(one) < canonical(other) ? -1 : 1));
  return {
    ...(rest as ReturnType<typeof restOf>),
    signer: signers.includes(null) ? null : (signers[0] ?? null),
    replaces: [...new Set([...a.replaces, ...b.replaces])].toSorted().slice(0, mostReplaced),
    lost_at: later(a.lost_at, b.lost_at),
  };
};

/** A root that lost is kept until all that it signed has ended. @param now ms since the epoch */
export const isOver = ({ lost_at, signer }: AuthorityRecord, now: number): boolean =>
  lost_at !== null && signer !== null && Date.parse(lost_at) + leafLifeMs <= now;

/** A root that may sign, as its record holds it. */
export interface Authority {
  /** SHA-256 of the root, lower-case hex. */
  id: string;
  root: X509Certificate;
  /** PEM */
  rootPem: string;
  signer: { cert: string; key: string };
}

const read = ({ id, root: rootPem, signer }: AuthorityRecord): Authority | null => {
  const [root] = chainOf(rootPem) ?? [];
  const [intermediate] = chainOf(signer?.cert ?? '') ?? [];
  if (root === undefined || intermediate === undefined || signer === null) return null;
  try {
    const isWhole =
      root.fingerprint256.replaceAll(':', '').toLowerCase() === id &&
      root.ca &&
      intermediate.ca &&
      root.verify(root.publicKey) &&
      intermediate.checkIssued(root) &&
      intermediate.verify(root.publicKey) &&
      intermediate.checkPrivateKey(createPrivateKey(signer.key));
    return isWhole ? { id, root, rootPem, signer } : null;
  } catch {
    return null;
  }
};

/** The roots of a site. */
export interface Authorities {
  /** The one that signs: the oldest that was not replaced; null: there is none. */
  current: Authority | null;
  /** Others that were not replaced, whose certificates last until they end. */
  others: readonly Authority[];
  /** All that were ever replaced. */
  replaced: ReadonlySet<string>;
}

const startOf = ({ root }: Authority): number => Date.parse(root.validFrom);

/** What the records of a site make of its roots. Damaged ones are left out, and one that lost once never wins. */
export const authoritiesOf = (records: readonly AuthorityRecord[]): Authorities => {
  const retired = records.filter(({ signer }) => signer === null).map(({ id }) => id);
  const lost = new Set(records.flatMap(({ id, lost_at }) => (lost_at === null ? [] : id)));
  const hasLost = ({ id }: Authority): boolean => lost.has(id);
  const replaced = new Set([...retired, ...records.flatMap(({ replaces }) => replaces)]);
  const [current = null, ...others] = records
    .filter(({ id }) => !replaced.has(id))
    .flatMap((record) => read(record) ?? [])
    .toSorted((a, b) => Number(hasLost(a)) - Number(hasLost(b)) || startOf(a) - startOf(b) || (a.id < b.id ? -1 : 1));
  return { current, others, replaced };
};

/** Why the root needs attention, as a sentence; null: it does not. @param now ms since the epoch */
export const renewalNeed = ({ root }: Pick<Authority, 'root'>, now: number): string | null => {
  const [start, end] = [Date.parse(root.validFrom), Date.parse(root.validTo)];
  const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
  // It was made by a clock that was ahead, and clients refuse it until then.
  if (start > now) {
    return `The root certificate of the site is not valid before ${dayOf(start)}: if the clock of this box is right, renew it with "signage ca renew", and install the new one on the devices of people.`;
  }
  if (end > now + renewMs) return null;
  const day = dayOf(end);
  return end > now
    ? `The root certificate of the site ends on ${day}: renew it with "signage ca renew", and install the new one on the devices of people.`
    : `The root certificate of the site ended on ${day}: renew it with "signage ca renew", and install the new one on the devices of people.`;
};
