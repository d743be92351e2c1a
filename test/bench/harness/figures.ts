/** All tables of a run with the machine they come from; `resources/figures.md` is written from them. */
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

interface Run {
  at: string;
  version: string;
  machine: Machine;
  /** Versions of the runtime and of the peers. */
  versions: Record<string, string>;
  tables: Table[];
  notes: { bench: string; text: string }[];
}

const root = join(import.meta.dirname, '..', '..', '..');
const path = join(root, 'resources', 'figures.md');

/** What the harness cannot know: why a goal was missed. Kept from one run to the next. */
const MARK = '<!-- Below this line: written by hand, and kept. -->';

const versions = (): Record<string, string> => {
  const { koa, ws } = packageJson.dependencies;
  return { node: process.versions.node, koa, ws, ...peerVersions };
};

export const createFigures = (at: Date) => {
  const run: Run = {
    at: at.toISOString(),
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

  const asPage = (): string => {
    const { machine } = run;
    const benches = [...new Set([...run.tables.map(({ bench }) => bench), ...run.notes.map(({ bench }) => bench)])];
    const goals = run.tables.flatMap(({ goals: each }) => each);
    const missed = run.tables.filter(({ goals: each }) => each.some(({ isMet }) => !isMet));
    return [
      '# Figures',
      '',
      `Measured on ${run.at.slice(0, 10)} by \`npm run bench -- --figures\`, which anyone can repeat. Every server and every client`,
      'is a process of its own, servers pinned to one processor and clients to another; contenders are measured in rotated',
      'rounds. Figures are medians with the least and the greatest; a ratio is taken within a round, and only ratios can be',
      'compared with those of another machine.',
      '',
      `- Version ${run.version}; ${Object.entries(run.versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', ')}.`,
      `- ${machine.processor}, ${machine.processors} processors, ${machine.memoryGiB} GiB, Linux ${machine.kernel}.`,
      `- ${goals.filter(({ isMet }) => isMet).length} of ${goals.length} goals met.${
        missed.length === 0 ? '' : ` Missed: ${[...new Set(missed.map(({ title }) => title))].join('; ')}.`
      }`,
      '',
      ...benches.flatMap((bench) => [
        `## \`npm run bench ${bench}\``,
        '',
        ...run.tables.filter((table) => table.bench === bench).map(asMarkdown),
        ...run.notes.filter((each) => each.bench === bench).flatMap(({ text }) => [`${text}`, '']),
      ]),
    ].join('\n');
  };

  const handwritten = (): string => {
    try {
      return readFileSync(path, 'utf8').split(MARK)[1] ?? '\n';
    } catch {
      return '\n';
    }
  };

  return {
    add: (table: Table): void => void run.tables.push(table),
    note: (bench: string, text: string): void => void run.notes.push({ bench, text }),
    toJSON: (): Run => run,
    write: (): void => writeFileSync(path, `${asPage()}\n${MARK}${handwritten()}`),
  };
};
