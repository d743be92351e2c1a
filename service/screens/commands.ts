/** Runs commands. Every command passes through here, from HTTP clients as well as from peers. */
import { randomUUID } from 'node:crypto';
import type { Command, CommandResult, CommandTarget } from '../contract/commands.ts';
import { CodedError } from '../contract/errors.ts';
import type { Screen } from '../contract/playlist.ts';
import type { Peers } from '../peers/index.ts';
import type { SourceLog } from '../platform/source-log.ts';
import { type Hub, isOfDevice } from './hub.ts';
import type { TargetedCommand } from './parse.ts';
import { createRepeats } from './repeats.ts';
import type { TakeSnapshot } from './snapshot.ts';

interface Dependencies {
  hub: Pick<Hub, 'select' | 'send' | 'rename'>;
  /** Saves the name of a device; resolves when it is on the disk. @param at when another box did so */
  rename(deviceId: string, clientName: string, at?: string): Promise<{ clientName: string; updatedAt: string }>;
  takeSnapshot: TakeSnapshot;
  /** A `refresh` makes the box fetch the newest content of its peers. */
  peers: Pick<Peers, 'relayCommand' | 'refresh'>;
  /** Called by a `redirect` with its address. */
  onRedirect(url: string): void;
  /** ms, monotonic. */
  monotonicNow(): number;
}

/** How a command came to this box. */
export interface CommandOrigin {
  /** Whether a peer sent it; then it runs on this box only. */
  relayed: boolean;
  /** A screen carries out an id once in 5 minutes, on every box: a repeat gets the first result. Absent: a new one. */
  id?: string | undefined;
  /** Of the client. */
  log: SourceLog;
}

/** `undelivered`: written to no connection. */
type RunResult = 'delivered' | 'undelivered' | 'failed';

export interface Commands {
  /**
   * Runs a command on the connections of a screen, on all boxes. A target that is not connected is not an error: `sent` is 0.
   * @throws CodedError `invalid_field` if connectionId and clientId name different pages;
   *   `insufficient_storage` where a name cannot be saved
   */
  run(screen: Screen, targeted: TargetedCommand, origin: CommandOrigin): Promise<CommandResult>;
  /** The commands since the start that no peer relayed, by name and result. */
  counts(): Readonly<Record<string, Readonly<Record<RunResult, number>>>>;
}

/** The result of a command on this box or on its peers. */
interface Outcome {
  sent: number;
  degraded: boolean;
}

/** The command as pages receive it. */
const pageCommand = (command: Command): Command => {
  if (command.command !== 'setclientname') return command;
  const { updatedAt: _, ...rest } = command;
  return rest;
};

