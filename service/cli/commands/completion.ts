/** `completion`: prints the script of a shell, and completes words for it. */
import { Argument, type Command } from 'commander';
import { complete, type NameKind, read } from '../complete.ts';
import type { Session } from '../session.ts';
import { parseBox } from '../settings.ts';
import { shells } from '../shells.ts';
import { fetchSite } from '../site.ts';

/** The shell waits for this long, ms. */
const PATIENCE_MS = 1_000;

/** Names by others that mean something to a shell are left out. */
const isHarmless = (name: string): boolean => /^[\p{L}\p{N}._:@/-]+$/u.test(name) && !name.startsWith('-');

const namesOf = async (session: Session, kind: NameKind): Promise<string[]> => {
  const { screens, boxes, takeovers } = (await fetchSite(await session.client())).body;
  const slugs = screens.map(({ screen }) => screen.slug);
  if (kind === 'slugs') return slugs;
  if (kind === 'targets')
    return ['all', ...slugs, ...new Set(screens.flatMap(({ tags }) => tags.map((tag) => `tag:${tag}`)))];
  if (kind === 'devices') return screens.flatMap(({ devices }) => devices.map(({ deviceId }) => deviceId));
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
