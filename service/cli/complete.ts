/** What may come next on a command line: for the shells. */
import type { Argument, Command, Option } from 'commander';

/** Names of the site that can be completed. */
export type NameKind = 'targets' | 'slugs' | 'boxes' | 'devices' | 'takeovers';

export interface Candidate {
  value: string;
  /** For a person; empty: none. */
  description: string;
}

/** `files`: the shell completes the names of files. */
export type Completion = Candidate[] | 'files';

/** The words before the one that is completed, as the parser would read them. */
interface Reading {
  command: Command;
  /** Arguments of the command. */
  count: number;
  /** The option whose value comes next. */
  awaiting: Option | undefined;
  /** The values of options, by their long names. */
  values: Map<string, string>;
}

const chain = (command: Command): Command[] => [command, ...(command.parent === null ? [] : chain(command.parent))];

/** The options of a command and of those above it, each once. */
const optionsOf = (command: Command): Option[] => {
  const all = chain(command).flatMap((each) => each.createHelp().visibleOptions(each));
  return [...new Map(all.map((option) => [option.long, option])).values()];
};

/** @param words the words after the program, without the one that is completed */
export const read = (program: Command, words: readonly string[]): Reading => {
  const reading: Reading = { command: program, count: 0, awaiting: undefined, values: new Map() };
  for (const word of words) {
    const { command, awaiting } = reading;
    if (awaiting !== undefined) {
      reading.values.set(awaiting.long ?? '', word);
      reading.awaiting = undefined;
    } else if (word.startsWith('-')) {
      const [name = '', value] = word.split(/=(.*)/s);
      const option = optionsOf(command).find(({ long, short }) => name === long || name === short);
      if (value !== undefined) reading.values.set(option?.long ?? '', value);
      else if (option?.required || option?.optional) reading.awaiting = option;
    } else {
      const next = command.commands.find((each) => each.name() === word);
      if (next === undefined) reading.count += 1;
      else reading.command = next;
    }
  }
  return reading;
};

/** What an argument names, by its own name and that of its command. */
const kindOf = (command: Command, argument: Argument): NameKind | 'files' | undefined => {
  const name = argument.name();
  if (name === 'id') return command.parent?.name() === 'takeover' ? 'takeovers' : 'devices';
  return ({ target: 'targets', slug: 'slugs', box: 'boxes', file: 'files' } as const)[name];
};

const plain = (values: readonly string[]): Candidate[] => values.map((value) => ({ value, description: '' }));

/**
 * @param words the words after the program; the last one is completed, and may be empty
 * @param namesOf looks names up at the site
 */
export const complete = async (
  program: Command,
  words: readonly string[],
  namesOf: (kind: NameKind) => Promise<string[]>,
): Promise<Completion> => {
  const { command, count, awaiting } = read(program, words.slice(0, -1));
  const typed = words.at(-1) ?? '';
  const fitting = (candidates: Candidate[]): Candidate[] => candidates.filter(({ value }) => value.startsWith(typed));
  if (awaiting !== undefined) {
    if (awaiting.long === '--output') return 'files';
    return fitting(plain(awaiting.argChoices ?? []));
  }
  if (typed.startsWith('-')) {
    return fitting(optionsOf(command).map(({ long, description }) => ({ value: long ?? '', description })));
  }
  if (command.commands.length > 0) {
    const visible = command.createHelp().visibleCommands(command);
    return fitting(visible.map((each) => ({ value: each.name(), description: each.description() })));
  }
  const { registeredArguments: known } = command;
  const last = known.at(-1);
  const argument = known[count] ?? (last?.variadic ? last : undefined);
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined) return fitting(plain(argument.argChoices));
  const kind = kindOf(command, argument);
  if (kind === undefined || kind === 'files') return kind ?? [];
  return fitting(plain(await namesOf(kind)));
};