export const createCommands = ({
  hub,
  rename,
  takeSnapshot,
  peers,
  onRedirect,
  monotonicNow,
}: Dependencies): Commands => {
  const once = createRepeats<CommandResult>(monotonicNow);
  const onceHere = createRepeats<number>(monotonicNow);

  const deliver = (slug: string, { command, target }: TargetedCommand): number => {
    const chosen = hub.select(slug, target);
    const recipients =
      command.command === 'setclientname' ? chosen.filter((each) => isOfDevice(each, command.deviceId)) : chosen;
    return hub.send(
      recipients.map(({ id }) => id),
      { type: 'command', ...pageCommand(command) },
    );
  };

  /** Runs the command on the peers. */
  const relay = async (slug: string, targeted: TargetedCommand, id: string): Promise<Outcome> => {
    const { answers, degraded } = await peers.relayCommand({ slug, id, ...targeted });
    return { sent: answers.reduce((sum, { sent }) => sum + sent, 0), degraded };
  };

  /**
   * Resolves a target with a clientId to one connection on any box: the given one, or the newest of the page.
   * @throws CodedError `invalid_field` if connectionId and clientId name different connections
   */
  const resolve = async (slug: string, target: CommandTarget, relayed: boolean) => {
    const { connectionId, clientId } = target;
    if (clientId == null) return { target, degraded: false };
    const here = connectionId == null ? [] : hub.select(slug, { connectionId });
    const { connections, degraded } =
      here.length > 0 ? { connections: here, degraded: false } : await takeSnapshot(slug, relayed);
    const match = connections.findLast((each) =>
      connectionId == null ? each.clientId === clientId : each.id === connectionId,
    );
    if (match === undefined) return { target, degraded };
    if (match.clientId !== clientId) {
      const message = 'connectionId and clientId name different connections.';
      throw new CodedError('invalid_field', message, { field: 'clientId' });
    }
    // A box that did not answer may have a newer connection of the page; a connection id is unambiguous.
    return { target: { connectionId: match.id }, degraded: degraded && connectionId == null };
  };

  const isHere = (slug: string, { connectionId }: CommandTarget): boolean =>
    connectionId != null && hub.select(slug, { connectionId }).length > 0;

  /** Runs the command on this box and, where needed, on its peers. */
  const runEverywhere = async (
    slug: string,
    targeted: TargetedCommand,
    id: string,
    deliverHere: () => Promise<number>,
  ): Promise<Outcome> => {
    // Every box saves the names of devices, not only the box with the page.
    const isForAll = targeted.command.command === 'setclientname' || !isHere(slug, targeted.target);
    const relaying = isForAll ? relay(slug, targeted, id) : { sent: 0, degraded: false };
    const sent = await deliverHere();
    const remote = await relaying;
    const isComplete = targeted.target.connectionId != null && sent + remote.sent > 0;
    return { sent: sent + remote.sent, degraded: remote.degraded && !isComplete };
  };

  const counts: Record<string, Record<RunResult, number>> = {};
  const count = (name: string, result: RunResult): void => {
    const known = counts[name] ?? { delivered: 0, undelivered: 0, failed: 0 };
    counts[name] = { ...known, [result]: known[result] + 1 };
  };

  const run: Commands['run'] = async (screen, { command, target: given }, { relayed, id, log }) => {
    const { slug } = screen;
    const { target, degraded: isUncertain } = await resolve(slug, given, relayed);
    const targeted: TargetedCommand = { command, target };
    if (command.command === 'setclientname') {
      const stored = await rename(command.deviceId, command.clientName, relayed ? command.updatedAt : undefined);
      hub.rename(command.deviceId, stored.clientName);
      const { clientName: name, updatedAt } = stored;
      targeted.command = { ...command, clientName: name, updatedAt };
    }
    if (command.command === 'refresh') void peers.refresh();
    if (command.command === 'redirect') onRedirect(command.url);
    const send = async (): Promise<number> => deliver(slug, targeted);
    // A repeat can reach a box that first got the command from a peer; it then sums what each box sent the first time.
    const deliverHere = (): Promise<number> => (id === undefined ? send() : onceHere(`${slug} ${id}`, send));
    const outcome = relayed
      ? { sent: await deliverHere(), degraded: false }
      : await runEverywhere(slug, targeted, id ?? randomUUID(), deliverHere);
    const { connectionId = null, clientId = null } = given;
    const { sent } = outcome;
    log.info({ slug, command: command.command, connectionId, clientId, relayed, sent }, 'ran a command');
    return {
      screen,
      screenSlug: slug,
      command: command.command,
      connectionId: target.connectionId ?? null,
      sent,
      degraded: isUncertain || outcome.degraded,
    };
  };

  const runCounted: Commands['run'] = async (screen, targeted, origin) => {
    const { command: name } = targeted.command;
    try {
      const result = await run(screen, targeted, origin);
      if (!origin.relayed) count(name, result.sent > 0 ? 'delivered' : 'undelivered');
      return result;
    } catch (error) {
      if (!origin.relayed) count(name, 'failed');
      throw error;
    }
  };

  return {
    run: (screen, targeted, origin) => {
      const runIt = () => runCounted(screen, targeted, origin);
      return origin.id === undefined ? runIt() : once(`${origin.relayed} ${screen.slug} ${origin.id}`, runIt);
    },
    counts: () => counts,
  };
};
