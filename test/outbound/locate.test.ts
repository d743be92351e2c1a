import { expect, it } from 'vitest';
import { createLocator } from '../../service/outbound/locate.ts';

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
