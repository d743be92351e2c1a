/** Work in a thread that has a deadline. */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
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

test('a request that comes while an idle thread is ending is answered by a new one', async () => {
  const file = join(temporaryFolder(), 'echo.cjs');
  writeFileSync(
    file,
    `const { parentPort } = require('node:worker_threads');
    parentPort.on('message', (question) => parentPort.postMessage({ value: question }));`,
  );
  const worker = createWorker<string>({
    ...{ bundle: 'there-is-none', source: relative(service, file) },
    ...{ patienceMs: 10_000, idleMs: 1 },
  });
  onTestFinished(() => worker.close());
  expect(await worker.ask('first')).toBe('first');
  // Both timers are due in one turn, before the thread has ended.
  for (const until = performance.now() + 5; performance.now() < until; );
  await delay(1);
  expect(await worker.ask('second')).toBe('second');
});
