/** `completion`: prints the script of a shell, and completes words for it: what may come next on a command line. */
import { Argument, type Command, type Option } from 'commander';
import type { Session } from '../session.ts';
import { parseBox } from '../settings.ts';
import { type Candidate, type Completion, shells } from '../shells.ts';
import { fetchSite } from '../targets.ts';

/** Names of the site that can be completed. */
type NameKind = 'targets' | 'slugs' | 'boxes' | 'devices' | 'takeovers' | 'drafts';

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
const read = (program: Command, words: readonly string[]): Reading => {
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
  if (name === 'id') {
    const group = command.parent?.name() ?? '';
    return ({ takeover: 'takeovers', drafts: 'drafts', devices: 'devices' } as const)[group];
  }
  return ({ target: 'targets', slug: 'slugs', box: 'boxes', device: 'devices', file: 'files' } as const)[name];
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

/** The shell waits for this long, ms. */
const PATIENCE_MS = 1_000;

/** Names by others that mean something to a shell are left out. */
const isHarmless = (name: string): boolean => /^[\p{L}\p{N}._:@/-]+$/u.test(name) && !name.startsWith('-');

const namesOf = async (session: Session, kind: NameKind): Promise<string[]> => {
  const client = await session.client();
  if (kind === 'drafts') {
    const { body } = await client.ask<{ drafts: { id: string }[] }>({ path: '/console/api/drafts' });
    return body.drafts.map(({ id }) => id);
  }
  const { screens, boxes, waiting, takeovers } = (await fetchSite(client)).body;
  const slugs = screens.map(({ screen }) => screen.slug);
  if (kind === 'slugs') return slugs;
  if (kind === 'targets')
    return ['all', ...slugs, ...new Set(screens.flatMap(({ tags }) => tags.map((tag) => `tag:${tag}`)))];
  if (kind === 'devices')
    return [...screens.flatMap(({ devices }) => devices), ...waiting].map(({ deviceId }) => deviceId);
  return kind === 'boxes' ? boxes.map(({ name }) => name) : takeovers.map(({ id }) => id);
};

/**
 * The lines that the script of a shell reads; none if the site does not answer in time.
 * @param passed the shell, and what its script passes on
 */
export const completionLines = async (
  program: Command,
  connect: (box: URL | undefined, signal: AbortSignal) => Session,
  [name = '', ...passed]: readonly string[],
): Promise<string[]> => {
  const shell = shells[name];
  if (shell === undefined) return [];
  const words = shell.words(passed);
  const box = read(program, words.slice(0, -1)).values.get('--box');
  const session = connect(parseBox(box ?? '') ?? undefined, AbortSignal.timeout(PATIENCE_MS));
  const completion = await complete(program, words, async (kind) =>
    (await namesOf(session, kind).catch(() => [])).filter(isHarmless),
  );
  return shell.print(completion);
};

export const registerCompletion = (program: Command, { out }: Session): void => {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'try: source <(signage completion bash)').choices(Object.keys(shells)))
    .action((name: string) => {
      for (const line of shells[name]?.script.trimEnd().split('\n') ?? []) out.line(line);
    });
};
