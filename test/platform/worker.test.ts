/** Work in a thread that has a deadline. */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createWorker } from '../../service/platform/worker.ts';
import { temporaryFolder } from '../support/service.ts';

const service = join(import.meta.dirname, '..', '..', 'service');

test('the deadline of a request begins when its thread has started', async () => {
  const file = join(temporaryFolder(), 'slow.cjs');
  writeFileSync(
    file,
    `const { parentPort } = require('node:worker_threads');
    for (const until = Date.now() + 600; Date.now() < until; );
    parentPort.on('message', (question) => {
      while (question === 'for ever');
      parentPort.postMessage({ value: question });
    });`,
  );
  const worker = createWorker<string>({
    ...{ bundle: 'there-is-none', source: relative(service, file) },
    ...{ patienceMs: 300, idleMs: 10_000 },
  });
  onTestFinished(() => worker.close());
  expect(await worker.ask('first')).toBe('first');
  await expect(worker.ask('for ever')).rejects.toThrow('reading it took longer than 0.3 s');
  expect(await worker.ask('next')).toBe('next');
});
