import { createHash, createPublicKey, verify } from 'node:crypto';
import { deviceIdOf, parseProof, proofText } from '../../service/domain/device-proof.ts';

/** Whether a proof is valid for a device, and the device's id is derived from its key. */
export const isProofOf = (deviceId: string, nodeId: string, proof: string): boolean => {
  const parsed = parseProof(proof);
  if (parsed === null) return false;
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: parsed.key }, format: 'jwk' });
  const isSigned = verify(
    null,
    Buffer.from(proofText({ deviceId, nodeId }, parsed)),
    key,
    Buffer.from(parsed.signature, 'base64url'),
  );
  return (
    isSigned && deviceIdOf(createHash('sha256').update(Buffer.from(parsed.key, 'base64url')).digest()) === deviceId
  );
};
