/** Parses and runs commands. Every command passes through here, from HTTP clients as well as from peers. */
import { randomUUID } from 'node:crypto';
import { commandNames } from '../contract/command-names.ts';
import { type Command, type CommandResult, type CommandTarget, commandRequest } from '../contract/commands.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import type { Screen } from '../contract/playlist.ts';
import type { Variant } from '../contract/terms.ts';
import { isMediaName } from '../domain/media-names.ts';
import { type RedirectTarget, redirectTarget } from '../domain/redirect.ts';
import type { MonotonicMs } from '../domain/time.ts';
import type { Peers } from '../peers/index.ts';
import type { SourceLog } from '../platform/source-log.ts';
import { type Hub, isOfDevice } from './hub.ts';
import type { Snapshot, TakeAll, TakeSnapshot } from './snapshot.ts';

interface TargetedCommand {
  command: Command;
  target: CommandTarget;
  /** The device that a targeted connection must be of; null: any. */
  deviceId: string | null;
}

const invalidField = (field: string, message: string): CodedError =>
  new CodedError('invalid_field', message, { field });

/** @throws CodedError `invalid_field` for a page of this service that would not receive further commands */
const readRedirect = (url: string, isOwn: (url: URL) => boolean): RedirectTarget => {
  const target = redirectTarget(url, isOwn);
  if (target === null || (target.kind === 'media' && !isMediaName(target.name))) {
    throw invalidField('url', 'url is not valid: on this service only /screen/SLUG and /media/NAME can be shown.');
  }
  return target;
};

/**
 * Parses the body of a command request.
 * @param isOwn whether an absolute URL refers to this service
 * @throws CodedError `missing_field`, `invalid_field` or `unknown_command`
 */
export const parseCommand = (
  body: Record<string, unknown>,
  variant: Variant,
  isOwn: (url: URL) => boolean,
): TargetedCommand => {
  if (body.command == null) throw new CodedError('missing_field', 'command is missing.', { field: 'command' });
  if (typeof body.command !== 'string') throw invalidField('command', 'command must be a string.');
  const names = commandNames(variant);
  if (!names.some((name) => name === body.command)) {
    const message = `${JSON.stringify(body.command.slice(0, 64))} is not a command; the commands are ${names.join(', ')}.`;
    throw new CodedError('unknown_command', message, { field: 'command' });
  }
  const { connectionId, clientId, ...command } = readFields(commandRequest, body);
  const target = { connectionId, clientId };
  if (command.command === 'setclientname') return { command, target, deviceId: command.deviceId };
  if (command.command !== 'redirect') return { command, target, deviceId: null };
  const shown = readRedirect(command.url, isOwn);
  const deviceId = shown.kind === 'code' ? shown.deviceId : null;
  if (deviceId !== null && connectionId == null && clientId == null) {
    throw invalidField(
      'url',
      'url is not valid: a code is shown only by the page that connectionId or clientId names.',
    );
  }
  return { command: { ...command, url: shown.url }, target, deviceId };
};

/** For how long the id of a command is remembered, ms. */
const REMEMBER_MS = 300_000;
/** Maximum number of remembered ids; beyond it the oldest is forgotten early. */
const MAX_IDS = 20_000;

/** Carries out each identified request once: a repeat gets the first result. */
export const createRepeats = <Result>(monotonicNow: () => MonotonicMs) => {
  const known = new Map<string, { result: Promise<Result>; at: MonotonicMs }>();

  const forgetOld = (): void => {
    for (const [id, { at }] of known) {
      if (known.size < MAX_IDS && monotonicNow() - at < REMEMBER_MS) return;
      known.delete(id);
    }
  };

  /**
   * Runs `job`, or returns the result of the job that ran with this id in the last 5 minutes, which may still be running.
   * A job that failed is not remembered.
   */
  return (id: string, job: () => Promise<Result>): Promise<Result> => {
    const first = known.get(id);
    if (first !== undefined && monotonicNow() - first.at < REMEMBER_MS) return first.result;
    known.delete(id);
    forgetOld();
    const result = job();
    known.set(id, { result, at: monotonicNow() });
    result.catch(() => known.delete(id));
    return result;
  };
};

