import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser } from '../../support/browser.ts';
import { lobby, openPlayer, patience } from '../../support/player.ts';
import { startTestService } from '../../support/service.ts';

describeBrowser('a web slide', () => {
  it('runs its scripts and keeps its storage, and can neither leave nor open windows nor take the focus', async () => {
    const html = `<!doctype html><body style="background: #fff"><input autofocus><p></p><script>
      localStorage.setItem('a', 'kept');
      window.open('about:blank');
      try { top.location = 'about:blank' } catch {}
      document.querySelector('p').textContent = localStorage.getItem('a');
    </script>`;
    const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(html));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const service = await startTestService({
      content: lobby([{ kind: 'web', media_url: `http://127.0.0.1:${port}/` }]),
    });
    const page = await openPlayer(service, 'lobby');
    await expect.poll(() => page.frameLocator('iframe').locator('p').textContent(), patience).toBe('kept');
    expect(page.url()).toBe(`${service.url}/screen/lobby`);
    expect(page.context().pages()).toHaveLength(1);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('BODY');
  });
});
