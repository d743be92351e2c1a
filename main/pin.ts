/** The lock of the maintenance page: a PIN, kept as scrypt makes it, and patience that grows with each wrong one. */
import { randomBytes, scrypt as scryptCallback, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { KioskState } from './service-host.ts';

type Stored = NonNullable<KioskState['pin']>;

const scrypt = promisify(scryptCallback) as (pin: string, salt: Buffer, length: number) => Promise<Buffer>;

const HASH_BYTES = 32;
/** So many wrong ones are free; each after that doubles the wait. */
const FREE_FAILURES = 4;
const SHORTEST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 15 * 60_000;

export const hashPin = async (pin: string): Promise<Stored> => {
  const salt = randomBytes(16);
  return { salt: salt.toString('hex'), hash: (await scrypt(pin, salt, HASH_BYTES)).toString('hex') };
};

/** In constant time. */
export const matchesPin = async (pin: string, { salt, hash }: Stored): Promise<boolean> =>
  timingSafeEqual(await scrypt(pin, Buffer.from(salt, 'hex'), HASH_BYTES), Buffer.from(hash, 'hex'));

/** How long the lock stays shut after so many wrong PINs in a row, ms. */
export const waitAfter = (failures: number): number =>
  failures <= FREE_FAILURES ? 0 : Math.min(LONGEST_WAIT_MS, SHORTEST_WAIT_MS * 2 ** (failures - FREE_FAILURES - 1));

type Attempt = { open: true } | { open: false; waitMs: number };

export interface Lock {
  /** @param stored what the PIN must match */
  try(pin: string, stored: Stored): Promise<Attempt>;
}

/** @param now ms of a clock that is never set */
export const createLock = (now: () => number): Lock => {
  let failures = 0;
  let shutUntil = 0;
  return {
    try: async (pin, stored) => {
      if (now() < shutUntil) return { open: false, waitMs: shutUntil - now() };
      // Counted before it is judged, so that many at a time are no way round the wait.
      failures += 1;
      const waitMs = waitAfter(failures);
      shutUntil = now() + waitMs;
      if (!(await matchesPin(pin, stored))) return { open: false, waitMs };
      failures = 0;
      shutUntil = 0;
      return { open: true };
    },
  };
};
