/**
 * Relays commands to all peers: to each in call order, one request at a time. Commands that wait for a peer are batched
 * into its next request. A hanging peer delays only its own commands.
 *
 * No command runs more than 3 s after this box accepted it, so that an intermediary cannot delay one for longer:
 * - Each request states the age of its commands, and is dated by the peer's clock; a repeat has a new date and new ages.
 *   The peer adds the time in transit once the whole request has arrived, and drops commands that are too old.
 * - The peer signs its clock reading before it is used here, so an intermediary that delays it can only make the time
 *   earlier. If the peer's clock was set since, it refuses later times and returns its clock.
 * - A peer runs a command id only once, so a request that may have been delayed can be repeated.
 *
 * A busy or slow site loses no commands by this: callers wait before this box accepts their commands, so few commands wait
 * for a peer, and their age is about two requests. A peer must answer within that time.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type CommandAnswer, mostCommandAgeMs } from '../contract/peers.ts';
import type { MonotonicMs } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import { createSlots } from '../platform/slots.ts';
import type { AskPeers, Gathered, Overdue, PeerInput } from './operations.ts';
import type { Peer, Registry } from './registry.ts';
import type { PeerAnswer } from './reply.ts';

type RelayedCommand = PeerInput<'screens.command'>[0];

/** How long a caller waits for a peer. */
const PATIENCE_MS = 1_000;
/** How long the first command waits for a peer that was late the last time; further ones do not wait. */
const LATE_PATIENCE_MS = 100;
/** After this time without an answer the peer is probed. */
const HEDGE_MS = 250;
/** Pause before a request is repeated. */
const RETRY_MS = 250;
/** Commands that wait for one peer; more are refused. */
const MAX_WAITING = 2_000;
const MAX_SHARED = 100;
/** The JSON of the commands in a request, bytes: half of a box's limit. */
const MAX_SHARED_BYTES = 32 * 1024;
/** Commands that callers wait for: those in a request to each peer, and those of the next one. */
const MAX_TAKEN = 2 * MAX_SHARED;

interface Waiting {
  command: RelayedCommand;
  /** Of its JSON. */
  bytes: number;
  /** When this box accepted it. */
  at: MonotonicMs;
  /** Null: the peer gave no answer. */
  resolve(answer: CommandAnswer | null): void;
}

interface Line {
  waiting: Waiting[];
  isRunning: boolean;
  /** When the peer answered last, or the line began. */
  answeredAt: MonotonicMs;
  /** Callers wait less for this peer until it answers again. */
  isLate: boolean;
}

/** Removes the commands of the next request from the queue. */
const takeShare = (waiting: Waiting[], most: number): Waiting[] => {
  let bytes = 0;
  const end = waiting.findIndex((each, index) => {
    bytes += each.bytes;
    return index > 0 && (index >= most || bytes > MAX_SHARED_BYTES);
  });
  return waiting.splice(0, end === -1 ? waiting.length : end);
};

const drop = (commands: readonly Waiting[]): void => {
  for (const { resolve } of commands) resolve(null);
};

/** Whether the peer has left the command out since it, or the request, was too old or dated ahead. */
const isStale = (answer: CommandAnswer | undefined): boolean =>
  answer !== undefined && 'code' in answer && answer.code === 'signature_stale';

/** Error codes of requests that were not run. */
const notCarriedOut = ['signature_stale', 'busy'];

const failureOf = (answer: Extract<PeerAnswer<unknown>, { ok: false }>, count: number) => {
  const { status, code, isLate } = answer;
  if (isLate || notCarriedOut.includes(code ?? '')) return 'late';
  if (status === null || code === 'misdirected') return 'away';
  return Array.from({ length: count }, () => ({ code: code ?? 'internal_error' }));
};

/** Whether the peer takes batches, and runs a repeated command only once; a box of another protocol has the command API. */
const takesSeveral = ({ state }: Peer): boolean => state !== null;

