/** An identified command is carried out once: what is remembered, and for how long. */
import { describe, expect, test } from 'vitest';
import { createRepeats } from '../../service/screens/commands.ts';
import { lobby } from '../content/samples.ts';
import { joinScreen } from '../support/page.ts';
import { shareTestService } from '../support/service.ts';

const MINUTE = 60_000;

test('an id runs once in five minutes, and its repeats get the first result', async () => {
  let now = 0;
  let runs = 0;
  const once = createRepeats<number>(() => now);
  const run = (id: string) => once(id, async () => ++runs);
  expect(await Promise.all([run('a'), run('a'), run('b')])).toEqual([1, 1, 2]);
  now = 5 * MINUTE - 1;
  expect(await run('a')).toBe(1);
  now = 5 * MINUTE;
  expect(await run('a')).toBe(3);
});

test('a failure is not remembered', async () => {
  const once = createRepeats<string>(() => 0);
  await expect(once('a', () => Promise.reject(new Error('the disk is full')))).rejects.toThrow('full');
  expect(await once('a', async () => 'done')).toBe('done');
});

test('at most 20,000 ids are remembered, the newest', async () => {
  const once = createRepeats<number>(() => 0);
  for (let n = 0; n <= 20_000; n++) await once(String(n), async () => n);
  expect(await once('1', async () => -1)).toBe(1);
  expect(await once('0', async () => -1)).toBe(-1);
});

describe('a relayed command', () => {
  const service = shareTestService({ content: lobby });
  const path = '/api/screens/lobby/commands';
  const relay = (id: string) =>
    service().post(path, { command: 'next' }, { 'x-signage-relay': 'another-box', 'x-signage-command-id': id });

  test('with an id that was carried out is answered as the first one, and heard once', async () => {
    const page = await joinScreen(service(), 'lobby');
    const first = await (await relay('one')).json();
    await joinScreen(service(), 'lobby', { clientId: 'client-2' });
    expect(await (await relay('one')).json()).toEqual(first);
    expect(await (await relay('two')).json()).toMatchObject({ sent: 2 });
    await service().post(path, { command: 'reload' });
    await page.message(({ command }) => command === 'reload');
    expect(page.messages.filter(({ command }) => command === 'next')).toHaveLength(2);
  });

  test('with an id that is none is refused', async () => {
    const { error } = await (await relay('x'.repeat(129))).json();
    expect(error).toMatchObject({ code: 'invalid_field', field: 'x-signage-command-id' });
  });
});
