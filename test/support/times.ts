/** Prints what each test file costs, and fails above the budget: `npm run test:times`. */
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** s of processor of one file; what needs more belongs to `npm run soak`, with one small case left here. */
const FILE_BUDGET = 20;
/** s of processor of all files, on any number of processors. */
const TOTAL_BUDGET = 560;

const cells = (name: string, values: readonly (number | string)[]): string =>
  `${name.padEnd(52)} ${values.map((value) => (typeof value === 'number' ? value.toFixed(1) : value).padStart(9)).join(' ')}`;

export const createTimes = (): Reporter => ({
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
    const over = [
      ...rows
        .filter(({ processor }) => processor > FILE_BUDGET)
        .map(({ file }) => `${file} takes more than ${FILE_BUDGET} s`),
      ...(total > TOTAL_BUDGET ? [`all tests take more than ${TOTAL_BUDGET} s`] : []),
    ];
    for (const each of over) console.error(`over budget: ${each} of processor`);
    if (over.length > 0) process.exitCode = 1;
  },
});
