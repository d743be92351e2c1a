/**
 * Proofs of devices: a page signs with an Ed25519 key of its own (RFC 8032) that it is its device. A device id that a page
 * makes is derived from that key, so that nobody else can be the device. The hash and the signature are made by the caller:
 * a page that is served over plain http has no `crypto.subtle`.
 */
import { crockford } from '../contract/readable.ts';
import { timestampText } from './time.ts';

/** The number of bytes of the SHA-256 of a public key that its device id encodes: 80 bits, 16 characters. */
const ID_BYTES = 10;

/** The device id that belongs to a key. @param keyDigest the SHA-256 of the 32 bytes of the public key */
export const deviceIdOf = (keyDigest: Uint8Array): string => crockford(keyDigest.subarray(0, ID_BYTES));

/** The public key and the signature are in base64url, without padding. */
export interface DeviceProof {
  key: string;
  /** Milliseconds since the epoch, by the clock of the box that served the page; 13 digits. */
  at: string;
  /** 16 to 64 of `A-Z a-z 0-9 - _`; valid once. */
  nonce: string;
  signature: string;
}

export interface ProofScope {
  /** In its canonical form. */
  deviceId: string;
  /** The box that served the page. */
  nodeId: string;
}

/** The bytes that are signed, as text. */
export const proofText = ({ deviceId, nodeId }: ProofScope, { at, nonce }: Pick<DeviceProof, 'at' | 'nonce'>): string =>
  ['signage-device-v1', deviceId, nodeId, at, nonce].join('\n');

/** The value of the header `x-signage-device-proof`, and of `proof` in `hello`. */
export const formatProof = ({ key, at, nonce, signature }: DeviceProof): string =>
  `v1;key=${key};at=${at};nonce=${nonce};sig=${signature}`;

/** 32 and 64 bytes in base64url. The unused bits of the last characters are 0, so that each key has one spelling. */
const proofPattern = /^v1;key=([\w-]{42}[AEIMQUYcgkosw048]);at=(\d{13});nonce=([\w-]{16,64});sig=([\w-]{85}[AQgw])$/;

/** Reads what {@link formatProof} wrote; null: it is malformed. */
export const parseProof = (value: string): DeviceProof | null => {
  const [, key, at, nonce, signature] = proofPattern.exec(value) ?? [];
  if (key === undefined || at === undefined || nonce === undefined || signature === undefined) return null;
  return { key, at, nonce, signature };
};

/** What a page needs for a proof that the box takes: the box, and the time of its clock, ms since the epoch. */
export interface ProofNeeds {
  nodeId: string;
  time: number;
}

/** The value of `x-signage-device-proof-needs`, sent where a proof was not taken. */
export const formatProofNeeds = ({ nodeId, time }: ProofNeeds): string => `${nodeId};${timestampText(time)}`;

/** Reads what {@link formatProofNeeds} wrote; null: it is absent or malformed. */
export const parseProofNeeds = (value: string | null): ProofNeeds | null => {
  const [, nodeId, time] = /^([^;]+);(\d{13})$/.exec(value ?? '') ?? [];
  return nodeId === undefined ? null : { nodeId, time: Number(time) };
};
