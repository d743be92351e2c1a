/** The API documents on the box, in a real browser. */
import { expect, test } from 'vitest';
import { itBrowser, launchBrowser } from '../support/browser.ts';
import { shareTestService, startTestService } from '../support/service.ts';

const service = shareTestService();
const MOST_BYTES = 1.5 * 1024 ** 2;

itBrowser(
  'a box shows its API documents, without another host and without a request to the API',
  { timeout: 60_000 },
  async () => {
    const context = await (await launchBrowser()).newContext();
    try {
      const page = await context.newPage();
      const faults: string[] = [];
      let bytes = 0;
      const asked: string[] = [];
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      page.on('pageerror', (error) => faults.push(error.message));
      page.on('request', (request) => asked.push(request.url()));
      page.on('response', async (response) => {
        bytes += (await response.body().catch(() => Buffer.alloc(0))).length;
      });
      await page.goto(`${service().url}/api/docs`);
      await page.locator('.nav-bar-path', { hasText: 'Fire a trigger' }).first().click();
      await page.getByText('By its token alone.').first().waitFor();
      expect(await page.getByRole('button', { name: 'TRY' }).count()).toBe(0);
      expect(await page.locator('input[type=file], input[type=password]').count()).toBe(0);
      expect(faults).toEqual([]);
      expect(asked.filter((url) => !url.startsWith(`${service().url}/`) && !url.startsWith('data:'))).toEqual([]);
      expect(asked.filter((url) => url.includes('/api/')).map((url) => new URL(url).pathname)).toEqual(['/api/docs']);
      expect(bytes).toBeLessThan(MOST_BYTES);
      expect(bytes).toBeGreaterThan(500_000);
    } finally {
      await context.close();
    }
  },
);

test('the page runs only scripts of its own, and is absent in the baseline variant', async () => {
  const answer = await service().get('/api/docs');
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  expect(await answer.text()).not.toMatch(/<script(?![^>]*\ssrc=)/);
  const baseline = await startTestService({ env: { SIGNAGE_VARIANT: 'baseline' } });
  expect((await baseline.get('/api/docs')).status).toBe(404);
});
