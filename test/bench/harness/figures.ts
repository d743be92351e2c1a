/** All tables of a run with the machine they come from; `resources/figures.md` is written from them. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { peerVersions } from './peers.ts';
import { asMarkdown } from './print.ts';
import type { Report, Table } from './report.ts';

export type Bench = (report: Report) => Promise<void>;

interface Machine {
  processor: string;
  processors: number;
  memoryGiB: number;
  kernel: string;
}

export interface Run {
  at: string;
  /** Of the checkout, shortened; empty outside of one. */
  commit: string;
  version: string;
  machine: Machine;
  /** Versions of the runtime and of the peers. */
  versions: Record<string, string>;
  tables: Table[];
  notes: { bench: string; text: string }[];
}

const root = join(import.meta.dirname, '..', '..', '..');
const path = join(root, 'resources', 'figures.md');

/** Ends the list of sections; what follows is written by hand, and kept. */
const MARK = '<!-- Below this line: written by hand, and kept. -->';

const commit = (): string => {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
};

const headingOf = (bench: string): string => `## \`npm run bench ${bench}\``;

/** The sections of an earlier run, by bench: a bench that is not run again keeps its figures. */
const sectionsOf = (page: string): Map<string, string> =>
  new Map(
    page.split(/^(?=## `npm run bench )/m).flatMap((section) => {
      const name = /^## `npm run bench ([\w-]+)`/.exec(section)?.[1];
      return name === undefined ? [] : [[name, section.trimEnd()] as const];
    }),
  );

/** The titles of the tables with a goal, by what their goals came to. */
const judgedIn = (sections: Iterable<string>): { met: number; missed: string[] } => {
  let met = 0;
  const missed: string[] = [];
  for (const section of sections) {
    let title = '';
    for (const line of section.split('\n')) {
      title = /^\*\*(.+)\*\*/.exec(line)?.[1] ?? title;
      const [, result] = /^- goal: .*?: [\d.,]+, (met|missed)/.exec(line) ?? [];
      if (result === 'met') met += 1;
      else if (result === 'missed') missed.push(title);
    }
  }
  return { met, missed };
};

const versions = (): Record<string, string> => {
  const { koa, ws } = packageJson.dependencies;
  return { node: process.versions.node, koa, ws, ...peerVersions };
};

export const createFigures = (at: Date) => {
  const run: Run = {
    at: at.toISOString(),
    commit: commit(),
    version: packageJson.version,
    machine: {
      processor: cpus()[0]?.model.trim() ?? 'unknown',
      processors: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 1024 ** 3),
      kernel: release(),
    },
    versions: versions(),
    tables: [],
    notes: [],
  };

  const sectionOf = (bench: string): string =>
    [
      headingOf(bench),
      '',
      `Measured on ${run.at.slice(0, 10)}${run.commit === '' ? '' : ` at commit ${run.commit}`}.`,
      '',
      ...run.tables.filter((table) => table.bench === bench).map(asMarkdown),
      // No empty line between the rows of a table.
      ...run.notes
        .filter((each) => each.bench === bench)
        .flatMap(({ text }) => (text.startsWith('|') ? [text] : [text, ''])),
    ]
      .join('\n')
      .trimEnd();

  const asPage = (before: string): string => {
    const { machine } = run;
    const sections = sectionsOf(before);
    for (const { bench } of [...run.tables, ...run.notes]) sections.set(bench, sectionOf(bench));
    const { met, missed } = judgedIn(sections.values());
    return [
      '# Figures',
      '',
      'Written by `npm run bench -- --figures`, which anyone can repeat; `npm run bench NAME -- --figures` replaces one',
      'section. Every server and every client is a process of its own, servers pinned to one processor and clients to',
      'another; contenders are measured in rotated rounds. Figures are medians with the least and the greatest; a ratio is',
      'taken within a round, and only ratios can be compared with those of another machine.',
      '',
      `- Version ${run.version}; ${Object.entries(run.versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', ')}.`,
      `- ${machine.processor}, ${machine.processors} processors, ${machine.memoryGiB} GiB, Linux ${machine.kernel}.`,
      `- ${met} of ${met + missed.length} goals met.${
        missed.length === 0 ? '' : ` Missed: ${[...new Set(missed)].join('; ')}.`
      } The reason stands beside each.`,
      '',
      ...[...sections.values()].flatMap((section) => [section, '']),
    ].join('\n');
  };

  const written = (): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  };

  return {
    add: (table: Table): void => void run.tables.push(table),
    note: (bench: string, text: string): void => void run.notes.push({ bench, text }),
    toJSON: (): Run => run,
    write: (): void => {
      const [page = '', byHand = '\n'] = written().split(MARK);
      writeFileSync(path, `${asPage(page)}\n${MARK}${byHand}`);
    },
  };
};
