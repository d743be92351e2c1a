/** How relayed commands travel: alone to the command API, or several in one request to a box that takes them. */
import type { CommandAnswer } from '../contract/peers.ts';
import type { AskPeers } from './ask.ts';
import type { PeerInput } from './operations.ts';
import type { Peer } from './peer.ts';
import type { PeerAnswer } from './reply.ts';

export type RelayedCommand = PeerInput<'screens.command'>[0];

/** A command as it is sent. */
interface SentCommand extends RelayedCommand {
  /** For how long this box has had it, ms. */
  ageMs: number;
}

export interface CommandTransport {
  /**
   * Sends commands to a peer; never rejects. `late`: they were not answered, or not carried out, and can be repeated;
   * `away`: the peer can not be reached.
   * @param commands one, unless the peer takes several
   */
  send(peer: Peer, commands: readonly SentCommand[]): Promise<CommandAnswer[] | 'late' | 'away'>;
  /** Whether the peer takes several commands in a request, and carries out a repeated one once. */
  takesSeveral(peer: Peer): boolean;
  /** Finds out whether the peer answers at all; where it does not, it is away. */
  probe(peer: Peer): Promise<unknown>;
}

/** Codes of errors for a request that was not carried out. */
const notCarriedOut = ['signature_stale', 'busy'];

const failureOf = (answer: Extract<PeerAnswer<unknown>, { ok: false }>, count: number) => {
  const { status, code, isLate } = answer;
  if (isLate || notCarriedOut.includes(code ?? '')) return 'late';
  if (status === null || code === 'misdirected') return 'away';
  return Array.from({ length: count }, () => ({ code: code ?? 'internal_error' }));
};

/** @param isEncrypted whether requests are: then ids travel inside them, where no host in between can change them */
export const createCommandTransport = ({ ask }: Pick<AskPeers, 'ask'>, isEncrypted: boolean): CommandTransport => {
  const takesSeveral = ({ state }: Peer): boolean => state?.takesCommands === true;
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
