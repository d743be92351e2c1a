/** Large responses one after another, so that none of them holds up a small one. */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createPacing } from '../../service/http/pacing.ts';

const responses = (count: number) => Array.from({ length: count }, () => new EventEmitter() as ServerResponse);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a response is written once another one has closed, in a later turn of the event loop', async () => {
  const pacing = createPacing({ limit: 1, patienceMs: 60_000 });
  const [first, second, third] = responses(3) as [ServerResponse, ServerResponse, ServerResponse];
  const written: string[] = [];
  pacing.take(first, () => written.push('first'));
  pacing.take(second, () => written.push('second'));
  pacing.take(third, () => written.push('third'));
  expect(written).toEqual(['first']);
  first.emit('close');
  expect(written).toEqual(['first']);
  await turn();
  expect(written).toEqual(['first', 'second']);
  // One that is gone before its turn is left out.
  third.emit('close');
  second.emit('close');
  await turn();
  expect(written).toEqual(['first', 'second']);
});

test('a client that reads slowly holds up the others no longer than the patience', async () => {
  const pacing = createPacing({ limit: 1, patienceMs: 10 });
  const [slow, next] = responses(2) as [ServerResponse, ServerResponse];
  pacing.take(slow, () => undefined);
  await new Promise<void>((resolve) => pacing.take(next, resolve));
});
