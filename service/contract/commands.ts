/** Commands to players, and their results. */
import { z } from 'zod';
import { type CommandName, commandNames, isExtended } from './command-names.ts';
import { screen } from './playlist.ts';
import { clientName, deviceId, extended, instant, slug } from './terms.ts';
import { parseUrl } from './url.ts';

/** Checks the syntax of a redirect URL; `redirectTarget` decides which paths are allowed. */
const redirectUrl = z
  .string()
  .max(2048)
  .refine(
    // URL parsers drop tabs and line ends: two slashes with one between them would name another host.
    (url) => /^(?:\/(?![/\\])|https?:\/\/[^/])[^\t\n\r]*$/i.test(url) && parseUrl(url, 'http://player') !== null,
    '/screen/SLUG, /media/NAME or an http(s) URL',
  )
  .describe(
    '/screen/SLUG (the page navigates to that screen), /media/NAME, or an http(s) URL; the last two are shown on top of the player',
  );

/** The arguments of the commands that have any. */
const fields = {
  blackout: { blackout: z.boolean().nullish().describe('absent: toggle') },
  redirect: { url: redirectUrl },
  setclientname: {
    clientName,
    deviceId,
    // Read from other boxes alone: when the device was named; the newest wins.
    updatedAt: instant.optional(),
  },
} as const satisfies Partial<Record<CommandName, z.core.$ZodShape>>;

type Fields = typeof fields;
type WithArguments = keyof Fields;
type PlainCommand = z.ZodObject<{ command: z.ZodEnum<{ [Name in Exclude<CommandName, WithArguments>]: Name }> }>;
type CommandWithArguments = {
  [Name in WithArguments]: Fields[Name] extends infer Own extends z.core.$ZodShape
    ? z.ZodObject<{ command: z.ZodLiteral<Name> } & Own>
    : never;
}[WithArguments];

const plainNames = commandNames('extended').filter((name) => !(name in fields));
const withArguments = Object.entries(fields).map(([name, shape]) => {
  const schema = z.object({ command: z.literal(name), ...shape });
  return isExtended(name as CommandName) ? extended(schema) : schema;
});

/** A command as it is sent to pages: name and arguments, without the target. */
export const command = z.discriminatedUnion('command', [
  z.object({ command: z.enum(plainNames).describe('a command without arguments') }),
  ...withArguments,
] as unknown as [PlainCommand, CommandWithArguments]);
export type Command = z.infer<typeof command>;

/** The connections that a command is for; without an id, all connections of the screen. */
export const commandTarget = z.object({
  connectionId: z.string().min(1).max(128).nullish().describe('only to this connection'),
  clientId: z.string().min(1).max(500).nullish().describe('only to the newest connection of this client'),
});
export type CommandTarget = z.infer<typeof commandTarget>;

export const commandRequest = z.intersection(command, commandTarget).meta({ id: 'CommandRequest' });

export const commandResult = z
  .object({
    screen,
    screenSlug: slug,
    command: z
      .union([z.enum(commandNames('baseline')), extended(z.enum(commandNames('extended').filter(isExtended)))])
      .describe('the command that was sent'),
    connectionId: z.string().nullable().describe("the targeted connection's id"),
    sent: z.int().describe('connections that the command was written to'),
    degraded: extended(z.boolean().describe('true if a known peer did not respond within 1 s')),
  })
  .meta({ id: 'CommandResult' });
export type CommandResult = z.infer<typeof commandResult>;
