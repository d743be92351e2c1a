/** Certificates of boxes: they follow the addresses, hold only what is permitted, and are not made too often. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAuthority } from '../../service/authority/index.ts';
import { createOwn, namesOf } from '../../service/https/own.ts';
import { chainOf } from '../../service/platform/x509.ts';
import { createShared } from '../../service/shared/index.ts';
import { defaultTempo } from '../../service/tempo.ts';
import { temporaryFolder } from '../support/service.ts';

const DAY_MS = 86_400_000;

/** What makes the certificates of a box, with clocks of the test. */
const openBox = async ({
  secret = 'a secret of the site',
  publicUrl = null,
}: {
  secret?: string | null;
  publicUrl?: string | null;
} = {}) => {
  const clock = { wall: Date.UTC(2030, 0, 1), monotonic: 0 };
  const closers: (() => unknown)[] = [];
  const context = {
    options: { sharedSecret: secret, variant: 'extended', https: true, publicUrl, allowedHosts: [], site: 'test' },
    dirs: { data: temporaryFolder(), renderer: '/nowhere' },
    log: pino({ level: 'silent' }),
    now: () => clock.wall,
    monotonicNow: () => clock.monotonic,
    machineName: 'lobby',
    tempo: defaultTempo,
    reserve: { release: async () => {} },
    keep: <T extends { close(): unknown }>(resource: T): T => {
      closers.push(() => resource.close());
      return resource;
    },
  } as never;
  onTestFinished(async () => {
    for (const close of closers) await close();
  });
  const authority = await createAuthority(context, { shared: await createShared(context) });
  return { authority, own: createOwn(context, authority), clock, context };
};

test('a certificate of the site lasts 90 days, is made again at two thirds of them, and is sent with the intermediate', async () => {
  const { authority, own, clock } = await openBox();
  await authority.make();
  const first = await own(['localhost', '192.168.1.20']);
  const [leaf, intermediate] = chainOf(first.pair.cert) ?? [];
  expect(Date.parse(leaf?.validTo ?? '') - Date.parse(leaf?.validFrom ?? '')).toBe(90 * DAY_MS);
  expect(intermediate?.checkIssued(authority.current()?.root as never)).toBe(true);
  clock.wall += 58 * DAY_MS;
  clock.monotonic += 58 * DAY_MS;
  expect((await own(['localhost', '192.168.1.20'])).pair).toEqual(first.pair);
  clock.wall += 2 * DAY_MS;
  clock.monotonic += 2 * DAY_MS;
  expect((await own(['localhost', '192.168.1.20'])).pair).not.toEqual(first.pair);
});

test('an address that changes ten times a minute causes a certificate in ten seconds at most, and the last one counts', async () => {
  const { authority, own, clock } = await openBox();
  await authority.make();
  const made = new Set<string>();
  for (let second = 0; second < 120; second += 1) {
    clock.wall += 1_000;
    clock.monotonic += 1_000;
    const { pair, againMs } = await own(['localhost', `192.168.1.${Math.floor(second / 6)}`]);
    made.add(pair.cert);
    expect(againMs === null || (againMs > 0 && againMs <= 10_000)).toBe(true);
  }
  expect(made.size).toBeLessThanOrEqual(12);
  clock.monotonic += 10_000;
  const [last] = chainOf((await own(['localhost', '192.168.1.99'])).pair.cert) ?? [];
  expect(last?.subjectAltName).toBe('DNS:localhost, IP Address:192.168.1.99');
});

test('a global address, a name of one label and a public name are left out, and the public URL is not', async () => {
  const { authority, own } = await openBox({ publicUrl: 'https://signage.example.com' });
  await authority.make();
  const given = namesOf(
    { machineName: 'lobby', publicUrl: 'https://signage.example.com', allowedHosts: ['www.example.org'] },
    {
      eth0: [
        { address: '192.168.1.20', family: 'IPv4' },
        { address: '2001:db8::20', family: 'IPv6' },
        { address: 'fd00::20', family: 'IPv6' },
        { address: 'fe80::1', family: 'IPv6', scopeid: 2 },
      ] as never,
    },
  );
  const { pair, leftOut } = await own(given);
  expect(leftOut).toEqual(['lobby', 'www.example.org', '2001:db8::20']);
  expect(chainOf(pair.cert)?.[0]?.subjectAltName).toBe(
    [
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:lobby.local, DNS:signage.example.com',
      'IP Address:192.168.1.20, IP Address:FD00:0:0:0:0:0:0:20',
    ].join(', '),
  );
});

test('the last certificate before the end of a root ends with it, and is not made again and again', async () => {
  const { authority, own, clock } = await openBox();
  await authority.make();
  const end = Date.parse(authority.current()?.root.validTo ?? '');
  clock.wall = end - DAY_MS / 4;
  clock.monotonic += DAY_MS;
  const { pair } = await own(['localhost']);
  expect(Date.parse(chainOf(pair.cert)?.[0]?.validTo ?? '')).toBe(end);
  clock.monotonic += DAY_MS;
  clock.wall = end - 60_000;
  expect((await own(['localhost'])).pair).toEqual(pair);
  // After it, the box signs its own one, and gives no root to people.
  clock.wall = end + 1;
  expect(await own(['localhost'])).toMatchObject({ signer: null });
  expect(authority.shown()).toBe(null);
});

describe('the key of the intermediate', () => {
  test('is on the disk encrypted alone, and that of the root nowhere', async () => {
    const { authority, context } = await openBox();
    await authority.make();
    const { data } = (context as { dirs: { data: string } }).dirs;
    const stored = readFileSync(join(data, 'shared', 'authority.json'), 'utf8');
    expect(stored).not.toContain('PRIVATE KEY');
    expect(stored).not.toContain(authority.current()?.signer.key.split('\n')[1]);
  });

  test('without a secret there is none, and the box signs its own certificate, at a limited rate too', async () => {
    const { authority, own, clock } = await openBox({ secret: null });
    await authority.make();
    expect(authority.current()).toBe(null);
    const { pair, signer } = await own(['localhost']);
    expect(signer).toBe(null);
    expect((await own(['localhost', '192.168.1.2'])).pair).toEqual(pair);
    clock.monotonic += 10_000;
    expect((await own(['localhost', '192.168.1.2'])).pair).not.toEqual(pair);
  });
});
