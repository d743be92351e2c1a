/** Transport of relayed commands: in batches, or one by one to the command API, which boxes of any protocol have. */
import type { CommandAnswer } from '../contract/peers.ts';
import type { AskPeers } from './ask.ts';
import type { PeerInput } from './operations.ts';
import type { Peer } from './peer.ts';
import type { PeerAnswer } from './reply.ts';

export type RelayedCommand = PeerInput<'screens.command'>[0];

/** A command as it is sent. */
interface SentCommand extends RelayedCommand {
  /** Its age at this box, ms. */
  ageMs: number;
}

export interface CommandTransport {
  /**
   * Sends commands to a peer; never rejects. `late`: they were not answered, or not run, and can be repeated;
   * `away`: the peer is unreachable.
   * @param commands one, unless the peer takes several
   */
  send(peer: Peer, commands: readonly SentCommand[]): Promise<CommandAnswer[] | 'late' | 'away'>;
  /** Whether the peer takes batches, and runs a repeated command only once. */
  takesSeveral(peer: Peer): boolean;
  /** Liveness probe; a peer that does not answer is away. */
  probe(peer: Peer): Promise<unknown>;
}

/** Error codes of requests that were not run. */
const notCarriedOut = ['signature_stale', 'busy'];

const failureOf = (answer: Extract<PeerAnswer<unknown>, { ok: false }>, count: number) => {
  const { status, code, isLate } = answer;
  if (isLate || notCarriedOut.includes(code ?? '')) return 'late';
  if (status === null || code === 'misdirected') return 'away';
  return Array.from({ length: count }, () => ({ code: code ?? 'internal_error' }));
};

/** @param isEncrypted whether requests are: then ids are inside them, so that no intermediary can change them */
export const createCommandTransport = ({ ask }: Pick<AskPeers, 'ask'>, isEncrypted: boolean): CommandTransport => {
  const takesSeveral = ({ state }: Peer): boolean => state !== null;
  return {
    takesSeveral,
    send: async (peer, commands) => {
      const [first] = commands;
      if (first === undefined) return [];
      if (commands.length === 1 && !(isEncrypted && takesSeveral(peer))) {
        const answer = await ask(peer, 'screens.command', first);
        return answer.ok ? [answer.body] : failureOf(answer, 1);
      }
      const answer = await ask(peer, 'screens.commands', commands);
      return answer.ok ? answer.body.answers : failureOf(answer, commands.length);
    },
    probe: (peer) => ask(peer, 'boxes.probe'),
  };
};
