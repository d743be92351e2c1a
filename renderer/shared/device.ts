/** The device that a page is, and its proofs of that: see `service/domain/device-proof.ts`. */
import { getPublicKey, hashes, sign, utils } from '@noble/ed25519';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { deviceHeader, deviceProofHeader, proofNeedsHeader } from '../../service/contract/onboarding.ts';
import type { PageBoot } from '../../service/contract/page.ts';
import { canonicalDeviceId } from '../../service/contract/readable.ts';
import {
  deviceIdOf,
  formatProof,
  type ProofNeeds,
  parseProofNeeds,
  proofText,
} from '../../service/domain/device-proof.ts';
import { timestampText } from '../../service/domain/time.ts';
import { base64url } from './base64url.ts';
import { findKiosk } from './kiosk.ts';
import { patientFetch } from './retry.ts';
import { recall, remember } from './storage.ts';

// Typed by the contract, but not imported, so that a phone does not load its schemas.
const header: typeof deviceHeader = 'x-signage-device';
const proofHeader: typeof deviceProofHeader = 'x-signage-device-proof';
const needsHeader: typeof proofNeedsHeader = 'x-signage-device-proof-needs';

const idKey = 'signage.deviceId';
const secretKey = 'signage.deviceKey';
/** How long the kiosk may take for a proof; then the page goes on without one. */
const KIOSK_MS = 2_000;

/** The key of this browser: made at the first visit, and kept beside the id. */
const ownKey = (): Uint8Array => {
  // By itself the library takes `crypto.subtle`, which requires a secure context, which plain http on a LAN is not.
  hashes.sha512 = sha512;
  const kept = recall(secretKey);
  if (kept !== null && /^[\da-f]{64}$/.test(kept)) return hexToBytes(kept);
  const fresh = utils.randomSecretKey();
  remember(secretKey, bytesToHex(fresh));
  return fresh;
};

/** Whether this browser has stored the device id as its own. */
export const isOwnDevice = (deviceId: string): boolean => recall(idKey) === canonicalDeviceId(deviceId);

/** The device id of this page, stable across reloads. The kiosk passes that of the display in the address. */
export const readDeviceId = (search: string): string => {
  const given = new URLSearchParams(search).get('deviceId');
  const isGiven = given !== null && /^[A-Za-z0-9._:-]{1,128}$/.test(given);
  const deviceId = isGiven ? canonicalDeviceId(given) : (recall(idKey) ?? deviceIdOf(sha256(getPublicKey(ownKey()))));
  remember(idKey, deviceId);
  return deviceId;
};

const proveHere = (deviceId: string, { nodeId, time }: ProofNeeds): string => {
  const key = ownKey();
  const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
  const at = timestampText(time);
  const signature = base64url(sign(utf8ToBytes(proofText({ deviceId, nodeId }, { at, nonce })), key));
  return formatProof({ key: base64url(getPublicKey(key)), at, nonce, signature });
};

export interface Device {
  readonly id: string;
  /** A proof that the page is the device, as in `x-signage-device-proof`; null: the kiosk makes none, or nobody asks for one. */
  prove(): Promise<string | null>;
  /** Adopts what the box tells that a proof needs. */
  adopt(needs: ProofNeeds): void;
  /**
   * `patientFetch` with the id and a proof. Where the box does not take the proof, as after its clock was set, the page signs
   * once more with what the box says.
   */
  fetch<Answer>(
    path: string,
    headers: Record<string, string>,
    read: (response: Response) => Answer | Promise<Answer>,
  ): Promise<Answer>;
}

/** @param boot tells which box served the page, and when */
export const createDevice = (id: string, { nodeId, time, isBaseline, pageToken }: PageBoot): Device => {
  let told = { nodeId, time, at: performance.now() };

  const prove = async (): Promise<string | null> => {
    // The baseline takes one for plays, with a secret.
    if (isBaseline && pageToken === null) return null;
    const needs = { nodeId: told.nodeId, time: Math.round(told.time + performance.now() - told.at) };
    const kiosk = findKiosk();
    if (kiosk === undefined) return proveHere(id, needs);
    const askKiosk = async (): Promise<string> => kiosk.prove(needs);
    const late = new Promise<null>((resolve) => setTimeout(resolve, KIOSK_MS, null));
    return Promise.race([askKiosk(), late]).catch(() => null);
  };
  const adopt = (needs: ProofNeeds): void => {
    told = { ...needs, at: performance.now() };
  };

  const ask = async <Answer>(
    path: string,
    headers: Record<string, string>,
    read: (response: Response) => Answer | Promise<Answer>,
    isRetry = false,
  ): Promise<Answer> => {
    const proof = await prove();
    const proven: Record<string, string> = proof === null ? {} : { [proofHeader]: proof };
    let needs: ProofNeeds | null = null;
    const answer = await patientFetch(path, { headers: { ...headers, [header]: id, ...proven } }, (response) => {
      needs = parseProofNeeds(response.headers.get(needsHeader));
      return read(response);
    });
    if (needs === null || proof === null || isRetry) return answer;
    adopt(needs);
    return ask(path, headers, read, true);
  };

  return {
    id,
    prove,
    adopt,
    fetch: (path, headers, read) => ask(path, headers, read),
  };
};

/** The first message of a page on the socket of a screen; that of a landing page reports what it shows. */
export const helloOf = async (identity: object, device: Device) => ({
  type: 'hello',
  ...identity,
  page: location.pathname + (location.pathname === '/' ? location.search : ''),
  viewport: { width: innerWidth, height: innerHeight, devicePixelRatio },
  proof: await device.prove(),
});
