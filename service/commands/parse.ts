import { CodedError } from '../errors.ts';
import { readFields } from '../fields.ts';
import { type Command, type CommandTarget, commandNames, commandRequest } from '../wire/commands.ts';
import type { Variant } from '../wire/terms.ts';

/** A command and whom it is for. */
export interface Order {
  command: Command;
  target: CommandTarget;
}

/**
 * Reads the body of a command request.
 * @throws CodedError `missing_field`, `invalid_field` or `unknown_command`
 */
export const parseOrder = (body: Record<string, unknown>, variant: Variant): Order => {
  const names = commandNames(variant);
  if (body.command == null) throw new CodedError('missing_field', 'command is missing.', { field: 'command' });
  if (typeof body.command !== 'string') {
    throw new CodedError('invalid_field', 'command must be a string.', { field: 'command' });
  }
  if (!names.some((name) => name === body.command)) {
    const known = names.join(', ');
    throw new CodedError(
      'unknown_command',
      `${JSON.stringify(body.command.slice(0, 64))} is not a command; the commands are ${known}.`,
      { field: 'command' },
    );
  }
  const { connectionId, clientId, ...rest } = readFields(commandRequest, body);
  return { command: rest, target: { connectionId, clientId } };
};
