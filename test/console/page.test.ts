/** The console's page: who gets it, under which policy, and how much it loads. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { itBrowser } from '../support/browser.ts';
import { shareTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { newPage, signIn } from './browser.ts';

const secret = 'correct horse battery staple';
const shared = shareTestService({ content: lobby, env: { SIGNAGE_SHARED_SECRET: secret } });

/** Script of the page before any lazy part, gzip; the budget of the console. */
const MOST_SCRIPT_BYTES = 70_000;

test('the page is public with a secret, holds no data and runs under a policy without exceptions', async () => {
  const response = await shared().get('/console');
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  const html = await response.text();
  expect(html).not.toMatch(/lobby|correct horse/i);
  expect(html).toContain('"hasSecret":true');
});

test('its script before lazy parts is at most 70 kB compressed', async () => {
  const service = shared();
  const seen = new Map<string, number>();
  const load = async (path: string): Promise<void> => {
    if (seen.has(path)) return;
    const source = await (await service.get(path)).text();
    seen.set(path, gzipSync(source).length);
    // Static imports alone: `import("./x.js")` is a lazy part.
    const imports = source.matchAll(/(?:^|[;}\s])(?:import|export)\s*(?:[\w*{][^"'()]*?from)?\s*["'](\.\/[^"']+)["']/g);
    for (const [, file = ''] of imports) await load(`/assets/${file.slice(2)}`);
  };
  const html = await (await service.get('/console')).text();
  for (const [, path = ''] of html.matchAll(/src="(\/assets\/[^"]+)"/g)) await load(path);
  const total = [...seen.values()].reduce((sum, bytes) => sum + bytes, 0);
  expect(seen.size).toBeGreaterThan(0);
  expect(total).toBeLessThanOrEqual(MOST_SCRIPT_BYTES);
});

itBrowser('a browser that denies all storage works until the page is left', walk, async () => {
  const deny = (name: string): string =>
    `Object.defineProperty(window, '${name}', { get() { throw new DOMException('denied', 'SecurityError'); } });`;
  const page = await newPage({}, ['localStorage', 'sessionStorage', 'indexedDB'].map(deny).join(''));
  await page.goto(`${shared().url}/console#/content`);
  await signIn(page, secret);
  await page.getByRole('link', { name: 'welcome' }).click();
  await page.getByRole('button', { name: 'Show as a grid' }).click();
  await page.getByRole('button', { name: 'Duplicate' }).click();
  await page.getByRole('button', { name: 'Show as a strip' }).waitFor();
  await page.getByRole('button', { name: 'Publish', exact: false }).and(page.locator(':enabled')).waitFor();
});
