/** `signage ca`, and boxes that are asked over HTTPS. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { httpsSettings, portOf, rootOf } from '../authority/support.ts';
import { operatorSecret } from '../support/operator.ts';
import { shareTestService, startTestService, temporaryFolder } from '../support/service.ts';
import { signageHere } from './support.ts';

describe('at a site with an authority', () => {
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
