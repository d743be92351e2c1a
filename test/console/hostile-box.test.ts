/** A box of the site that answers whatever it likes: what the console and others get of it is bounded. */
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { connectionExample } from '../../service/contract/connections.ts';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import { emptyPeerState, listenOn, peersOf, startBox } from '../peers/support.ts';
import { isSkipped } from '../support/browser.ts';
import { patience } from '../support/observe.ts';
import { createOperator } from '../support/operator.ts';
import { startTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { openConsole } from './browser.ts';

const text = 'e\u0301'.repeat(50_000);

const site = {
  name: 'box',
  warnings: Array.from({ length: 500 }, () => text.slice(0, 5_000)),
  screens: [
    {
      slug: 'lobby',
      connections: [
        { ...connectionExample, label: text, clientName: text, page: text, currentSlideTitle: text, userAgent: text },
      ],
    },
  ],
  stuck: [],
  displays: [],
  seen: [],
};

const answers: Record<string, unknown> = {
  '/api/peers/state': emptyPeerState,
  '/api/peers/site': site,
  '/api/peers/connections': { screens: site.screens },
  '/api/peers/commands': { answers: [{ sent: 9_000 }] },
  '/api/screens/lobby/commands': { sent: 9_000 },
};

/** A box with the hostile one as its only peer. */
const startBeside = async (more: Record<string, unknown> = {}) => {
  const url = await listenOn(
    createServer((request, response) => {
      const body = { ...answers, ...more }[new URL(request.url ?? '', 'http://peer').pathname];
      response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body ?? { error: { code: 'not_found', message: 'There is nothing here.' } }));
    }),
  );
  const box = await startBox([{ url }]);
  await expect.poll(() => peersOf(box), patience).toMatchObject([{ state: 'alive' }]);
  return box;
};

test('its texts are cut as those of pages are, and its warnings are few and short', async () => {
  const ask = createOperator(await startBeside(), null);
  const read = async () => (await (await ask('GET', '/console/api/site')).json()) as SiteOverview;
  // On a busy machine the hostile box is late at first.
  await expect.poll(async () => (await read()).screens[0]?.connections.length, patience).toBe(1);
  const overview = await read();
  const [connection] = overview.screens[0]?.connections ?? [];
  const { label, clientName, page, currentSlideTitle, userAgent } = connection ?? connectionExample;
  expect([label, clientName, currentSlideTitle, userAgent].map((each) => each?.length)).toEqual([500, 500, 500, 500]);
  expect(page).toHaveLength(4_096);
  const { warnings = [] } = overview.boxes[1] ?? {};
  expect([warnings.length, Math.max(...warnings.map(({ length }) => length))]).toEqual([200, 300]);
  const { connections } = (await (await ask('GET', '/api/screens/lobby/connections')).json()) as {
    connections: { label: string }[];
  };
  expect(connections.map((each) => each.label.length)).toEqual([500]);
});

test.each([
  ['to one connection counts one', 9_000, { connectionId: connectionExample.id }, { sent: 1, degraded: false }],
  ['to more connections than a box has is no answer', 10_001, {}, { sent: 0, degraded: true }],
])('a command that it says it sent %s', async (_, sent, target, result) => {
  const lie = { '/api/peers/commands': { answers: [{ sent }] }, '/api/screens/lobby/commands': { sent } };
  const ask = createOperator(await startBeside(lie), null);
  const response = await ask('POST', '/api/screens/lobby/commands', { command: 'next', ...target });
  expect(await response.json()).toMatchObject(result);
});

describe.skipIf(isSkipped)('content of somebody else', () => {
  test('a name of 100,000 combining marks freezes no page of the console', walk, async () => {
    const name = `A${'\u0301'.repeat(100_000)}`;
    const slides = [{ id: 'one', kind: 'text', title: name }];
    const content = {
      screens: [{ name, slug: 'lobby', playlist_id: 'main' }],
      playlists: [{ id: 'main', name, slides }],
      templates: [{ id: 'menu', name, html: '<p></p>' }],
    };
    const box = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0' } });
    const { page, go } = await openConsole(box.url);
    const longest = await page.evaluateHandle(() => {
      const most = { ms: 0 };
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) most.ms = Math.max(most.ms, duration);
      }).observe({ entryTypes: ['longtask'] });
      return most;
    });
    for (const path of ['screens', 'screens/lobby', 'content/screens', 'content/playlists/main', 'content/sources']) {
      await go(path);
      await page.getByText('A\u0301').first().waitFor({ state: 'attached' });
    }
    expect(await longest.evaluate(({ ms }) => ms)).toBeLessThan(5_000);
  });

  test('the preview of an earlier version loads nothing from elsewhere until the person says so', walk, async () => {
    const asked: string[] = [];
    const slides = [{ id: 'one', kind: 'text', title: 'Hello', body: '<img src="http://elsewhere.invalid/seen.png">' }];
    const content = {
      screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
      playlists: [{ id: 'main', slides }],
    };
    const box = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0' } });
    const ask = createOperator(box, null);
    const plain = { ...content, playlists: [{ id: 'main', slides: [{ id: 'one', kind: 'text', title: 'Plain' }] }] };
    expect((await ask('PUT', '/console/api/content', plain, { 'If-Match': '*' })).status).toBe(200);
    const { page, go } = await openConsole(box.url);
    await page.route('http://elsewhere.invalid/**', (route) => {
      asked.push(new URL(route.request().url()).pathname);
      return route.fulfill({ status: 404 });
    });
    await go('content/versions');
    await page.getByRole('list').filter({ hasText: 'Plays now' }).getByRole('button').last().click();
    await page.getByRole('button', { name: 'Restore it to the draft' }).click();
    await go('content/playlists/main');
    await page.frameLocator('iframe').getByText('Hello').waitFor();
    const isOn = page.getByRole('checkbox', { name: 'Load from elsewhere' });
    expect([await isOn.isChecked(), asked]).toEqual([false, []]);
    await isOn.check();
    await expect.poll(() => asked, patience).toContain('/seen.png');
  });

  test('the link of a medium is made from its name, whatever the answer says', async () => {
    const box = await startTestService({ env: { SIGNAGE_HOST: '0.0.0.0' } });
    const { page, go } = await openConsole(box.url);
    const medium = { filename: 'a b.png', url: 'http://elsewhere.invalid/x.png', size: 1, media_type: 'image/png' };
    const rendition = { state: 'none', progress: 0, reason: null, size: null };
    const more = {
      sha256: null,
      width: null,
      height: null,
      duration_seconds: null,
      codec: null,
      loudness: null,
      peak: null,
      rendition,
      modified_at: null,
      used_by: [],
    };
    await page.route('**/console/api/media', (route) =>
      route.fulfill({ json: { media: [{ ...medium, ...more }], used_bytes: 1, quota_bytes: 2 } }),
    );
    await go('media');
    const link = page.getByRole('link', { name: 'a b.png' });
    expect(await link.getAttribute('href')).toBe('/media/a%20b.png');
  });
});
