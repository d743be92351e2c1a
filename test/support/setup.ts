/** Runs before each test file: files share the modules of their worker, and one browser. */
import { afterAll } from 'vitest';
import { closeContexts } from './browser.ts';
import { processorSeconds, starts } from './cost.ts';

interface Cost {
  /** s of processor, children included. */
  processor: number;
  starts: typeof starts;
}

declare module 'vitest' {
  interface TaskMeta {
    cost?: Cost;
  }
}

/** Undefined where nothing prints it: all processes of the system are looked at. */
const costSoFar = (): Cost | undefined =>
  process.env['SIGNAGE_TEST_COSTS'] === 'on' ? { processor: processorSeconds(), starts: { ...starts } } : undefined;

// Before the file is imported.
const before = costSoFar();

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of fixtures from here.
afterAll(async ({}, suite) => {
  await closeContexts();
  const after = costSoFar();
  if (before === undefined || after === undefined) return;
  suite.file.meta.cost = {
    processor: after.processor - before.processor,
    starts: {
      services: after.starts.services - before.starts.services,
      kiosks: after.starts.kiosks - before.starts.kiosks,
    },
  };
});
