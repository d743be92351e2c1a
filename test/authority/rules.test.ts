/** The rules of an authority: what it permits, which root counts, and which certificates it makes. */
import fc from 'fast-check';
import pino from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { createAuthority } from '../../service/authority/index.ts';
import { isPermitted, permittedAtSite } from '../../service/authority/names.ts';
import {
  type AuthorityRecord,
  authoritiesOf,
  isOver,
  leafLifeMs,
  mergeAuthorities,
  renewalNeed,
} from '../../service/authority/records.ts';
import { profileOf } from '../../service/authority/routes.ts';
import { canonical } from '../../service/domain/canonical.ts';
import { waitOf } from '../../service/https/first-root.ts';
import { chainOf, makeCertificate, permittedBy } from '../../service/platform/x509.ts';

const DAY_MS = 86_400_000;
const start = Date.UTC(2026, 0, 1);
const permitted = permittedAtSite({
  publicUrl: 'https://signage.example.com',
  allowedHosts: ['tv.example.net', 'com'],
});

const makeRecord = async (notBefore: number, more: Partial<AuthorityRecord> = {}): Promise<AuthorityRecord> => {
  const life = { notBefore, notAfter: notBefore + 3_652 * DAY_MS, authority: { permitted } };
  const root = await makeCertificate({ ...life, commonName: 'root' });
  const signer = await makeCertificate({ ...life, commonName: 'signer', issuer: root });
  const id = chainOf(root.cert)?.[0]?.fingerprint256.replaceAll(':', '').toLowerCase() ?? '';
  return { id, root: root.cert, signer, replaces: [], lost_at: null, ...more };
};

describe('what a root permits', () => {
  test.each([
    ['127.0.0.1', true],
    ['10.1.2.3', true],
    ['172.31.0.1', true],
    ['172.32.0.1', false],
    ['192.168.1.20', true],
    ['169.254.1.1', true],
    ['100.64.0.1', true],
    ['8.8.8.8', false],
    ['::1', true],
    ['::2', false],
    ['fd12::1', true],
    ['fe80::1', true],
    ['2001:db8::1', false],
    ['localhost', true],
    ['lobby.local', true],
    ['a.b.home.arpa', true],
    ['lobby.lan', true],
    ['signage.example.com', true],
    ['a.signage.example.com', true],
    ['tv.example.net', true],
    ['example.com', false],
    ['notlocal', false],
    ['lobby', false],
    ['local', false],
    ['evil.com', false],
    ['evilsignage.example.com', false],
  ])('%s: %s', (name, expected) => {
    expect(isPermitted(name, permitted)).toBe(expected);
  });

  test('it is what the certificate says, whichever box reads it', async () => {
    const { signer } = await makeRecord(start);
    const read = await permittedBy(signer?.cert ?? '');
    expect(read).toEqual(permitted);
    expect(permitted.domains.some((domain) => domain.startsWith('.') || domain === 'com')).toBe(false);
  });

  test('a public URL that is an address is permitted alone', () => {
    const { networks } = permittedAtSite({ publicUrl: 'http://203.0.113.7:8080', allowedHosts: ['[2001:db8::7]'] });
    expect(networks).toContain('203.0.113.7/32');
    expect(networks).toContain('2001:db8::7/128');
    expect(isPermitted('203.0.113.8', { networks, domains: [] })).toBe(false);
  });
});

