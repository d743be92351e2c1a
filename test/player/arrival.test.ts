/** A medium that a page waits for is on the screen as soon as it is there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { putImage } from '../support/media.ts';
import { logged } from '../support/observe.ts';
import { colourOf, isClose, lobby, openPlayer, patience } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const red = [220, 20, 20] as const;

describeBrowser('a medium that is uploaded while it is wanted', () => {
  it('appears at once, and not with the next try', walk, async () => {
    const elsewhere = temporaryFolder();
    const url = putImage(elsewhere, 'late.png', red);
    const service = await startTestService({ content: lobby([{ kind: 'image', media_url: url }]) });
    const page = await openPlayer(service, 'lobby');
    const failures = () => logged(service, 'a slide was skipped').length;
    // It rests for 15 s after that.
    await expect.poll(failures, patience).toBe(1);
    const body = new Uint8Array(readFileSync(join(elsewhere, 'uploads', 'late.png')));
    expect((await service.get('/api/media/late.png', { method: 'PUT', body })).status).toBe(201);
    const begun = performance.now();
    await expect.poll(async () => isClose(await colourOf(page), red), { ...patience, interval: 20 }).toBe(true);
    expect(performance.now() - begun).toBeLessThan(4_000);
  });
});
