/** The only place where a command happens, whoever sends it. */
import type { Logger } from 'pino';
import type { Hub } from '../connections/hub.ts';
import { CodedError } from '../errors.ts';
import type { CommandResult, Screen } from '../wire.ts';
import type { Order } from './parse.ts';

interface Dependencies {
  log: Logger;
  hub: Pick<Hub, 'select' | 'send' | 'rename'>;
  /** Stores the lasting name of a device; resolves once it is durable. */
  rename(deviceId: string, clientName: string): Promise<void>;
}

export interface Commands {
  /**
   * Carries an order out on the connections of a screen. A target that is not there is no error: `sent` is 0.
   * @throws CodedError `invalid_field` where connectionId and clientId name two different pages;
   *   `insufficient_storage` where a name can't be stored
   */
  run(screen: Screen, order: Order): Promise<CommandResult>;
}

export const createCommands = ({ log, hub, rename }: Dependencies): Commands => ({
  run: async (screen, { command, target }) => {
    const { connectionId = null, clientId = null } = target;
    if (connectionId !== null && clientId !== null) {
      const [named] = hub.select(screen.slug, { connectionId });
      if (named !== undefined && named.clientId !== clientId) {
        throw new CodedError('invalid_field', 'connectionId and clientId name different connections.', {
          field: 'clientId',
        });
      }
    }
    let chosen = hub.select(screen.slug, target);
    if (command.command === 'setclientname') {
      const { deviceId, clientName } = command;
      await rename(deviceId, clientName);
      hub.rename(deviceId, clientName);
      chosen = chosen.filter((connection) => connection.deviceId === deviceId);
    }
    const sent = hub.send(
      chosen.map(({ id }) => id),
      { type: 'command', ...command },
    );
    log.info(
      { slug: screen.slug, command: command.command, connectionId, clientId, sent },
      'a command was carried out',
    );
    return {
      screen,
      screenSlug: screen.slug,
      command: command.command,
      connectionId: connectionId ?? (clientId === null ? null : (chosen[0]?.id ?? null)),
      sent,
      degraded: false,
    };
  },
});
