import type { Logger } from 'pino';
import { CodedError } from '../contract/errors.ts';
import { remember } from '../domain/recent.ts';
import type { ChildEnvironment, Ffmpeg } from './ffmpeg.ts';
import type { Orphans } from './orphans.ts';
import { hopefulPlan, type Plan } from './plan.ts';
import { createSession, type Session } from './session.ts';
import type { Source } from './source.ts';

interface Dependencies {
  log: Logger;
  ffmpeg: Ffmpeg;
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
   * The session of a source: the one that there is, else a new one, for which one that nobody wants may have to go.
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

/** Who means to watch a stream asks for it again and again until he can fetch it: who has not for so long (ms) does not. */
const unwantedAfter = 5_000;
/** Of how many sources it is remembered what ffmpeg has to do with them. */
const mostPlans = 100;

/** The streams that are on, each with one ffmpeg however many watch. What an earlier service left running ends first. */
export const createSessions = async (
  { log, ffmpeg, orphans, environment }: Dependencies,
  { maxStreams, streamIdleSeconds }: Limits,
): Promise<Sessions> => {
  const sessions = new Map<string, Session>();
  /** Those that something was fetched from. */
  const watched = new WeakSet<Session>();
  /** Sessions that are over, until their ffmpeg is gone. */
  const ending = new Set<Promise<void>>();
  const plans = new Map<string, Plan>();
  const idleAfter = 1000 * streamIdleSeconds;
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

  /** How long it is until a session ends, or has to give way, where nobody asks for it, in ms. */
  const remaining = (session: Session): number =>
    (watched.has(session) ? idleAfter : Math.min(unwantedAfter, idleAfter)) - session.idle();

  /** @throws CodedError `too_many_streams` where each of the sessions may be wanted */
  const makeWay = (): void => {
    const [next] = [...sessions].toSorted(([, a], [, b]) => remaining(a) - remaining(b));
    const wait = next === undefined ? idleAfter : remaining(next[1]);
    if (next === undefined || wait > 0) {
      const seconds = Math.max(1, Math.ceil(wait / 1000));
      throw new CodedError('too_many_streams', undefined, { headers: { 'Retry-After': `${seconds}` } });
    }
    log.info({ stream: next[0] }, 'a stream that nobody wants gives way to another');
    void retire(next[0]);
  };

  return {
    async open(source) {
      const { key, display } = source;
      const program = sessions.has(key) ? null : await ffmpeg.find();
      const leash = await findingLeash;
      if (isClosed) throw new CodedError('busy');
      const existing = sessions.get(key);
      if (existing) {
        existing.touch();
        return existing;
      }
      if (program === null) throw new CodedError('ffmpeg_unavailable');
      if (sessions.size >= maxStreams) makeWay();
      const session = createSession(
        source,
        {
          log: log.child({ stream: key, source: display }),
          launcher: { ffmpegPath: program.path, environment, leash, orphans },
          plan: plans.get(key) ?? hopefulPlan,
          onPlan: (plan) => remember(plans, key, plan, mostPlans),
          onEnd: () => void retire(key),
        },
        idleAfter,
      );
      sessions.set(key, session);
      return session;
    },

    find(key) {
      const session = sessions.get(key);
      if (!session) throw new CodedError('session_not_found');
      watched.add(session);
      session.touch();
      return session;
    },

    async close() {
      isClosed = true;
      await Promise.all([...ending, ...[...sessions.values()].map((session) => session.close())]);
    },
  };
};
