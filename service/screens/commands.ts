/** The only place where a command happens, whoever sends it. */
import { z } from 'zod';
import type { CommandResult, CommandTarget } from '../contract/commands.ts';
import { CodedError } from '../contract/errors.ts';
import type { Screen } from '../contract/playlist.ts';
import type { Gather } from '../peers/scatter-gather.ts';
import type { SourceLog } from '../platform/source-log.ts';
import type { Hub } from './hub.ts';
import type { Order } from './parse.ts';
import type { TakeSnapshot } from './snapshot.ts';

interface Dependencies {
  hub: Pick<Hub, 'select' | 'send' | 'rename'>;
  /** Stores the lasting name of a device; resolves once it is durable. */
  rename(deviceId: string, clientName: string): Promise<void>;
  takeSnapshot: TakeSnapshot;
  gather: Gather;
  /** Somebody wants the pages to show what is newest: the box should have it. */
  onRefresh(): void;
  /** Pages are sent to an address. */
  onRedirect(url: string): void;
}

export interface Commands {
  /**
   * Carries an order out on the connections of a screen, on every box. A target that is not there is no error: `sent` is 0.
   * @param relayed by another box: it is carried out here alone
   * @param log of the caller
   * @throws CodedError `invalid_field` where connectionId and clientId name two different pages;
   *   `insufficient_storage` where a name can't be stored
   */
  run(screen: Screen, order: Order, relayed: boolean, log: SourceLog): Promise<CommandResult>;
}

/** What came of an order, here or there. */
interface Outcome {
  sent: number;
  degraded: boolean;
}

const relayAnswer = z.object({ sent: z.int().nonnegative() });

export const createCommands = ({
  hub,
  rename,
  takeSnapshot,
  gather,
  onRefresh,
  onRedirect,
}: Dependencies): Commands => {
  const deliver = (slug: string, { command, target }: Order): number => {
    const chosen = hub.select(slug, target);
    const concerned =
      command.command === 'setclientname' ? chosen.filter(({ deviceId }) => deviceId === command.deviceId) : chosen;
    return hub.send(
      concerned.map(({ id }) => id),
      { type: 'command', ...command },
    );
  };

  /** Has the peers carry it out. */
  const relay = async (slug: string, { command, target }: Order): Promise<Outcome> => {
    const given = Object.entries(target).filter(([, id]) => id != null);
    const { answers, degraded } = await gather({
      path: `/api/screens/${slug}/commands`,
      body: { ...command, ...Object.fromEntries(given) },
      schema: relayAnswer,
    });
    return { sent: answers.reduce((sum, { sent }) => sum + sent, 0), degraded };
  };

  /**
   * Names one connection where a page is named: that one, or the newest of the page, on whichever box.
   * @throws CodedError `invalid_field` where there are two
   */
  const resolve = async (slug: string, target: CommandTarget, relayed: boolean) => {
    const { connectionId, clientId } = target;
    if (clientId == null) return { target, degraded: false };
    const here = connectionId == null ? [] : hub.select(slug, { connectionId });
    const { connections, degraded } =
      here.length > 0 ? { connections: here, degraded: false } : await takeSnapshot(slug, relayed);
    const meant = connections.findLast((each) =>
      connectionId == null ? each.clientId === clientId : each.id === connectionId,
    );
    if (meant === undefined) return { target, degraded };
    if (meant.clientId !== clientId) {
      const message = 'connectionId and clientId name different connections.';
      throw new CodedError('invalid_field', message, { field: 'clientId' });
    }
    // A connection is what it is; of a page there may be a newer one where nobody answered.
    return { target: { connectionId: meant.id }, degraded: degraded && connectionId == null };
  };

  const isHere = (slug: string, { connectionId }: CommandTarget): boolean =>
    connectionId != null && hub.select(slug, { connectionId }).length > 0;

  /** On every box. */
  const carryOut = async (slug: string, order: Order): Promise<Outcome> => {
    // A name is for every box to keep, whoever has the page.
    const isForAll = order.command.command === 'setclientname' || !isHere(slug, order.target);
    const relaying = isForAll ? relay(slug, order) : { sent: 0, degraded: false };
    const sent = deliver(slug, order);
    const there = await relaying;
    const isComplete = order.target.connectionId != null && sent + there.sent > 0;
    return { sent: sent + there.sent, degraded: there.degraded && !isComplete };
  };

  return {
    run: async (screen, { command, target: given }, relayed, log) => {
      const { slug } = screen;
      const { target, degraded: isVague } = await resolve(slug, given, relayed);
      const order = { command, target };
      if (command.command === 'setclientname') {
        await rename(command.deviceId, command.clientName);
        hub.rename(command.deviceId, command.clientName);
      }
      if (command.command === 'refresh') onRefresh();
      if (command.command === 'redirect') onRedirect(command.url);
      const outcome = relayed ? { sent: deliver(slug, order), degraded: false } : await carryOut(slug, order);
      const { connectionId = null, clientId = null } = given;
      const { sent } = outcome;
      log.info({ slug, command: command.command, connectionId, clientId, relayed, sent }, 'a command was carried out');
      return {
        screen,
        screenSlug: slug,
        command: command.command,
        connectionId: target.connectionId ?? null,
        sent,
        degraded: isVague || outcome.degraded,
      };
    },
  };
};
