/** The names of the commands to players. */
import type { Variant } from './terms.ts';

/** The commands that take no argument of their own. */
export const plainCommands = ['refresh', 'reload', 'pause', 'previous', 'next', 'left', 'right'] as const;

export const baselineCommands = [
  'refresh',
  'reload',
  'pause',
  'blackout',
  'previous',
  'next',
  'left',
  'right',
] as const;
export const extendedCommands = ['redirect', 'setclientname'] as const;
export type CommandName = (typeof baselineCommands)[number] | (typeof extendedCommands)[number];

/** The commands of a variant, in the order of the specification. */
export const commandNames = (variant: Variant): readonly CommandName[] =>
  variant === 'extended' ? [...baselineCommands, ...extendedCommands] : baselineCommands;
