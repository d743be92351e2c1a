/** Turns conventional commits (conventionalcommits.org 1.0.0) into the notes of a release. Pure. */

const headings = [
  ['feat', 'New'],
  ['fix', 'Fixed'],
  ['perf', 'Faster'],
] as const;

const subject = /^(?<type>[a-z]+)(?:\((?<scope>[^)]+)\))?(?<breaking>!)?: (?<text>.+)$/;

/** @param subjects first lines of commits, newest first; what is of no interest to an operator is left out */
export const notesOf = (subjects: readonly string[]): string => {
  const commits = subjects.flatMap((line) => {
    const { type = '', scope, breaking, text = '' } = subject.exec(line)?.groups ?? {};
    return type === ''
      ? []
      : [{ type, isBreaking: breaking !== undefined, line: `- ${scope === undefined ? '' : `**${scope}:** `}${text}` }];
  });
  const sections = [
    ['Incompatible', commits.filter(({ isBreaking }) => isBreaking)] as const,
    ...headings.map(
      ([type, title]) => [title, commits.filter((commit) => commit.type === type && !commit.isBreaking)] as const,
    ),
  ];
  const text = sections
    .filter(([, list]) => list.length > 0)
    .map(([title, list]) => `## ${title}\n\n${list.map(({ line }) => line).join('\n')}\n`)
    .join('\n');
  return text === '' ? 'Maintenance only.\n' : text;
};
