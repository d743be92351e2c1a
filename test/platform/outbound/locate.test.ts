import { expect, it, onTestFinished, vi } from 'vitest';
import { createLocator } from '../../../service/platform/outbound/locate.ts';

const { signal } = new AbortController();

it('few names are looked up at a time, one name once, and addresses not at all', async () => {
  const running: string[] = [];
  let most = 0;
  const locate = createLocator(async (host) => {
    expect(running).not.toContain(host);
    running.push(host);
    most = Math.max(most, running.length);
    await new Promise((resolve) => setImmediate(resolve));
    running.splice(running.indexOf(host), 1);
    if (host === 'unknown') throw new Error('ENOTFOUND');
    return [
      { address: '93.184.216.34', family: 4 },
      { address: host === 'near' ? '10.0.0.1' : '93.184.216.35', family: 4 },
    ];
  });
  const hosts = ['far', 'near', 'near', 'unknown', 'far', '127.0.0.1', '[::1]'];
  const places = hosts.map((host) =>
    locate(host, signal).then(
      (place) => place.nearness,
      (error: Error) => error.message,
    ),
  );
  expect(await Promise.all(places)).toEqual([0, 1, 1, 'there is no host of that name', 0, 2, 2]);
  expect(most).toBe(2);
});

it('a name that no server answers for holds up no other, and nobody waits for it who is told not to', async () => {
  const asked: string[] = [];
  const locate = createLocator(async (host) => {
    asked.push(host);
    return host === 'slow' ? new Promise(() => undefined) : [{ address: '10.0.0.1', family: 4 }];
  });
  const abort = new AbortController();
  const slow = [locate('slow', abort.signal), locate('slow', abort.signal)].map((place) => expect(place).rejects);
  expect((await locate('quick', signal)).nearness).toBe(1);
  abort.abort(new Error('enough'));
  await Promise.all(slow.map((place) => place.toThrow('enough')));
  await locate('another', signal);
  expect(asked).toEqual(['slow', 'quick', 'another']);
});

it('who wants the same name at the same time shares one look-up, which goes on as long as anybody waits', async () => {
  const asked: string[] = [];
  let answer = (): void => {};
  const locate = createLocator(async (host) => {
    asked.push(host);
    await new Promise<void>((resolve) => (answer = resolve));
    return [{ address: '10.0.0.1', family: 4 }];
  });
  const abort = new AbortController();
  const [left, stayed] = [locate('nas', abort.signal), locate('nas', signal)];
  abort.abort(new Error('enough'));
  await expect(left).rejects.toThrow('enough');
  const late = locate('nas', signal);
  answer();
  expect([(await stayed).nearness, (await late).nearness, asked]).toEqual([1, 1, ['nas']]);
});

it('what nobody waits for any more is not looked up', async () => {
  const asked: string[] = [];
  const locate = createLocator((host) => {
    asked.push(host);
    return new Promise(() => undefined);
  });
  const abort = new AbortController();
  const names = ['a', 'b', 'c', 'd'].map((name) => locate(name, abort.signal));
  abort.abort(new Error('enough'));
  for (const name of names) await expect(name).rejects.toThrow('enough');
  expect(asked).toEqual(['a', 'b']);
});

it('names that no server answers for are left alone for a while, and then hold up only each other', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const asked: string[] = [];
  const locate = createLocator(async (host) => {
    asked.push(host);
    if (host === 'none') throw new Error('ENOTFOUND');
    if (host.startsWith('dead')) {
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      throw new Error('EAI_AGAIN');
    }
    return [{ address: '10.0.0.1', family: 4 }];
  });
  const outcome = (host: string): Promise<unknown> =>
    locate(host, signal).then(
      ({ nearness }) => nearness,
      (error: Error) => error.message,
    );
  const dead = ['dead1', 'dead2', 'dead3', 'dead4'];
  const none = 'there is no host of that name';
  const first = Promise.all(dead.map(outcome));
  await vi.advanceTimersByTimeAsync(20_000);
  expect([await first, asked]).toEqual([dead.map(() => none), dead]);

  // What has failed at once costs nothing to ask again.
  expect(await Promise.all(['dead3', 'none'].map(outcome))).toEqual([none, none]);
  expect(await outcome('none')).toBe(none);
  expect(asked.splice(0)).toEqual([...dead, 'none', 'none']);

  await vi.advanceTimersByTimeAsync(30_000);
  const again = Promise.all(dead.map(outcome));
  expect(await Promise.all(['nas', 'none', 'nas'].map(outcome))).toEqual([1, none, 1]);
  expect(asked).toEqual(['dead1', 'nas', 'none']);
  await vi.advanceTimersByTimeAsync(40_000);
  await again;
  expect(asked).toEqual(['dead1', 'nas', 'none', 'dead2', 'dead3', 'dead4']);
});
