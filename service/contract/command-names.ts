/** The names of the commands to players. */
import type { Variant } from './terms.ts';

/** The commands in the order of the specification, each with the smallest variant that has it. */
const commands = {
  refresh: 'baseline',
  reload: 'baseline',
  pause: 'baseline',
  blackout: 'baseline',
  previous: 'baseline',
  next: 'baseline',
  left: 'baseline',
  right: 'baseline',
  redirect: 'extended',
  setclientname: 'extended',
} as const satisfies Record<string, Variant>;

export type CommandName = keyof typeof commands;

const all = Object.keys(commands) as CommandName[];

export const isExtended = (name: CommandName): boolean => commands[name] === 'extended';

/** The commands of a variant, in the order of the specification. */
export const commandNames = (variant: Variant): readonly CommandName[] =>
  variant === 'extended' ? all : all.filter((name) => !isExtended(name));
