/** Rules of the house that no linter knows: checks the sources of `main/`, `service/` and `renderer/`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Source {
  /** From the root of the repository, with slashes. */
  path: string;
  text: string;
}

const MOST_LINES = 500;
/** The files that begin everything are read first, on two screens. */
const MOST_LINES_OF: Readonly<Record<string, number>> = {
  'main/index.ts': 120,
  'renderer/player/player.ts': 120,
  'service/index.ts': 120,
};

const lengthIssues = ({ path, text }: Source): string[] => {
  const lines = text.trimEnd().split('\n').length;
  const most = MOST_LINES_OF[path] ?? MOST_LINES;
  return lines > most ? [`is ${lines} lines long; the limit is ${most}`] : [];
};

/** Only these read `process.env`. */
const readsEnvironment = /^(service\/platform\/options\/|main\/paths\.ts$)/;

const environmentIssues = ({ path, text }: Source): string[] =>
  !readsEnvironment.test(path) && /\bprocess\s*(\?\.|\.)\s*env\b|\benv\b[^;]*\bfrom 'node:process'/.test(text)
    ? ['reads process.env; settings are read in service/platform/options and main/paths.ts']
    : [];

/** The command line calls boxes directly; headless.ts prints this box's own address. */
const reachesBoxes = /^service\/((peers|cli|contract)\/|headless\.ts$)/;

/** A path that peers answer, other than as the name of an operation, or a path that is added to an address. */
const PEER_URL = /['"`]\/api\/peers\/(?!')[^'"`]*|\$\{[\w.]*[uU]rl\}\/[^`]*/g;

const peerIssues = ({ path, text }: Source): string[] =>
  path.startsWith('service/') && !reachesBoxes.test(path)
    ? (text.match(PEER_URL) ?? []).map((url) => `spells the URL ${url} of a peer; ask peers by operation`)
    : [];

/** `...{ a, b }` has as many members as it seems to save lines. */
const spreadIssues = ({ text }: Source): string[] =>
  (text.match(/(?<=[{,([]\s*)\.\.\.\{[^\n]*/g) ?? []).map(
    (spread) => `spreads an object that is written in place, ${spread}; write its members plainly`,
  );

/** One sentence per violation. */
export const violationsIn = (sources: readonly Source[]): string[] =>
  sources.flatMap((source) =>
    [...lengthIssues(source), ...environmentIssues(source), ...peerIssues(source), ...spreadIssues(source)].map(
      (issue) => `${source.path} ${issue}`,
    ),
  );

/** The sources below a folder that has `main/`, `service/` and `renderer/`. */
export const sourcesOf = (root: string): Source[] =>
  ['main', 'service', 'renderer'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => ({
        path: join(folder, path).replaceAll('\\', '/'),
        text: readFileSync(join(root, folder, path), 'utf8'),
      })),
  );

if (import.meta.filename === process.argv[1]) {
  const found = violationsIn(sourcesOf(join(import.meta.dirname, '..')));
  for (const violation of found) console.error(violation);
  if (found.length > 0) process.exitCode = 1;
}
