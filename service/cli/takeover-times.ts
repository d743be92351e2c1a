/** From when to when a takeover lasts. */
import { mostTakeoverDays } from '../contract/console/takeover-levels.ts';

const longestMs = mostTakeoverDays * 86_400_000;
/** How far the time of the site may be behind what is known of it, ms: about what a signature allows. */
const marginMs = 60_000;

/**
 * The fields of a request. Without a start the box takes the time of the site, by which the longest time could be too long: then it
 * gets one, a little before now.
 * @param now the time of the site as it is known here, ms since the epoch
 * @param from absent: immediately
 */
export const takeoverTimes = (now: number, lengthMs: number, from?: Date): { from?: string; until: string } => {
  const start = from?.getTime() ?? (lengthMs > longestMs - marginMs ? now - marginMs : undefined);
  const end = Math.min((from?.getTime() ?? now) + lengthMs, (start ?? now) + longestMs);
  const until = new Date(end).toISOString();
  return start === undefined ? { until } : { from: new Date(start).toISOString(), until };
};
