/** Prints what each test file costs, and fails above the budget: `npm run test:times`. */
import { spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { processorSeconds } from './cost.ts';

/** Budgets in starts of a bare Node.js: in seconds, machines differ by a factor of two. */
const budgets = {
  /** What needs more belongs to `npm run soak`, with one small case left here. */
  file: 400,
  /** On any number of processors. */
  all: 12_000,
};
const STARTS = 40;

/** s of processor of one start, on this machine, while it does nothing else. */
const startOfNode = (): number => {
  const before = processorSeconds();
  for (let n = 0; n < STARTS; n += 1) spawnSync(process.execPath, ['--eval', '']);
  return (processorSeconds() - before) / STARTS;
};

const cells = (name: string, values: readonly (number | string)[]): string =>
  `${name.padEnd(52)} ${values.map((value) => (typeof value === 'number' ? value.toFixed(1) : value).padStart(9)).join(' ')}`;

export const createTimes = (start = startOfNode()): Reporter => ({
  onTestRunEnd(modules: readonly TestModule[]) {
    const rows = modules
      .map((module) => {
        const { cost } = module.meta();
        const wall = module.diagnostic().duration / 1000;
        const processor = cost?.processor ?? 0;
        return { file: relative(process.cwd(), module.moduleId), wall, processor, starts: cost?.starts };
      })
      .toSorted((a, b) => b.processor - a.processor);
    const folders = new Map<string, { wall: number; processor: number }>();
    for (const { file, wall, processor } of rows) {
      const folder = file.split('/').slice(0, 2).join('/');
      const sum = folders.get(folder) ?? { wall: 0, processor: 0 };
      folders.set(folder, { wall: sum.wall + wall, processor: sum.processor + processor });
    }
    const head = ['processor', 'waiting', 'services', 'kiosks'];
    console.log(`\n${cells('seconds and starts by file', head)}`);
    for (const { file, wall, processor, starts } of rows) {
      const counts = starts === undefined ? [] : [starts.services, starts.kiosks].map(String);
      console.log(cells(file, [processor, Math.max(0, wall - processor), ...counts]));
    }
    console.log(`\n${cells('by folder', head.slice(0, 2))}`);
    for (const [folder, { wall, processor }] of [...folders].toSorted((a, b) => b[1].processor - a[1].processor)) {
      console.log(cells(folder, [processor, Math.max(0, wall - processor)]));
    }
    const total = rows.reduce((sum, { processor }) => sum + processor, 0);
    console.log(cells('all', [total]));
    console.log(
      `A start of Node.js takes ${(start * 1000).toFixed(1)} ms of processor: all tests ${Math.round(total / start)} starts.`,
    );
    const over = [
      ...rows.filter(({ processor }) => processor > budgets.file * start).map(({ file }) => [file, budgets.file]),
      ...(total > budgets.all * start ? [['all tests', budgets.all]] : []),
    ];
    for (const [what, most] of over) console.error(`over budget: ${what} takes more than ${most} starts of Node.js`);
    if (over.length > 0) process.exitCode = 1;
  },
});
