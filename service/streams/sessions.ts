import type { Logger } from 'pino';
import { CodedError } from '../contract/errors.ts';
import { remember } from '../domain/collections.ts';
import { limitSentences } from '../domain/wording.ts';
import type { ServiceContext } from '../module.ts';
import type { Ffmpeg } from '../platform/ffmpeg.ts';
import type { Options } from '../platform/options/index.ts';
import type { Phase } from './lifecycle.ts';
import type { Orphans } from './orphans.ts';
import { defaultPlan, type Plan } from './plan.ts';
import { createSession, type Session } from './session.ts';
import type { StreamSource } from './source.ts';

/** Whether a slide plays the stream with a key, or pages may open it as the other choice of sound; null: neither. */
export type ChoiceOf = (key: string) => 'slide' | 'other' | null;

interface Context extends Pick<ServiceContext, 'tempo'> {
  log: Logger;
  ffmpeg: Ffmpeg;
  options: Pick<Options, 'maxStreams' | 'streamIdleSeconds' | 'childEnvironment'>;
}

export interface StreamStatus {
  key: string;
  /** Its address, without credentials and path. */
  source: string;
  /** Its address without credentials, but with its path, which may be secret. */
  publicUrl: string;
  /** `failing`: its source has failed, and is tried again. */
  state: 'starting' | 'live' | 'failing';
}

export type Sessions = Awaited<ReturnType<typeof createSessions>>;

/** The maximum number of sources whose plan is remembered. */
const maxPlans = 100;

/** The running streams, each with one ffmpeg for all viewers. Orphans of an earlier service are killed first. */
export const createSessions = async ({ log, ffmpeg, tempo, options }: Context, orphans: Orphans) => {
  const { maxStreams, streamIdleSeconds, childEnvironment: environment } = options;
  const sessions = new Map<string, Session>();
  /** Sessions whose manifest or segments were fetched. */
  const watched = new WeakSet<Session>();
  /** Closing sessions whose ffmpeg still runs. */
  const ending = new Set<Promise<void>>();
  const plans = new Map<string, Plan>();
  const timing = { ...tempo.streams, idle: 1000 * streamIdleSeconds };
  let restarts = 0;
  let isClosed = false;

  /** Sought for the first stream. */
  let findingPrefix: ReturnType<Orphans['deathSignalPrefix']> | undefined;
  const swept = await orphans.sweep();
  if (swept > 0) log.warn({ swept }, 'killed ffmpeg processes that an earlier service left running');

  const retire = async (key: string): Promise<void> => {
    const gone = sessions.get(key)?.close() ?? Promise.resolve();
    sessions.delete(key);
    ending.add(gone);
    await gone;
    ending.delete(gone);
  };

  /** The time until a session without further requests ends or may be evicted, in ms. */
  const remaining = (session: Session): number =>
    (watched.has(session) ? timing.idle : Math.min(timing.unwanted, timing.idle)) - session.idle();

  /** @throws CodedError `too_many_streams` if all sessions may still be watched, and slides play those that could give way */
  const makeRoom = (choiceOf: ChoiceOf, key: string): void => {
    const sorted = [...sessions].toSorted(([, a], [, b]) => remaining(a) - remaining(b));
    const [first] = sorted;
    const wait = first === undefined ? timing.idle : remaining(first[1]);
    // A page can watch what no slide plays for as long as it likes.
    const other = choiceOf(key) === 'slide' ? sorted.find(([each]) => choiceOf(each) === 'other') : undefined;
    const next = wait > 0 ? other : first;
    if (next === undefined) {
      const seconds = Math.max(1, Math.ceil(wait / 1000));
      throw new CodedError('too_many_streams', undefined, { headers: { 'Retry-After': `${seconds}` } });
    }
    log.info({ stream: next[0] }, 'ended a stream to make room for a new one');
    void retire(next[0]);
  };

  return {
    /**
     * Returns the existing session of a source, or starts one, ending a further session if the limit is reached.
     * @param choiceOf of the streams that may give way
     * @throws CodedError `ffmpeg_unavailable`, `too_many_streams`
     */
    async open(source: StreamSource, choiceOf: ChoiceOf): Promise<Session> {
      const { key, display } = source;
      const program = sessions.has(key) ? null : await ffmpeg.find();
      findingPrefix ??= orphans.deathSignalPrefix();
      const deathSignalPrefix = await findingPrefix;
      if (isClosed) throw new CodedError('busy');
      const existing = sessions.get(key);
      if (existing) {
        existing.touch();
        return existing;
      }
      if (program === null) throw new CodedError('ffmpeg_unavailable');
      if (sessions.size >= maxStreams) makeRoom(choiceOf, key);
      const session = createSession(
        source,
        {
          log: log.child({ stream: key, source: display }),
          launcher: { ffmpegPath: program.path, environment, deathSignalPrefix, orphans },
          plan: plans.get(key) ?? defaultPlan,
          onPlan: (plan) => remember(plans, key, plan, maxPlans),
          onRestart: () => {
            restarts += 1;
          },
          onEnd: () => void retire(key),
        },
        timing,
      );
      sessions.set(key, session);
      return session;
    },

    has: (key: string): boolean => sessions.has(key),
    /**
     * Returns the session with this key and keeps it alive.
     * @throws CodedError `session_not_found`
     */
    find(key: string): Session {
      const session = sessions.get(key);
      if (!session) throw new CodedError('session_not_found');
      watched.add(session);
      session.touch();
      return session;
    },

    list: (): StreamStatus[] =>
      [...sessions].map(([key, session]) => ({
        key,
        source: session.source,
        publicUrl: session.publicUrl,
        state: session.state(),
      })),
    /** Why streams have no media, in sentences. */
    issues: (): string[] => {
      const issues = [...sessions.values()].flatMap((session) => session.issue() ?? []);
      return limitSentences([...new Set(issues)], 'streams failed');
    },
    phases: (): Phase[] => [...sessions.values()].map((session) => session.phase()),
    /** Starts of ffmpeg after the first of each session, since the start of the service. */
    restarts: (): number => restarts,

    /** Ends all streams; resolves when every ffmpeg has exited, within 3 s. */
    async close(): Promise<void> {
      isClosed = true;
      await Promise.all([...ending, ...[...sessions.values()].map((session) => session.close())]);
    },
  };
};
