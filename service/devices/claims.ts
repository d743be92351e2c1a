/**
 * Claim codes: a landing page that has proved its device shows one; a client that sends it has seen the display. They are kept
 * in memory only, and nothing but the answer to that page holds one.
 */
import { randomBytes } from 'node:crypto';
import { partyOf } from '../auth/throttle.ts';
import { CodedError, tooManyRequests } from '../contract/errors.ts';
import { claimCode } from '../contract/onboarding.ts';
import { mostAskedClaims } from '../contract/peers.ts';
import { canonicalClaim, canonicalDeviceId, crockford } from '../contract/readable.ts';
import { remember } from '../domain/collections.ts';
import { createRates } from '../domain/rate.ts';
import type { MonotonicMs } from '../domain/time.ts';
import { isOwnClient } from '../http/authority.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';

const MAX_CODES = 1_000;
const MAX_CODES_PER_ADDRESS = 50;
/** A code ends so long after the page was last heard of, and so long after it was made, ms. */
const UNHEARD_MS = 60_000;
const LIFETIME_MS = 12 * 3_600_000;
/** How long a bound device may show a code after an operator has opened its landing page. */
const OPENED_MS = 600_000;
const MAX_OPENED = 1_000;

/** Wrong codes of an address within the window, after which further wrong ones are refused as too many. */
const MAX_WRONG = 10;
const WRONG_WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;
/** Questions to the other boxes that wait for a round. */
const MAX_WAITING = 1_000;

interface Code {
  code: string;
  /** Of the page's address. */
  party: string;
  madeAt: MonotonicMs;
  heardAt: MonotonicMs;
}

interface Question {
  deviceId: string;
  claim: string;
  /** Wrong codes of the address that asks; those of addresses without any come first. */
  wrong: number;
  answer(isRight: boolean): void;
}

export type Claims = ReturnType<typeof createClaims>;

/** Asks the other boxes, in rounds. */
const createAsk = (
  peers: Pick<Peers, 'isAlone' | 'broadcast'>,
  roundMs: number,
): ((question: Omit<Question, 'answer'>) => Promise<boolean>) => {
  let waiting: Question[] = [];
  let isRunning = false;

  const askRound = async (): Promise<void> => {
    const asked = waiting.slice(0, mostAskedClaims);
    waiting = waiting.slice(mostAskedClaims);
    const { answers } = await peers.broadcast(
      'devices.claims',
      asked.map(({ deviceId, claim }) => ({ deviceId, claim })),
    );
    asked.forEach(({ answer }, index) => {
      answer(answers.some(({ right }) => right[index] === true));
    });
  };

  const run = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    while (waiting.length > 0) {
      const pause = new Promise((resolve) => setTimeout(resolve, roundMs));
      await Promise.all([askRound(), pause]);
    }
    isRunning = false;
  };

  return async (question) => {
    if (peers.isAlone()) return false;
    return new Promise((resolve) => {
      waiting = [...waiting, { ...question, answer: resolve }].toSorted((a, b) => a.wrong - b.wrong);
      // The last one is of the address with the most wrong codes.
      if (waiting.length > MAX_WAITING) waiting.pop()?.answer(false);
      void run();
    });
  };
};

export const createClaims = (
  { monotonicNow, tempo }: Pick<ServiceContext, 'monotonicNow' | 'tempo'>,
  peers: Pick<Peers, 'isAlone' | 'broadcast'>,
) => {
  const codes = new Map<string, Code>();
  const opened = new Map<string, MonotonicMs>();
  const wrongCodes = createRates(MAX_WRONG, WRONG_WINDOW_MS, MAX_ADDRESSES);
  const isRightThere = createAsk(peers, tempo.devices.round);

  const isLive = ({ madeAt, heardAt }: Code): boolean =>
    monotonicNow() - heardAt < UNHEARD_MS && monotonicNow() - madeAt < LIFETIME_MS;

  const hasRoom = (address: string): boolean => {
    for (const [key, code] of codes) if (!isLive(code)) codes.delete(key);
    if (isOwnClient(address)) return true;
    const ofAddress = [...codes.values()].filter(({ party }) => party === partyOf(address)).length;
    return codes.size < MAX_CODES && ofAddress < MAX_CODES_PER_ADDRESS;
  };

  const isRightHere = (deviceId: string, claim: string): boolean => {
    const known = codes.get(canonicalDeviceId(deviceId));
    return known !== undefined && isLive(known) && known.code === claim;
  };

  return {
    /**
     * The code of a device whose page has just proved to be it; a new one where the last has ended.
     * @param address of the page
     * @returns null: there are too many codes
     */
    codeFor: (deviceId: string, address: string): string | null => {
      const key = canonicalDeviceId(deviceId);
      const heardAt = monotonicNow();
      const known = codes.get(key);
      if (known !== undefined && isLive(known)) {
        known.heardAt = heardAt;
        return known.code;
      }
      codes.delete(key);
      if (!hasRoom(address)) return null;
      const code = crockford(randomBytes(10)).slice(0, 10);
      codes.set(key, { code, party: partyOf(address), madeAt: heardAt, heardAt });
      return code;
    },
    /** Whether a page of this box shows the code for the device. */
    isRightHere,
    /**
     * Resolves if the code of a device is right: one that a page of any box shows.
     * @param typed as sent; undefined: none was
     * @param address of the client
     * @throws CodedError `claim_required`, `claim_invalid`, or `too_many_requests` after too many wrong ones
     */
    check: async (deviceId: string, typed: string | undefined, address: string): Promise<void> => {
      const claim = canonicalClaim(typed ?? '');
      if (claim === '') throw new CodedError('claim_required');
      const rate = wrongCodes(partyOf(address));
      const at = monotonicNow();
      const wrong = rate.count(at);
      // Before it is known to be wrong, so that many at once do not count as none.
      const isCounted = rate.take(at);
      const isCode = claimCode.safeParse(claim).success;
      if (isCode && (isRightHere(deviceId, claim) || (await isRightThere({ deviceId, claim, wrong })))) {
        if (isCounted) rate.giveBack(at);
        return;
      }
      const cause = new CodedError('claim_invalid');
      if (isCounted) throw cause;
      throw tooManyRequests(rate.wait(monotonicNow()) / 1_000, undefined, cause);
    },
    end: (deviceId: string): void => {
      codes.delete(canonicalDeviceId(deviceId));
      opened.delete(canonicalDeviceId(deviceId));
    },
    /** Lets a bound device show a code for ten minutes. */
    open: (deviceId: string): void => remember(opened, canonicalDeviceId(deviceId), monotonicNow(), MAX_OPENED),
    isOpened: (deviceId: string): boolean =>
      monotonicNow() - (opened.get(canonicalDeviceId(deviceId)) ?? Number.NEGATIVE_INFINITY) < OPENED_MS,
  };
};
