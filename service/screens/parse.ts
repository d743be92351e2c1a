import { commandNames } from '../contract/command-names.ts';
import { type Command, type CommandTarget, commandRequest } from '../contract/commands.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import type { Variant } from '../contract/terms.ts';
import { isMediaName } from '../domain/media-names.ts';
import { redirectTarget } from '../domain/redirect.ts';

/** A command and its recipients. */
export interface TargetedCommand {
  command: Command;
  target: CommandTarget;
}

/**
 * Validates the URL of a redirect.
 * @throws CodedError `invalid_field` for a page of this service that would not receive further commands
 */
const readRedirect = (url: string, isOwn: (url: URL) => boolean): string => {
  const target = redirectTarget(url, isOwn);
  if (target === null || (target.kind === 'media' && !isMediaName(target.name))) {
    const message = 'url is not valid: on this service only /screen/SLUG and /media/NAME can be shown.';
    throw new CodedError('invalid_field', message, { field: 'url' });
  }
  return target.url;
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
  const command = rest.command === 'redirect' ? { ...rest, url: readRedirect(rest.url, isOwn) } : rest;
  return { command, target: { connectionId, clientId } };
};
