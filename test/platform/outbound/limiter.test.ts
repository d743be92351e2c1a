import { expect, it } from 'vitest';
import { createTurns } from '../../../service/platform/outbound/limiter.ts';

/** A signal that nobody gives. */
const open = (): AbortSignal => new AbortController().signal;

it('no more at a time than there may be, of one host and of all, and everybody in the end', async () => {
  const turns = createTurns({ total: 5, perHost: 2, gapMs: 0 });
  const running = new Map<string, number>();
  let most = 0;
  let mostOfHost = 0;
  const work = async (host: string): Promise<string> => {
    running.set(host, (running.get(host) ?? 0) + 1);
    mostOfHost = Math.max(mostOfHost, running.get(host) ?? 0);
    most = Math.max(
      most,
      [...running.values()].reduce((sum, each) => sum + each, 0),
    );
    await new Promise((resolve) => setTimeout(resolve, 2));
    running.set(host, (running.get(host) ?? 0) - 1);
    if (host === 'd') throw new Error('failed');
    return host;
  };
  const hosts = Array.from({ length: 60 }, (_, at) => 'abcd'[at % 4] as string);
  const results = await Promise.allSettled(hosts.map((host) => turns.take(host, open(), () => work(host))));
  expect(results.map(({ status }) => status)).toEqual(hosts.map((host) => (host === 'd' ? 'rejected' : 'fulfilled')));
  expect([most, mostOfHost]).toEqual([5, 2]);
});

it('leaves a host alone for a while, and lets others go meanwhile', async () => {
  const turns = createTurns({ total: 9, perHost: 9, gapMs: 150 });
  const times = new Map<string, number[]>();
  const note = (host: string) => async () => void times.set(host, [...(times.get(host) ?? []), performance.now()]);
  await Promise.all(['a', 'a', 'a', 'b'].map((host) => turns.take(host, open(), note(host))));
  const [one = 0, two = 0, three = 0] = times.get('a') ?? [];
  expect(two - one).toBeGreaterThanOrEqual(149);
  expect(three - two).toBeGreaterThanOrEqual(149);
  expect(times.get('b')?.[0]).toBeLessThan(two);
});

it('a caller that gives up waiting takes no slot', async () => {
  const turns = createTurns({ total: 1, perHost: 1, gapMs: 0 });
  const abort = new AbortController();
  let finish = (): void => {};
  const first = turns.take('a', open(), () => new Promise<void>((resolve) => (finish = resolve)));
  const given = turns.take('a', abort.signal, async () => 'never');
  const last = turns.take('a', open(), async () => 'at last');
  abort.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  finish();
  await first;
  expect(await last).toBe('at last');
});