describe('of several roots', () => {
  let [older, newer]: AuthorityRecord[] = [];
  beforeAll(async () => {
    [newer, older] = [await makeRecord(start + DAY_MS), await makeRecord(start)];
  });
  const currentOf = (...records: (AuthorityRecord | undefined)[]) =>
    authoritiesOf(records as AuthorityRecord[]).current?.id ?? null;

  test('the older one signs, and the other one is kept until what it signed has ended', () => {
    expect(currentOf(newer, older)).toBe(older?.id);
    const lost = { ...(newer as AuthorityRecord), lost_at: new Date(start).toISOString() };
    expect(authoritiesOf([older as AuthorityRecord, lost]).others.map(({ id }) => id)).toEqual([newer?.id]);
    expect(isOver(lost, start + leafLifeMs - 1)).toBe(false);
    expect(isOver(lost, start + leafLifeMs)).toBe(true);
  });

  test('one that was replaced never counts, whatever its date', () => {
    const next = { ...(newer as AuthorityRecord), replaces: [older?.id ?? ''] };
    expect(currentOf(next, older)).toBe(newer?.id);
    expect(currentOf(next, { ...(older as AuthorityRecord), signer: null })).toBe(newer?.id);
    expect(currentOf({ ...(older as AuthorityRecord), signer: null })).toBe(null);
  });

  test('damaged records, and those of another key, are left out', () => {
    const { signer } = newer as AuthorityRecord;
    expect(currentOf({ ...(older as AuthorityRecord), signer })).toBe(null);
    expect(currentOf({ ...(older as AuthorityRecord), root: newer?.root ?? '' })).toBe(null);
    expect(currentOf({ ...(older as AuthorityRecord), root: 'x' }, newer)).toBe(newer?.id);
    const key = signer?.key ?? '';
    expect(currentOf({ ...(older as AuthorityRecord), signer: { cert: older?.signer?.cert ?? '', key } })).toBe(null);
  });

  test('merging records is commutative, associative and idempotent', () => {
    const ids = fc.constantFrom('a', 'b', 'c', 'd').map((letter) => letter.repeat(64));
    const arbitrary: fc.Arbitrary<AuthorityRecord> = fc.record({
      id: fc.constant('f'.repeat(64)),
      root: fc.constantFrom('r1', 'r2'),
      signer: fc.option(fc.record({ cert: fc.constantFrom('c1', 'c2'), key: fc.constant('k') })),
      replaces: fc.uniqueArray(ids, { maxLength: 4 }).map((list) => list.toSorted()),
      lost_at: fc.option(fc.constantFrom('2026-01-01T00:00:00.000Z', '2030-01-01T00:00:00.000Z')),
      newer: fc.constantFrom(1, 2),
    });
    const text = (record: AuthorityRecord): string => canonical(record);
    fc.assert(
      fc.property(arbitrary, arbitrary, arbitrary, (a, b, c) => {
        const m = mergeAuthorities;
        expect(text(m(a, b))).toBe(text(m(b, a)));
        expect(text(m(m(a, b), c))).toBe(text(m(a, m(b, c))));
        expect(text(m(a, a))).toBe(text(a));
      }),
    );
  });

  test('180 days before its end it must be renewed, and where it is not valid yet', () => {
    const [root] = chainOf(older?.root ?? '') ?? [];
    if (root === undefined) throw new Error('there is no root');
    const end = Date.parse(root.validTo);
    expect(renewalNeed({ root }, end - 181 * DAY_MS)).toBe(null);
    expect(renewalNeed({ root }, end - 179 * DAY_MS)).toMatch(/^The root certificate of the site ends on 20\d\d-/);
    expect(renewalNeed({ root }, end + DAY_MS)).toMatch(/ended on/);
    const start = Date.parse(root.validFrom);
    expect(renewalNeed({ root }, start)).toBe(null);
    expect(renewalNeed({ root }, start - 365 * DAY_MS)).toMatch(/not valid before 20\d\d-.*"signage ca renew"/);
  });

  test('a profile for iOS and macOS holds the root, with ids of its own', () => {
    const [root] = chainOf(older?.root ?? '') ?? [];
    if (root === undefined) throw new Error('there is no root');
    const profile = profileOf(root, 'A & <B>');
    expect(profile).toContain(`<data>${root.raw.toString('base64')}</data>`);
    expect(profile).toContain('Signage A &#38; &#60;B&#62;');
    expect(new Set(profile.match(/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/g)).size).toBe(2);
  });
});

test('of boxes that start together the first one makes the root', () => {
  const tempo = { root: 60_000, rank: 10_000 };
  expect(waitOf('a', ['b', 'c'], tempo)).toBe(60_000);
  expect(waitOf('b', ['a', 'c'], tempo)).toBe(70_000);
  expect(waitOf('a', [], tempo)).toBe(60_000);
});

test('a renewal names what was not replaced before, so that there is no last one for a long time', async () => {
  const records = new Map<string, AuthorityRecord>();
  const set = {
    get: (id: string) => records.get(id),
    list: () => [...records.values()],
    put: (...given: AuthorityRecord[]) => {
      for (const each of given) {
        const own = records.get(each.id);
        records.set(each.id, own === undefined ? each : mergeAuthorities(own, each));
      }
      changed();
      return Promise.resolve();
    },
    onChange: (listener: () => void) => {
      changed = listener;
    },
  };
  let changed = (): void => undefined;
  const { make, routes } = await createAuthority(
    {
      options: {
        sharedSecret: 'a secret of this test',
        variant: 'extended',
        site: 'x',
        publicUrl: null,
        allowedHosts: [],
      },
      dirs: { renderer: '/nosuch' },
      log: pino({ level: 'silent' }),
      now: () => start,
    } as unknown as Parameters<typeof createAuthority>[0],
    { shared: { open: () => Promise.resolve(set) } as never },
  );
  await make();
  const renew = routes?.['POST /console/api/ca/renew'] as unknown as (ctx: object) => Promise<void>;
  for (let count = 0; count < 21; count += 1) await renew({ set: () => undefined });
  const all = [...records.values()];
  expect(all.filter(({ signer }) => signer !== null)).toHaveLength(1);
  expect(all.map(({ replaces }) => replaces.length).toSorted()).toEqual([0, ...Array<number>(21).fill(1)]);
});