interface Dependencies {
  hub: Pick<Hub, 'select' | 'selectAnywhere' | 'send' | 'rename' | 'locationsOf'>;
  /** Saves the name of a device; resolves when it is on the disk. @param at when another box did so */
  rename(deviceId: string, clientName: string, at?: string): Promise<{ clientName: string; updatedAt: string }>;
  takeSnapshot: TakeSnapshot;
  takeAll: TakeAll;
  /** A `refresh` makes the box fetch the newest content of its peers. */
  peers: Pick<Peers, 'relayCommand' | 'refresh'>;
  /** Called by a `redirect` with its address. */
  onRedirect(url: string): void;
  /** Called when a page of this box is sent to the landing page of its device, to show a claim code. */
  onShowCode(deviceId: string): void;
}

/** How a command came to this box. */
export interface CommandOrigin {
  /** Whether a peer sent it; then it runs on this box only. */
  relayed: boolean;
  /**
   * A screen carries out an id once in 5 minutes, on every box: a repeat gets the first result. That of a signed command is
   * its nonce, so that a host on the way cannot have two boxes carry it out. Absent: a new one.
   */
  id?: string | undefined;
  log: SourceLog;
}

/** `undelivered`: written to no connection. */
type RunResult = 'delivered' | 'undelivered' | 'failed';

export type Commands = ReturnType<typeof createCommands>;

/** The result of a command on this box or on its peers. */
interface Outcome {
  sent: number;
  degraded: boolean;
}

const isTargeted = ({ connectionId, clientId }: CommandTarget): boolean => connectionId != null || clientId != null;

