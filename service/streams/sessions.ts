import type { Logger } from 'pino';
import { CodedError } from '../errors.ts';
import { remember } from '../recent.ts';
import type { ChildEnvironment, Ffmpeg } from './ffmpeg.ts';
import type { Orphans } from './orphans.ts';
import { hopefulPlan, type Plan } from './plan.ts';
import { createSession, type Session } from './session.ts';
import type { Source } from './source.ts';

interface Dependencies {
  log: Logger;
  ffmpeg: Pick<Ffmpeg, 'locate'>;
  orphans: Orphans;
  environment: ChildEnvironment;
}

interface Limits {
  maxStreams: number;
  /** How long a stream lives that nobody asks for. */
  streamIdleSeconds: number;
}

export interface Sessions {
  /**
   * The session of a source: the one that there is, else a new one.
   * @throws CodedError `ffmpeg_unavailable`, `too_many_streams`
   */
  open(source: Source): Promise<Session>;
  /**
   * The session of this key; asking for it keeps it alive.
   * @throws CodedError `session_not_found`
   */
  find(key: string): Session;
  /** Ends all streams; resolves when every ffmpeg is gone, within 3 s. */
  close(): Promise<void>;
}

/** Of how many sources it is remembered what ffmpeg has to do with them. */
const mostPlans = 100;

/** The streams that are on, each with one ffmpeg however many watch. What an earlier service left running ends first. */
export const createSessions = async (
  { log, ffmpeg, orphans, environment }: Dependencies,
  { maxStreams, streamIdleSeconds }: Limits,
): Promise<Sessions> => {
  const sessions = new Map<string, Session>();
  /** Sessions that are over, until their ffmpeg is gone. */
  const ending = new Set<Promise<void>>();
  const plans = new Map<string, Plan>();
  let isClosed = false;

  const findingLeash = orphans.leash();
  const swept = await orphans.sweep();
  if (swept > 0) log.warn({ swept }, 'streams of an earlier service were still running and were ended');

  const retire = async (key: string): Promise<void> => {
    const gone = sessions.get(key)?.close() ?? Promise.resolve();
    sessions.delete(key);
    ending.add(gone);
    await gone;
    ending.delete(gone);
  };

  const refuse = (): CodedError => {
    const soonest = Math.min(...[...sessions.values()].map((session) => session.remaining()));
    const seconds = Number.isFinite(soonest) ? Math.max(1, Math.ceil(soonest / 1000)) : streamIdleSeconds;
    return new CodedError('too_many_streams', undefined, { headers: { 'Retry-After': `${seconds}` } });
  };

  return {
    async open(source) {
      const { key, display } = source;
      const program = await ffmpeg.locate();
      const leash = await findingLeash;
      if (isClosed) throw new CodedError('busy');
      const existing = sessions.get(key);
      if (existing) {
        existing.touch();
        return existing;
      }
      if (program === null) throw new CodedError('ffmpeg_unavailable');
      if (sessions.size >= maxStreams) throw refuse();
      const session = createSession(
        source,
        {
          log: log.child({ stream: key, source: display }),
          launcher: { ffmpegPath: program.path, environment, leash, orphans },
          plan: plans.get(key) ?? hopefulPlan,
          onPlan: (plan) => remember(plans, key, plan, mostPlans),
          onEnd: () => void retire(key),
        },
        1000 * streamIdleSeconds,
      );
      sessions.set(key, session);
      return session;
    },

    find(key) {
      const session = sessions.get(key);
      if (!session) throw new CodedError('session_not_found');
      session.touch();
      return session;
    },

    async close() {
      isClosed = true;
      await Promise.all([...ending, ...[...sessions.values()].map((session) => session.close())]);
    },
  };
};
