/** The authority of a site, through real boxes and real TLS. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SiteRoot } from '../../service/contract/authority.ts';
import { makeCertificate } from '../../service/platform/x509.ts';
import { createOperator, operatorSecret, refusalOf } from '../support/operator.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';
import { keptAuthority } from './kept.ts';
import { healthOf, httpsSettings, portOf, rootOf, shownBy, startBox, until } from './support.ts';

const DAY_MS = 86_400_000;
const patient = { ...testTempo, https: { ...testTempo.https, root: 3_600_000 } };
const ask = (box: TestService) => createOperator(box, operatorSecret);
const isAccepted = (port: number, root: X509Certificate) => expect(shownBy(port, root)).resolves.toBeTruthy();
const isRefused = (port: number, root: X509Certificate) =>
  expect(shownBy(port, root)).rejects.toThrow(/unable to get|self-signed|self signed/);

test('a site with a secret gets a root of its own, and people get it once the box answers with what it signs', async () => {
  const box = await startBox({ tempo: { ...testTempo, https: { ...testTempo.https, root: 1_500 } } });
  for (const path of ['/trust', '/trust/root.crt', '/trust/root.mobileconfig'])
    expect(await refusalOf(await box.get(path))).toEqual([404, 'trust_unavailable']);
  const opened = await box.get('/trust', { headers: { Accept: 'text/html' } });
  expect([opened.status, await opened.text()]).toEqual([404, expect.stringMatching(/^[^{]*root certificate/)]);
  expect(await refusalOf(await ask(box)('GET', '/console/api/ca'))).toEqual([404, 'trust_unavailable']);
  expect((await shownBy(await portOf(box), null)).length).toBe(1);

  const root = await rootOf(box);
  const [leaf, intermediate] = await shownBy(await portOf(box), root);
  const day = (date = '') => Date.parse(date) / DAY_MS;
  expect(Math.abs(day(root.validFrom) + 1 - Date.now() / DAY_MS)).toBeLessThan(0.1);
  expect(Math.round(day(root.validTo) - day(root.validFrom))).toBe(3_652);
  expect([root.ca, intermediate?.ca, leaf?.ca]).toEqual([true, true, false]);
  expect(intermediate?.checkIssued(root)).toBe(true);
  expect(leaf?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  const { https } = await healthOf(box);
  expect(https).toMatchObject({ source: 'site', root: root.fingerprint256, fingerprint: leaf?.fingerprint256 });
  expect(statSync(join(box.dataDir, 'shared', 'authority.json')).mode & 0o777).toBe(0o600);

  const page = await box.get('/trust');
  expect(page.status).toBe(200);
  expect(await page.text()).toContain(root.fingerprint256);
  const profile = await box.get('/trust/root.mobileconfig');
  expect(profile.headers.get('content-type')).toMatch(/^application\/x-apple-aspen-config/);
  expect(await profile.text()).toContain(root.raw.toString('base64'));
  const shown = (await (await ask(box)('GET', '/console/api/ca')).json()) as SiteRoot;
  expect(shown).toMatchObject({ fingerprint: root.fingerprint256, replaced: 0 });
  expect(new X509Certificate(shown.root).fingerprint256).toBe(root.fingerprint256);
});

test('without a secret, and in the baseline variant, there is no root', async () => {
  const box = await startTestService({ env: { ...httpsSettings, SIGNAGE_SHARED_SECRET: '' } });
  await portOf(box);
  expect((await box.get('/trust/root.crt')).status).toBe(404);
  expect(await refusalOf(await box.post('/console/api/ca/renew', {}))).toEqual([404, 'trust_unavailable']);
  const baseline = await startBox({ env: { SIGNAGE_VARIANT: 'baseline' } });
  expect((await fetch(`${baseline.url}/trust`)).status).toBe(404);
});

test('all boxes of a site have one root, also those that start later, answer without HTTPS, or restart', async () => {
  const first = await startBox();
  const root = await rootOf(first);
  const env = { SIGNAGE_PEERS: first.url };
  const dataDir = temporaryFolder();
  const second = await startBox({ env: { ...env, SIGNAGE_ALLOWED_HOSTS: 'signage.example.com' }, dataDir });
  expect((await rootOf(second)).fingerprint256).toBe(root.fingerprint256);
  await isAccepted(await portOf(second), root);
  // The root does not permit what only this box was told later.
  expect((await healthOf(second)).https?.leftOut).toContain('signage.example.com');
  const plain = await startBox({ env: { ...env, SIGNAGE_HTTPS: 'off' } });
  expect((await rootOf(plain)).fingerprint256).toBe(root.fingerprint256);
  await first.close();
  await second.close();
  const again = await startBox({ dataDir });
  expect((await rootOf(again)).fingerprint256).toBe(root.fingerprint256);
  await isAccepted(await portOf(again), root);
});

test('after a theft a new root replaces the old one everywhere, also on a box that was off', async () => {
  const first = await startBox();
  const old = await rootOf(first);
  const env = { SIGNAGE_PEERS: first.url };
  const dataDir = temporaryFolder();
  const second = await startBox({ env, dataDir });
  await rootOf(second);
  await second.close();

  const answer = await ask(first)('POST', '/console/api/ca/renew');
  expect(answer.status).toBe(200);
  const { fingerprint } = (await answer.json()) as SiteRoot;
  expect(fingerprint).not.toBe(old.fingerprint256);
  await until(async () => expect((await rootOf(first)).fingerprint256).toBe(fingerprint));
  const { records } = (await (await ask(first)('GET', '/console/api/audit')).json()) as { records: object[] };
  const change = { before: { root: old.fingerprint256 }, after: { root: fingerprint }, result: 'ok' };
  expect(records).toContainEqual(expect.objectContaining({ action: 'ca.renew', ...change }));
  await isRefused(await portOf(first), old);
  await isAccepted(await portOf(first), await rootOf(first));

  const back = await startBox({ env, dataDir });
  await until(async () => expect((await rootOf(back)).fingerprint256).toBe(fingerprint));
  await until(async () => isRefused(await portOf(back), old));
  // Its key is on no disk any more.
  const kept = keptAuthority(dataDir);
  expect(kept.filter(({ signer }) => signer !== null).map(({ replaces }) => replaces.length)).toEqual([1]);
  const idOf = (spelled: string): string => spelled.replaceAll(':', '').toLowerCase();
  for (const folder of [first.dataDir, dataDir]) {
    const before = keptAuthority(folder, 'authority.json.prev');
    expect(before.find(({ id }) => id === idOf(old.fingerprint256))?.signer ?? null).toBeNull();
  }
  expect((await rootOf(first)).fingerprint256).toBe(fingerprint);
});

test('of two roots the older one stays, and what the other one signed lasts', async () => {
  const [first, second] = [temporaryFolder(), temporaryFolder()];
  const one = await startBox({ dataDir: first });
  const older = await rootOf(one);
  await one.close();
  const two = await startBox({ dataDir: second, wall: () => Date.now() + 3_600_000 });
  const newer = await rootOf(two);
  expect(newer.fingerprint256).not.toBe(older.fingerprint256);

  const both = await startBox({ dataDir: first, env: { SIGNAGE_PEERS: two.url } });
  await until(async () => expect((await rootOf(two)).fingerprint256).toBe(older.fingerprint256));
  expect((await rootOf(both)).fingerprint256).toBe(older.fingerprint256);
  await isAccepted(await portOf(two), newer);
  await isAccepted(await portOf(both), older);
  const { warnings } = await healthOf(two);
  expect(warnings.join('\n')).toMatch(/HTTPS answers until \d{4}-\d\d-\d\d with a certificate of another root/);
});

describe('no root is made', () => {
  test('by a clock that another box contradicts, and it is told', async () => {
    const other = await startBox({ env: { SIGNAGE_HTTPS: 'off' } });
    const box = await startBox({ env: { SIGNAGE_PEERS: other.url }, wall: () => Date.now() + 90_000 });
    await until(async () => expect((await healthOf(box)).warnings.join('\n')).toContain('differ by more than 60 s'));
    expect((await box.get('/trust/root.crt')).status).toBe(404);
  });

  test('by a clock from before this version', async () => {
    const box = await startBox({ wall: () => Date.UTC(2020, 0, 1) });
    await until(async () =>
      expect((await healthOf(box)).warnings.join('\n')).toContain('before this version of the player was built'),
    );
  });

  test('while it is not time yet', async () => {
    const box = await startBox({ tempo: patient });
    await portOf(box);
    expect(await refusalOf(await ask(box)('POST', '/console/api/ca/renew'))).toEqual([404, 'trust_unavailable']);
  });
});

test('Node refuses what the authority signs for a public name, and what is not for servers', async () => {
  const box = await startBox();
  const root = await rootOf(box);
  const [record] = keptAuthority(box.dataDir);
  if (!record?.signer) throw new Error('the box keeps no authority');
  const { signer } = record;
  const serve = async (request: { names: string[]; usage?: string }, servername: string) => {
    const life = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
    const { cert, key } = await makeCertificate({ ...life, commonName: 'x', issuer: signer, ...request });
    const server = createServer({ cert: cert + signer.cert, key }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return shownBy((server.address() as AddressInfo).port, root, servername);
  };
  await expect(serve({ names: ['lobby.local'] }, 'lobby.local')).resolves.toBeTruthy();
  await expect(serve({ names: ['bank.example.com'] }, 'bank.example.com')).rejects.toThrow(
    /permitted subtree violation/,
  );
  const usage = '1.3.6.1.5.5.7.3.3';
  await expect(serve({ names: ['lobby.local'], usage }, 'lobby.local')).rejects.toThrow(
    /(?:unsupported|unsuitable) certificate purpose/,
  );
});