export const createCommands = (
  monotonicNow: () => MonotonicMs,
  { hub, rename, takeSnapshot, takeAll, peers, onRedirect, onShowCode }: Dependencies,
) => {
  const once = createRepeats<CommandResult>(monotonicNow);
  const onceHere = createRepeats<number>(monotonicNow);

  /** Names a device to its connections on all screens. @returns how many of those that are meant got it */
  const deliverName = (slug: string, { command, target }: TargetedCommand): number => {
    if (command.command !== 'setclientname') return 0;
    const { updatedAt: _, ...rest } = command;
    const isMeant = isTargeted(target) ? new Set(hub.selectAnywhere(slug, target).map(({ id }) => id)) : null;
    const ids = hub.locationsOf(command.deviceId).map(({ connectionId }) => connectionId);
    const meant = ids.filter((id) => isMeant?.has(id) ?? true);
    hub.send(
      ids.filter((id) => !meant.includes(id)),
      { type: 'command', ...rest },
    );
    return hub.send(meant, { type: 'command', ...rest });
  };

  const deliver = (slug: string, targeted: TargetedCommand): number => {
    const { command, target, deviceId } = targeted;
    if (command.command === 'setclientname') return deliverName(slug, targeted);
    const selected = hub.select(slug, target);
    const recipients = deviceId === null ? selected : selected.filter((each) => isOfDevice(each, deviceId));
    // Before the page arrives there.
    if (deviceId !== null && recipients.length > 0) onShowCode(deviceId);
    return hub.send(
      recipients.map(({ id }) => id),
      { type: 'command', ...command },
    );
  };

  /**
   * Resolves a target with a clientId to one connection on any box: the newest of the page, which is the given one if both
   * are given. For a name that is one of any screen, where the screen of the command has none.
   * @throws CodedError `invalid_field` if connectionId and clientId name different connections, or one of another device
   */
  const resolve = async (slug: string, { command, target, deviceId }: TargetedCommand, relayed: boolean) => {
    const { connectionId, clientId } = target;
    if (!isTargeted(target) || (clientId == null && deviceId === null)) return { target, degraded: false };
    const newestIn = ({ connections }: Snapshot) => connections.findLast((each) => each.clientId === clientId);
    const matchIn = (snapshot: Snapshot) =>
      connectionId == null ? newestIn(snapshot) : snapshot.connections.find(({ id }) => id === connectionId);
    const here = clientId == null ? hub.select(slug, { connectionId }) : [];
    let snapshot = here.length > 0 ? { connections: here, degraded: false } : await takeSnapshot(slug, relayed);
    // A name is that of a device, on whatever screen its page is.
    const isAnywhere = command.command === 'setclientname' && !relayed;
    if (isAnywhere && matchIn(snapshot) === undefined) snapshot = await takeAll();
    const { degraded } = snapshot;
    const match = matchIn(snapshot);
    if (match === undefined) return { target, degraded };
    if (clientId != null && newestIn(snapshot)?.id !== match.id) {
      const message =
        'connectionId and clientId name different connections: clientId names the newest of its client. Send one of them.';
      throw invalidField('clientId', message);
    }
    if (deviceId !== null && !isOfDevice(match, deviceId)) {
      throw invalidField('deviceId', 'The connection is not of this device.');
    }
    // A box that did not answer may have a newer connection of the page; a connection id is unambiguous.
    return { target: { connectionId: match.id }, degraded: degraded && connectionId == null };
  };

  const isHere = (slug: string, { connectionId }: CommandTarget): boolean =>
    connectionId != null && hub.select(slug, { connectionId }).length > 0;

  /** Runs the command on this box and, where needed, on its peers. */
  const runEverywhere = async (
    slug: string,
    { command, target }: TargetedCommand,
    id: string | undefined,
    deliverHere: () => number | Promise<number>,
  ): Promise<Outcome> => {
    // Every box saves the names of devices, not only the box with the page.
    const isForAll = command.command === 'setclientname' || !isHere(slug, target);
    const relaying = isForAll ? peers.relayCommand({ slug, id: id ?? randomUUID(), command, target }) : null;
    const here = await deliverHere();
    const { answers, degraded } = (await relaying) ?? { answers: [], degraded: false };
    // A target is one connection.
    const most = isTargeted(target) ? 1 : Number.POSITIVE_INFINITY;
    const sent = answers.reduce((sum, answer) => sum + Math.min(answer.sent, most), here);
    return { sent, degraded: degraded && !(target.connectionId != null && sent > 0) };
  };

  const counts: Record<string, Record<RunResult, number>> = {};
  const count = (name: string, result: RunResult): void => {
    counts[name] ??= { delivered: 0, undelivered: 0, failed: 0 };
    counts[name][result] += 1;
  };

  const run: Commands['run'] = async (screen, given, { relayed, id, log }) => {
    const { slug } = screen;
    const { target, degraded: isUncertain } = await resolve(slug, given, relayed);
    const targeted: TargetedCommand = { ...given, target };
    const { command } = given;
    if (command.command === 'setclientname') {
      const stored = await rename(command.deviceId, command.clientName, relayed ? command.updatedAt : undefined);
      hub.rename(command.deviceId, stored.clientName);
      targeted.command = { ...command, clientName: stored.clientName, updatedAt: stored.updatedAt };
    }
    if (command.command === 'refresh') void peers.refresh();
    if (command.command === 'redirect') onRedirect(command.url);
    // A repeat can reach a box that first got the command from a peer; it then sums what each box sent the first time.
    const deliverHere = (): number | Promise<number> =>
      id === undefined ? deliver(slug, targeted) : onceHere(`${slug} ${id}`, async () => deliver(slug, targeted));
    const outcome = relayed
      ? { sent: await deliverHere(), degraded: false }
      : await runEverywhere(slug, targeted, id, deliverHere);
    const { connectionId = null, clientId = null } = given.target;
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
    /**
     * Runs a command on the connections of a screen, on all boxes. A target that is not connected is not an error: `sent` is 0.
     * @throws CodedError `invalid_field` if connectionId and clientId name different pages, or one of another device;
     *   `insufficient_storage` where a name cannot be saved
     */
    run: (screen: Screen, targeted: TargetedCommand, origin: CommandOrigin): Promise<CommandResult> => {
      const runIt = () => runCounted(screen, targeted, origin);
      return origin.id === undefined ? runIt() : once(`${origin.relayed} ${screen.slug} ${origin.id}`, runIt);
    },
    /** The commands since the start that no peer relayed, by name and result. */
    counts: (): Readonly<Record<string, Readonly<Record<RunResult, number>>>> => counts,
  };
};
