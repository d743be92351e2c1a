/** The codes of invitations, and the join of each person that may be asked for once more because its answer was lost. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { keyIdOf } from '../auth/person-keys.ts';
import type { JoinRequest } from '../contract/console/people.ts';
import { joinInfo } from '../domain/joining.ts';
import type { MonotonicMs } from '../domain/time.ts';

const CODE_BYTES = 16;
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** How long after a join the same request is answered as it was. */
const REPEAT_MS = 600_000;

/** 26 characters of base32 (RFC 4648) for 128 bits. */
export const newCode = (): string => {
  const bits = [...randomBytes(CODE_BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.padEnd(130, '0').match(/.{5}/g) ?? []).map((five) => base32[Number.parseInt(five, 2)]).join('');
};

/** The key of the proof. @param code as it is written */
export const proofKeyOf = (code: string): Buffer =>
  Buffer.from(hkdfSync('sha256', code, new Uint8Array(), joinInfo, 32));

type Joiner = Pick<JoinRequest, 'person' | 'public_key'>;

/** The joins of the last minutes at this box, one a person; the records keep no key of an invitation that was used. */
export const createJoins = (monotonicNow: () => MonotonicMs) => {
  const joins = new Map<string, { proofKey: Buffer; keyId: string; at: MonotonicMs }>();
  return {
    add: ({ person, public_key }: Joiner, proofKey: Buffer): void =>
      void joins.set(person, { proofKey, keyId: keyIdOf(public_key), at: monotonicNow() }),
    /** The key of the proof with which this person joined with this key; null: they did not, or too long ago. */
    proofKeyOf: ({ person, public_key }: Joiner): Buffer | null => {
      const found = joins.get(person);
      if (found === undefined || monotonicNow() - found.at > REPEAT_MS) return null;
      return found.keyId === keyIdOf(public_key) ? found.proofKey : null;
    },
  };
};