export const createCommandRelay = (
  { options: { sharedSecret }, monotonicNow }: Pick<ServiceContext, 'options' | 'monotonicNow'>,
  {
    peers,
    asking: { ask },
    overdue,
  }: { peers: Pick<Registry, 'all' | 'settled'>; asking: Pick<AskPeers, 'ask'>; overdue: Pick<Overdue, 'note'> },
) => {
  const lines = new Map<string, Line>();
  const slots = createSlots(MAX_TAKEN);
  let closed = false;

  const dropOld = ({ waiting }: Line): void => {
    const since = monotonicNow() - mostCommandAgeMs;
    const fresh = waiting.findIndex(({ at }) => at >= since);
    drop(waiting.splice(0, fresh === -1 ? waiting.length : fresh));
  };

  /** Puts commands back, so that they are sent again while they are young enough. */
  const repeat = (line: Line, commands: readonly Waiting[]): Promise<void> => {
    line.waiting.unshift(...commands);
    return pause(RETRY_MS, undefined, { ref: false });
  };

  /**
   * Sends commands to a peer; never rejects. `late`: they were not answered, or not run, and can be repeated;
   * `away`: the peer is unreachable. With a secret ids are encrypted, so that no intermediary can change them.
   */
  const send = async (
    peer: Peer,
    commands: readonly (RelayedCommand & { ageMs: number })[],
  ): Promise<CommandAnswer[] | 'late' | 'away'> => {
    const [first] = commands;
    if (first === undefined) return [];
    if (commands.length === 1 && !(sharedSecret !== null && takesSeveral(peer))) {
      const answer = await ask(peer, 'screens.command', first);
      return answer.ok ? [answer.body] : failureOf(answer, 1);
    }
    const answer = await ask(peer, 'screens.commands', commands);
    return answer.ok ? answer.body.answers : failureOf(answer, commands.length);
  };

  const sendShare = async (line: Line, peer: Peer): Promise<void> => {
    const share = takeShare(line.waiting, takesSeveral(peer) ? MAX_SHARED : 1);
    const hedge = setTimeout(() => void ask(peer, 'boxes.probe'), HEDGE_MS);
    const commands = share.map(({ command, at }) => ({ ...command, ageMs: Math.ceil(monotonicNow() - at) }));
    const result = await send(peer, commands);
    clearTimeout(hedge);
    if (Array.isArray(result)) {
      line.isLate = false;
      line.answeredAt = monotonicNow();
      const stale = share.filter((_, index) => isStale(result[index]));
      for (const [index, { resolve }] of share.entries()) {
        if (!isStale(result[index])) resolve(result[index] ?? null);
      }
      if (stale.length > 0 && !closed) await repeat(line, stale);
      return;
    }
    if (result === 'late' && takesSeveral(peer) && !closed) return repeat(line, share);
    drop(share);
    // Do not wait for an unreachable peer.
    if (result === 'away' || closed) drop(line.waiting.splice(0));
  };

  const run = async (key: string, line: Line, peer: Peer): Promise<void> => {
    for (dropOld(line); line.waiting.length > 0; dropOld(line)) await sendShare(line, peer);
    line.isRunning = false;
    if (!line.isLate) lines.delete(key);
  };

  /** Resolves with the answer of a peer; null without one in time. */
  const push = (peer: Peer, command: RelayedCommand, bytes: number): Promise<CommandAnswer | null> => {
    const key = peer.nodeId ?? peer.url;
    const line = lines.get(key) ?? { waiting: [], isRunning: false, answeredAt: 0, isLate: false };
    const isAway = peer.nodeId !== null && !peer.alive;
    if (isAway || closed || line.waiting.length >= MAX_WAITING) return Promise.resolve(null);
    lines.set(key, line);
    const takenAt = monotonicNow();
    if (!line.isRunning) line.answeredAt = takenAt;
    return new Promise((resolve) => {
      const patience = line.isLate ? LATE_PATIENCE_MS : PATIENCE_MS;
      const timer = setTimeout(() => {
        if (line.answeredAt <= takenAt) line.isLate = true;
        resolve(null);
      }, patience);
      timer.unref();
      const settle = (answer: CommandAnswer | null): void => {
        clearTimeout(timer);
        resolve(answer);
      };
      if (line.isLate && line.isRunning) settle(null);
      line.waiting.push({ command, bytes, at: takenAt, resolve: settle });
      if (line.isRunning) return;
      line.isRunning = true;
      void run(key, line, peer);
    });
  };

  return {
    /**
     * Sends a command to all peers; never rejects. Waits at most a second: a slower peer degrades the result, and
     * is still sent the command.
     */
    relay: async (command: RelayedCommand): Promise<Gathered<{ sent: number }>> => {
      await peers.settled();
      const bytes = Buffer.byteLength(JSON.stringify(command));
      const all = peers.all();
      const answers = await slots.run(() => Promise.all(all.map((peer) => push(peer, command, bytes))));
      const missing = all.filter((peer, index) => {
        const answer = answers[index];
        const isRefused = answer != null && 'code' in answer && answer.code !== 'screen_not_found';
        return overdue.note(peer, 'screens.command', isRefused ? 'failed' : answer === null ? 'late' : 'answered');
      });
      return {
        answers: answers.filter((answer) => answer !== null && 'sent' in answer),
        degraded: missing.length > 0,
      };
    },
    close: (): void => {
      closed = true;
      for (const { waiting } of lines.values()) drop(waiting.splice(0));
    },
  };
};
