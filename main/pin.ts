/** The lock of the maintenance page: a PIN stored as its scrypt hash, and delays that grow with each wrong PIN. */
import { randomBytes, scrypt as scryptCallback, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { doubled } from '../service/domain/time.ts';
import type { KioskState } from './service-host.ts';

type PinHash = NonNullable<KioskState['pin']>;

const scrypt = promisify(scryptCallback) as (pin: string, salt: Buffer, length: number) => Promise<Buffer>;

const HASH_BYTES = 32;
/** How many wrong PINs cause no delay; each further one doubles it. */
const FREE_FAILURES = 4;
const SHORTEST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 15 * 60_000;

export const hashPin = async (pin: string): Promise<PinHash> => {
  const salt = randomBytes(16);
  return { salt: salt.toString('hex'), hash: (await scrypt(pin, salt, HASH_BYTES)).toString('hex') };
};

/** Compares in constant time. */
export const matchesPin = async (pin: string, { salt, hash }: PinHash): Promise<boolean> =>
  timingSafeEqual(await scrypt(pin, Buffer.from(salt, 'hex'), HASH_BYTES), Buffer.from(hash, 'hex'));

/** The delay after a number of consecutive wrong PINs, in ms. */
export const waitAfter = (failures: number): number =>
  failures <= FREE_FAILURES ? 0 : doubled(failures - FREE_FAILURES - 1, SHORTEST_WAIT_MS, LONGEST_WAIT_MS);

type Attempt = { open: true } | { open: false; waitMs: number };

/** @param monotonicNow ms */
export const createLock = (monotonicNow: () => number) => {
  let failures = 0;
  let lockedUntil = 0;
  return {
    /** Whether the next attempt would not be judged. */
    isWaiting: () => monotonicNow() < lockedUntil,
    try: async (pin: string, stored: PinHash): Promise<Attempt> => {
      if (monotonicNow() < lockedUntil) return { open: false, waitMs: lockedUntil - monotonicNow() };
      // Counted before the comparison, so that concurrent attempts are delayed too.
      failures += 1;
      const waitMs = waitAfter(failures);
      lockedUntil = monotonicNow() + waitMs;
      if (!(await matchesPin(pin, stored))) return { open: false, waitMs };
      failures = 0;
      lockedUntil = 0;
      return { open: true };
    },
  };
};
