import { z } from 'zod';
import { CodedError } from '../errors.ts';
import { type Command, type CommandTarget, command, commandNames, commandTarget, type Variant } from '../wire.ts';

/** A command and whom it is for. */
export interface Order {
  command: Command;
  target: CommandTarget;
}

const order = z.intersection(command, commandTarget);

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
    throw new CodedError('unknown_command', `${JSON.stringify(body.command.slice(0, 64))} is not a command; the commands are ${known}.`, {
      field: 'command',
    });
  }
  const parsed = order.safeParse(body);
  if (!parsed.success) throw fieldError(body, parsed.error);
  const { connectionId, clientId } = parsed.data;
  return { command: command.parse(body), target: { connectionId, clientId } };
};

/** The first issue of a body that a schema refused, as the error that a client sees. */
const fieldError = (body: Record<string, unknown>, { issues }: z.ZodError): CodedError => {
  const field = String(issues[0]?.path[0] ?? '');
  if (body[field] == null) return new CodedError('missing_field', `${field} is missing.`, { field });
  return new CodedError('invalid_field', `${field} is not valid: ${issues[0]?.message}.`, { field });
};
