/** `signage ca`, and boxes that are asked over HTTPS. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { httpsSettings, portOf, rootOf } from '../authority/support.ts';
import { operatorSecret } from '../support/operator.ts';
import { shareTestService, startTestService, temporaryFolder } from '../support/service.ts';
import { program, signageHere } from './support.ts';
import { hasTerminal, openTerminal } from './terminal.ts';

// One site, whose root is renewed.
describe('at a site with an authority', { shuffle: false }, () => {
  const box = shareTestService({ env: httpsSettings });
  const env = { SIGNAGE_SHARED_SECRET: operatorSecret };

  test('the fingerprint of the root is shown, and is another one after it was renewed', async () => {
    const { fingerprint256 } = await rootOf(box());
    const shown = await signageHere(['--box', box().url, 'ca'], env);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining(fingerprint256)]);
    expect(shown.stdout).toContain(`${box().url}/trust`);
    const renewed = await signageHere(['--box', box().url, 'ca', 'renew', '--json'], env);
    expect(renewed.code).toBe(0);
    expect(JSON.parse(renewed.stdout)).toMatchObject({ replaced: 1, root: expect.stringContaining('CERTIFICATE') });
    expect(renewed.stdout).not.toContain(fingerprint256);
    expect(renewed.stderr).toContain('remove the old root');
    expect((await signageHere(['--box', box().url, 'ca', 'destroy'], env)).code).toBe(2);
  });

  test.skipIf(!hasTerminal)('a new root asks first', async () => {
    const { fingerprint256 } = await rootOf(box());
    const declined = openTerminal(`${program} --box ${box().url} ca renew`, env);
    await declined.until('Replace the root certificate that people have installed? [y/N]');
    declined.type('\n');
    expect(await declined.ended).toBe(1);
    expect((await rootOf(box())).fingerprint256).toBe(fingerprint256);
    const agreed = openTerminal(`${program} --box ${box().url} ca renew --yes`, env);
    expect(await agreed.ended).toBe(0);
    expect(agreed.screen()).not.toContain('[y/N]');
  });

  test('over HTTPS a box is asked only where its root is trusted', async () => {
    const root = await rootOf(box());
    const url = `https://127.0.0.1:${await portOf(box())}`;
    const stranger = await signageHere(['--box', url, 'screens'], env);
    expect([stranger.code, stranger.stderr]).toEqual([69, expect.stringContaining('its certificate is not trusted')]);
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'signage'));
    writeFileSync(join(folder, 'signage', 'root.pem'), root.toString());
    const trusting = await signageHere(['--box', url, 'screens'], { ...env, XDG_CONFIG_HOME: folder });
    expect([trusting.code, trusting.stderr]).toEqual([0, '']);
  });
});

test('without a root it says what the site lacks', async () => {
  const box = await startTestService();
  const shown = await signageHere(['--box', box.url, 'ca'], {});
  expect([shown.code, shown.stderr]).toEqual([3, expect.stringContaining('needs a shared secret and SIGNAGE_HTTPS')]);
});

/** The addresses of this machine in its networks, over which boxes are found. */
const addresses = Object.values(networkInterfaces())
  .flatMap((infos = []) => infos)
  .flatMap(({ family, internal, address }) => (family === 'IPv4' && !internal ? [address] : []));

test.skipIf(addresses.length === 0)(
  'who joined finds the boxes of the site over https alone, by its root',
  async () => {
    const found = { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_DISCOVERY: 'on', SIGNAGE_SITE: randomUUID() };
    // The root permits them, whatever network the test runs in.
    const env = { ...httpsSettings, ...found, SIGNAGE_ALLOWED_HOSTS: addresses.join(',') };
    const box = await startTestService({ env });
    await rootOf(box);
    await portOf(box);
    const local = { SIGNAGE_SHARED_SECRET: operatorSecret, SIGNAGE_DATA_DIR: box.dataDir };
    const at = ['--box', box.url.replace('0.0.0.0', '127.0.0.1')];
    await signageHere([...at, 'people', 'add', 'maria', '--name', 'Maria', '--role', 'viewer'], local);
    const { stdout: invitation } = await signageHere([...at, 'people', 'invite', 'maria'], local);
    const folder = temporaryFolder();
    const own = { XDG_CONFIG_HOME: folder };
    expect((await signageHere(['join', invitation.trim()], own)).code).toBe(0);

    const me = await signageHere(['me', '--json'], own);
    expect([me.code, JSON.parse(me.stdout)]).toEqual([0, expect.objectContaining({ role: 'viewer' })]);
    expect(me.stderr).not.toContain('Over http');
    rmSync(join(folder, 'signage', 'root.pem'));
    const without = await signageHere(['me'], own);
    expect([without.code, without.stderr]).toEqual([69, expect.stringContaining('no root certificate of the site')]);
  },
);
