/** Decides which of the plays that pages report are taken, so that nobody can fill the store. Time is an argument. */
import { partyOf } from '../../auth/throttle.ts';
import type { Connection } from '../../contract/connections.ts';
import { MAX_PLAY_BYTES, MAX_PLAY_MS, type PagePlay, type PlayRefusal } from '../../contract/plays.ts';
import { canonicalDeviceId } from '../../contract/readable.ts';
import { remember } from '../../domain/collections.ts';
import { isThisMachine } from '../../domain/network-scope.ts';
import { createRate } from '../../domain/rate.ts';
import { type EpochMs, isTrusted, type MonotonicMs } from '../../domain/time.ts';

const DAY_MS = 86_400_000;
/** How old a play can be, and for how long a removed screen still has plays, ms. */
export const MAX_AGE_MS = 8 * DAY_MS;
/** How far ahead of the clock of the site a play may begin. */
const MAX_AHEAD_MS = 300_000;
/** How much longer than the time between its start and now a play may be: pages know the time only about. */
const LENGTH_TOLERANCE_MS = 5_000;
const MAX_A_MINUTE = 300;
const MAX_A_DAY = 20_000;
/** Devices with a rate of their own, and addresses. */
const MAX_PARTIES = 2_000;

/**
 * Why a play can never be taken; null: it can.
 * @param now by the clock of the site; before the clock of the box was ever set, the time of a play cannot be judged
 * @param hasScreen whether the content has the screen, or had it within {@link MAX_AGE_MS}
 */
const refusalOf = (play: PagePlay, now: EpochMs, hasScreen: boolean): PlayRefusal | null => {
  if (!hasScreen) return 'screen';
  const { started_at, duration_ms, clock } = play;
  const isDated = clock === 'synced' && isTrusted(now);
  const age = now - Date.parse(started_at);
  if (isDated && (age > MAX_AGE_MS || age < -MAX_AHEAD_MS)) return 'time';
  const longest = isDated ? Math.min(MAX_PLAY_MS, Math.abs(age) + LENGTH_TOLERANCE_MS) : MAX_PLAY_MS;
  if (duration_ms > longest) return 'length';
  return Buffer.byteLength(JSON.stringify(play)) > MAX_PLAY_BYTES ? 'size' : null;
};

/** How many plays one party may report. */
const createAllowance = () => {
  const minute = createRate(MAX_A_MINUTE, 60_000);
  let since = Number.NEGATIVE_INFINITY;
  let count = 0;
  let usedAt = Number.NEGATIVE_INFINITY;
  return {
    hasRoom: (at: MonotonicMs): boolean => minute.wait(at) === 0 && (at - since >= DAY_MS || count < MAX_A_DAY),
    take: (at: MonotonicMs): void => {
      minute.take(at);
      if (at - since >= DAY_MS) [since, count] = [at, 0];
      count += 1;
      usedAt = at;
    },
    /** Takes back a play that was counted at that time. */
    giveBack: (at: MonotonicMs): void => {
      minute.giveBack(at);
      if (at >= since) count -= 1;
    },
    /** Whether it can be forgotten without giving its party more. */
    isIdle: (at: MonotonicMs): boolean => at - usedAt >= DAY_MS,
  };
};
type Allowance = ReturnType<typeof createAllowance>;

const createAllowances = () => {
  const allowances = new Map<string, Allowance>();
  /** @returns null: too many others have one */
  return (key: string, at: MonotonicMs): Allowance | null => {
    const known = allowances.get(key);
    const [oldest] = allowances.values();
    if (known === undefined && allowances.size >= MAX_PARTIES && oldest?.isIdle(at) === false) return null;
    const allowance = known ?? createAllowance();
    remember(allowances, key, allowance, MAX_PARTIES);
    return allowance;
  };
};

interface Dependencies {
  hasSecret: boolean;
  isBound(deviceId: string): boolean;
  /** Whether the device is a display of this box. */
  isDisplay(deviceId: string): boolean;
  /** As of {@link refusalOf}. */
  hasScreen(slug: string): boolean;
}

export interface Admission {
  /** To be kept. */
  taken: PagePlay[];
  /** Can never be taken, by their reason. */
  refused: { playId: string; reason: PlayRefusal }[];
  /** The page is to report them again: it may prove its device until then. */
  unproven: number;
  /** Called with how many of `taken` were repeats, or could not be stored: they do not count towards the rates. */
  giveBack(count: number): void;
  /** Whether they come from a device that is bound or a display of this box, and has a share of the store. */
  isKnown: boolean;
}

export const createAdmission = ({ hasSecret, isBound, isDisplay, hasScreen }: Dependencies) => {
  const ofDevice = createAllowances();
  const ofAddress = createAllowances();
  const otherDevices = createAllowance();
  const otherAddresses = createAllowance();

  /** What the plays of a page are counted against. */
  const allowancesOf = ({ deviceId, clientIp }: Pick<Connection, 'deviceId' | 'clientIp'>, at: MonotonicMs) => {
    const isOwn = deviceId !== null && isDisplay(deviceId);
    const own = deviceId !== null && (isOwn || isBound(deviceId)) ? ofDevice(canonicalDeviceId(deviceId), at) : null;
    const device = own ?? otherDevices;
    // All displays of a kiosk share the address of their box.
    const hasAddress = !hasSecret && !(isOwn && isThisMachine(clientIp));
    const address = hasAddress ? [ofAddress(partyOf(clientIp), at) ?? otherAddresses] : [];
    return { isKnown: own !== null, all: [device, ...address] };
  };

  return (
    plays: readonly PagePlay[],
    page: { slug: string; connection: Pick<Connection, 'deviceId' | 'clientIp'>; proven: boolean },
    { now, at }: { now: EpochMs; at: MonotonicMs },
  ): Admission => {
    const { slug, connection, proven } = page;
    if (hasSecret && !proven)
      return { taken: [], refused: [], unproven: plays.length, isKnown: false, giveBack: () => {} };
    const { isKnown, all } = allowancesOf(connection, at);
    const giveBack = (count: number): void => {
      for (let left = count; left > 0; left -= 1) for (const each of all) each.giveBack(at);
    };
    const admission: Admission = { taken: [], refused: [], unproven: 0, isKnown, giveBack };
    for (const play of plays) {
      const reason = refusalOf(play, now, hasScreen(play.screen ?? slug));
      if (reason !== null) admission.refused.push({ playId: play.play_id, reason });
      else if (all.every((each) => each.hasRoom(at))) {
        for (const each of all) each.take(at);
        admission.taken.push(play);
      }
    }
    return admission;
  };
};
