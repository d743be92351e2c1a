/** A service that can't start: a page says why and what to do, and the kiosk goes on by itself once it can. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { lockFolder } from '../../service/platform/store/lock.ts';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import { patience, startKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';
import { walk } from '../support/soak.ts';

describeBrowser('a kiosk whose service can not start', { timeout: 120_000 }, () => {
  it('says so in plain words, and goes on as soon as it can', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;

    const kiosk = await startKiosk({
      content: lobby([{ kind: 'text', title: 'Good morning' }]),
      config: { port: 'http' },
      env: { SIGNAGE_PORT: '' },
    });
    const configure = (config: object): void =>
      writeFileSync(join(kiosk.dataDir, 'config.json'), JSON.stringify(config));
    const kiosks = { displays: [{ display: 1, screen: 'lobby' }] };

    const expectTrouble = async (said: string, title: string, message: RegExp): Promise<void> => {
      const page = await kiosk.page(new RegExp(`trouble\\.html\\?kind=${said}`));
      await page.getByRole('heading', { name: title }).waitFor();
      expect(await page.locator('#message').textContent()).toMatch(message);
      await page.getByText(/^Next try in \d s$/).waitFor();
      await expect.poll(() => kiosk.pages().length, patience).toBe(1);
    };
    await expectTrouble('settings', 'A setting needs correcting', /^SIGNAGE_PORT: "http" is not valid/);
    configure({ port });
    await expectTrouble('port', 'Another program is in the way', new RegExp(`^Port ${port} is taken`));
    // Each lasts until the next try.
    if (!walk.skip) {
      configure({ port: 0, kiosk: { rotation: 45 } });
      await expectTrouble(
        'settings&message=config',
        'A setting needs correcting',
        /kiosk\.rotation is not valid; expected 0, 90/,
      );
      configure({ port: 0, uploadDir: join(kiosk.dataDir, 'content.json', 'below') });
      await expectTrouble('folder', 'The data folder can’t be used', /^SIGNAGE_UPLOAD_DIR: ".*" is not valid/);
    }
    const rival = await lockFolder({
      dataDir: kiosk.dataDir,
      environment: process.env,
      log: pino({ level: 'silent' }),
    });
    configure({ port: 0, kiosk: kiosks });
    await expectTrouble('taken', 'Another player is already running', /^The data folder .* is in use/);
    await rival.close();
    await (await kiosk.page(/\/screen\/lobby/)).getByText('Good morning').first().waitFor();
    await kiosk.url();
  });
});
