/** Verifies that a page is the device that it says: by the key that the id is derived from. */
import { createHash } from 'node:crypto';
import { isSignedBy } from '../auth/person-keys.ts';
import { partyOf } from '../auth/throttle.ts';
import { canonicalDeviceId, isProvableId } from '../contract/readable.ts';
import { remember } from '../domain/collections.ts';
import { type DeviceProof, deviceIdOf, formatProofNeeds, parseProof, proofText } from '../domain/device-proof.ts';
import { createEmitter } from '../domain/emitter.ts';
import type { EpochMs, MonotonicMs } from '../domain/time.ts';
import { isOwnClient } from '../http/authority.ts';
import type { ServiceContext } from '../module.ts';
import type { StoredDevices } from './store.ts';

/** How far the date of a proof may be from the clock of the box, ms. */
const FRESH_MS = 300_000;
const MAX_NONCES = 10_000;
/** So that clients of the box's own address, such as a proxy's, cannot fill the memory. */
const MAX_OWN_NONCES = 100_000;
const DROP_MS = 1_000;
/** So that one address does not use up all. */
const MAX_NONCES_PER_ADDRESS = 2_000;
const SHOW_REFUSED_MS = 3_600_000;
const MAX_REFUSED = 100;

export type DeviceProofs = ReturnType<typeof createDeviceProofs>;

/** The nonces that could be used again, by the time of their proofs. */
const createUsedNonces = () => {
  const used = new Map<string, { at: EpochMs; party: string }>();
  const perParty = new Map<string, number>();
  let droppedAt = Number.NEGATIVE_INFINITY;

  const drop = (now: number): void => {
    droppedAt = now;
    for (const [nonce, { at, party }] of used) {
      if (at >= now - FRESH_MS) continue;
      used.delete(nonce);
      const left = (perParty.get(party) ?? 1) - 1;
      if (left > 0) perParty.set(party, left);
      else perParty.delete(party);
    }
  };

  /** @returns false: it was used, or there is no room */
  return (nonce: string, at: number, address: string, now: number): boolean => {
    if (used.has(nonce)) return false;
    if (now - droppedAt >= DROP_MS) drop(now);
    const party = partyOf(address);
    const ofParty = perParty.get(party) ?? 0;
    const isFull = used.size >= MAX_NONCES || ofParty >= MAX_NONCES_PER_ADDRESS;
    // A page on the machine itself always gets its proof taken.
    if (isOwnClient(address) ? used.size >= MAX_OWN_NONCES : isFull) return false;
    used.set(nonce, { at, party });
    perParty.set(party, ofParty + 1);
    return true;
  };
};

/**
 * @param stored the bindings: with a secret the first key is kept with them that a page of a bound device has proved whose id
 *   is derived from no key
 */
export const createDeviceProofs = (
  {
    ids: { nodeId },
    options: { sharedSecret, variant },
    now,
    monotonicNow,
    log,
  }: Pick<ServiceContext, 'ids' | 'options' | 'now' | 'monotonicNow' | 'log'>,
  stored: Pick<StoredDevices, 'get' | 'keepKey'>,
) => {
  // A clock that is set cannot make a proof valid again, and no proof from before a restart is taken.
  const startedAt = Math.floor(now());
  const offset = startedAt - monotonicNow();
  const time = (): number => Math.floor(offset + monotonicNow());
  const use = createUsedNonces();

  const kept = createEmitter<[deviceId: string, key: string]>();
  /** Keys that are being written, by device id. */
  const unsaved = new Map<string, string>();
  /** When another key than the kept one was proved, by device id. */
  const refused = new Map<string, MonotonicMs>();

  const isDerived = (deviceId: string, key: string): boolean =>
    deviceIdOf(createHash('sha256').update(Buffer.from(key, 'base64url')).digest()) === deviceId;

  /** Whether the key can be that of a device whose id is derived from none: the kept one, or the first after its binding. */
  const isKept = (deviceId: string, key: string): boolean => {
    const binding = stored.get(deviceId);
    if (binding === undefined || binding.screenSlug === null) return false;
    const known = binding.key ?? unsaved.get(deviceId);
    if (known === undefined || known === key) return true;
    remember(refused, deviceId, monotonicNow(), MAX_REFUSED);
    return false;
  };

  const keep = async (deviceId: string, key: string): Promise<void> => {
    unsaved.set(deviceId, key);
    try {
      if (await stored.keepKey(deviceId, key)) kept.emit(deviceId, key);
    } catch (error) {
      log.warn({ err: error, deviceId }, 'the key of a device could not be kept');
    } finally {
      unsaved.delete(deviceId);
    }
  };

  const isSigned = (deviceId: string, proof: DeviceProof): boolean => {
    const bytes = Buffer.from(proofText({ deviceId, nodeId }, proof)).toString('latin1');
    return isSignedBy(proof.key, bytes, proof.signature);
  };

  return {
    /** The clock that proofs are dated by, ms since the epoch; it is never set. */
    time,
    /**
     * Whether a proof is taken, which each is once.
     * @param proof as in `x-signage-device-proof`
     * @param address of the client
     */
    verify: (given: string, header: string, address: string): boolean => {
      const deviceId = canonicalDeviceId(given);
      const proof = parseProof(header);
      const isProvable = isProvableId(deviceId);
      if (proof === null) return false;
      // Without a secret anyone can bind any id: a key kept now would still count after a secret is set.
      if (isProvable ? !isDerived(deviceId, proof.key) : sharedSecret === null) return false;
      const at = Number(proof.at);
      if (at < startedAt || Math.abs(at - time()) > FRESH_MS || !isSigned(deviceId, proof)) return false;
      if (!isProvable && !isKept(deviceId, proof.key)) return false;
      if (!use(`${proof.key} ${proof.nonce}`, at, address, time())) return false;
      if (!isProvable && stored.get(deviceId)?.key === undefined) void keep(deviceId, proof.key);
      return true;
    },
    /**
     * Whether a page is the device only with a proof: with a secret, where the id is derived from a key, which its own page
     * always has, or a key is kept with its binding. Pages of other devices may have no key. Never in the baseline variant,
     * which does not tell pages whether their proof was taken: there only plays need it.
     * @param binding the current one, or the one before it, whose key a new binding may drop
     */
    mustProve: (given: string, binding = stored.get(given)): boolean => {
      const deviceId = canonicalDeviceId(given);
      if (sharedSecret === null || variant === 'baseline') return false;
      return isProvableId(deviceId) || unsaved.has(deviceId) || binding?.key !== undefined;
    },
    /** What a page signs once more with, as in `x-signage-device-proof-needs`. */
    needs: (): string => formatProofNeeds({ nodeId, time: time() }),
    /** Calls `listener` with each first key of a device whose id is derived from none. */
    onKey: kept.on,
    /** The devices as which a page with another key than theirs has presented itself in the last hour. */
    refusedLately: (): string[] =>
      [...refused].filter(([, at]) => monotonicNow() - at < SHOW_REFUSED_MS).map(([deviceId]) => deviceId),
  };
};
