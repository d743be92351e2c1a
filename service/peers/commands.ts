/**
 * Relays commands to all peers: to each in the order of the calls, one request at a time. What waits for a peer meanwhile
 * shares its next request. A peer that hangs holds up its own commands alone.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { CommandAnswer } from '../contract/peers.ts';
import type { Gathered } from './ask.ts';
import type { CommandTransport, RelayedCommand } from './command-transport.ts';
import type { Peer, Peers } from './peer.ts';

interface Dependencies {
  peers: Pick<Peers, 'all' | 'settled'>;
  transport: CommandTransport;
  /** ms, monotonic. */
  monotonicNow(): number;
}

export interface CommandRelay {
  /**
   * Sends a command to all peers; never rejects. Waits at most a second: a peer that takes longer degrades the result, and
   * is sent the command all the same.
   */
  relay(command: RelayedCommand): Promise<Gathered<{ sent: number }>>;
  close(): void;
}

/** How long a caller waits for a peer. */
const PATIENCE_MS = 1_000;
/** After this time without an answer the box finds out whether the peer answers at all. */
const HEDGE_MS = 250;
/** How long a command waits in the queue; its sender has given up by then. */
const MAX_AGE_MS = 10_000;
/** For how long a command is repeated, so that a host in between cannot hold it for longer. */
const MAX_REPEAT_MS = 3_000;
/** Pause before a request is repeated. */
const RETRY_MS = 250;
/** Commands that wait for one peer; more are refused. */
const MAX_WAITING = 2_000;
/** Commands in a request. */
const MAX_SHARED = 100;
/** The JSON of the commands in a request, bytes: half of what a box reads. */
const MAX_SHARED_BYTES = 32 * 1024;

interface Waiting {
  command: RelayedCommand;
  /** Of its JSON. */
  bytes: number;
  at: number;
  /** When it was sent first; null: it was not yet. */
  sentAt: number | null;
  /** Null: the peer gave no answer. */
  resolve(answer: CommandAnswer | null): void;
}

/** The commands for one peer. */
interface Line {
  waiting: Waiting[];
  isRunning: boolean;
  /** When the peer answered last, or the line began. */
  answeredAt: number;
  /** Commands do not wait for this peer until it answers again. */
  isLate: boolean;
}

/** Takes the commands of the next request out of the line. */
const takeShare = (waiting: Waiting[], most: number): Waiting[] => {
  let bytes = 0;
  const end = waiting.findIndex((each, index) => {
    bytes += each.bytes;
    return index > 0 && (index >= most || bytes > MAX_SHARED_BYTES);
  });
  return waiting.splice(0, end === -1 ? waiting.length : end);
};

const answerAll = (commands: readonly Waiting[], answers: readonly CommandAnswer[] = []): void => {
  for (const [index, { resolve }] of commands.entries()) resolve(answers[index] ?? null);
};

export const createCommandRelay = ({ peers, transport, monotonicNow }: Dependencies): CommandRelay => {
  const lines = new Map<string, Line>();
  let closed = false;

  const dropOld = ({ waiting }: Line): void => {
    const since = monotonicNow() - MAX_AGE_MS;
    const fresh = waiting.findIndex(({ at }) => at >= since);
    answerAll(waiting.splice(0, fresh === -1 ? waiting.length : fresh));
  };

  const sendShare = async (line: Line, peer: Peer): Promise<void> => {
    const takesSeveral = transport.takesSeveral(peer);
    const share = takeShare(line.waiting, takesSeveral ? MAX_SHARED : 1);
    const hedge = setTimeout(() => void transport.probe(peer), HEDGE_MS);
    for (const each of share) each.sentAt ??= monotonicNow();
    const commands = share.map(({ command }) => command);
    const result = await transport.send(peer, commands);
    clearTimeout(hedge);
    if (Array.isArray(result)) {
      line.isLate = false;
      line.answeredAt = monotonicNow();
      return answerAll(share, result);
    }
    if (result === 'late' && takesSeveral && !closed) {
      const since = monotonicNow() - MAX_REPEAT_MS;
      const repeated = share.filter(({ sentAt }) => sentAt === null || sentAt > since);
      answerAll(share.filter((each) => !repeated.includes(each)));
      line.waiting.unshift(...repeated);
      return pause(RETRY_MS, undefined, { ref: false });
    }
    answerAll(share);
    // A peer that is not listening is not waited for.
    if (result === 'away' || closed) answerAll(line.waiting.splice(0));
  };

  /** Sends what waits in a line, until it is empty. */
  const run = async (key: string, line: Line, peer: Peer): Promise<void> => {
    for (dropOld(line); line.waiting.length > 0; dropOld(line)) await sendShare(line, peer);
    line.isRunning = false;
    if (!line.isLate) lines.delete(key);
  };

  /** Resolves with the answer of a peer; null without one in time. */
  const push = (peer: Peer, command: RelayedCommand, bytes: number): Promise<CommandAnswer | null> => {
    const key = peer.nodeId ?? peer.url;
    const line = lines.get(key) ?? { waiting: [], isRunning: false, answeredAt: monotonicNow(), isLate: false };
    const isAway = peer.nodeId !== null && !peer.alive;
    if (isAway || closed || line.waiting.length >= MAX_WAITING) return Promise.resolve(null);
    lines.set(key, line);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        if (monotonicNow() - line.answeredAt >= PATIENCE_MS) line.isLate = true;
        resolve(null);
      }, PATIENCE_MS);
      timer.unref();
      const settle = (answer: CommandAnswer | null): void => {
        clearTimeout(timer);
        resolve(answer);
      };
      if (line.isLate) settle(null);
      line.waiting.push({ command, bytes, at: monotonicNow(), sentAt: null, resolve: settle });
      if (line.isRunning) return;
      line.isRunning = true;
      line.answeredAt = monotonicNow();
      void run(key, line, peer);
    });
  };

  return {
    relay: async (command) => {
      await peers.settled();
      const bytes = Buffer.byteLength(JSON.stringify(command));
      const answers = await Promise.all(peers.all().map((peer) => push(peer, command, bytes)));
      return {
        answers: answers.filter((answer) => answer !== null && 'sent' in answer),
        degraded: answers.some((answer) => answer === null || ('code' in answer && answer.code !== 'screen_not_found')),
      };
    },
    close: () => {
      closed = true;
      for (const { waiting } of lines.values()) answerAll(waiting.splice(0));
    },
  };
};
