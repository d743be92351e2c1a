/** Runs before each test file: files share the modules of their worker, and one browser. Notes what the file costs. */
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

// Before the file is imported.
const before: Cost = { processor: processorSeconds(), starts: { ...starts } };

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of fixtures from here.
afterAll(async ({}, suite) => {
  await closeContexts();
  suite.file.meta.cost = {
    processor: processorSeconds() - before.processor,
    starts: {
      services: starts.services - before.starts.services,
      kiosks: starts.kiosks - before.starts.kiosks,
    },
  };
});
