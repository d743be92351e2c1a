/** A device as a page makes it: a key, and the id that is derived from it. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { deviceIdOf, formatProof, proofText } from '../../service/domain/device-proof.ts';
import { timestampText } from '../../service/domain/time.ts';

export interface ProofParts {
  nodeId: string;
  /** Default: now. */
  at?: number;
  nonce?: string;
  /** The id that is signed; default: the one of the key. */
  deviceId?: string;
}

export const makeDevice = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = String(publicKey.export({ format: 'jwk' }).x);
  const deviceId = deviceIdOf(createHash('sha256').update(Buffer.from(key, 'base64url')).digest());
  return {
    deviceId,
    key,
    /** A proof as in `x-signage-device-proof`. */
    prove: (parts: ProofParts): string => {
      const { nodeId, nonce = randomBytes(16).toString('base64url') } = parts;
      const at = timestampText(parts.at ?? Date.now());
      const text = proofText({ deviceId: parts.deviceId ?? deviceId, nodeId }, { at, nonce });
      return formatProof({
        key,
        at,
        nonce,
        signature: sign(null, Buffer.from(text), privateKey).toString('base64url'),
      });
    },
  };
};
