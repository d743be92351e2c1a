/** Who did what and when, and what was shown: read by day, person and screen, in pages, and saved as it is seen. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { didOf, type Names } from '../../renderer/console/history/did.ts';
import { csvOf } from '../../renderer/console/ui/save-file.ts';
import type { AuditRecord } from '../../service/contract/console/site.ts';
import type { Play } from '../../service/contract/plays.ts';
import { playAgo } from '../records/plays/pages.ts';
import { itBrowser } from '../support/browser.ts';
import { createOperator } from '../support/operator.ts';
import { lobby, patience } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { isSoak, repeats, walk } from '../support/soak.ts';
import { holdRequests, openConsole, violationsOn } from './browser.ts';

const names: Names = {
  screen: (slug) => (slug === 'lobby' ? 'Lobby' : slug),
  device: (id) => (id === 'd' ? 'Door' : id),
  box: () => 'cellar',
  target: (target) => (target === 'all' ? 'all screens' : target),
  slide: (id) => (id === 'hello' ? 'Hello' : null),
  list: (list) => list.join(' and '),
};
const texts = {
  did: {
    device_forget: ({ device }: { device: string }) => `forgot ${device}`,
    takeover_start: ({ targets, title }: Record<string, string>) => `${title} on ${targets}`,
    content_publish: 'published',
    draft_publish: ({ title }: Record<string, string>) => `draft ${title}`,
    draft_publish_nameless: 'a draft',
    screen_show: ({ slide, screen }: Record<string, string>) => `${slide} on ${screen}`,
    screen_show_nameless: ({ screen }: Record<string, string>) => `a slide on ${screen}`,
    box_action: 'acted',
    trigger_fire: ({ name }: Record<string, string>) => `fired ${name}`,
    trigger_fire_nameless: 'fired',
  },
  action: { 'display-off': ({ displays, box }: Record<string, string>) => `${displays} of ${box} off` },
  allDisplays: 'all',
  oneDisplay: ({ device }: { device: string }) => `only ${device}`,
  fired: ({ name, what }: Record<string, string>) => `${name}: ${what}`,
  firedOn: ({ name, targets }: Record<string, string>) => `${name} on ${targets}`,
  command: { blackout: ({ screen }: { screen: string }) => `black ${screen}`, light: 'light' },
  unknown: ({ action, target }: { action: string; target: string }) => `${action}/${target}`,
};

test.each<[Partial<AuditRecord>, string]>([
  [{ action: 'screen.command', target: 'lobby', after: { command: 'blackout', blackout: true } }, 'black Lobby'],
  [{ action: 'screen.command', target: 'lobby', after: { command: 'blackout', blackout: false } }, 'light'],
  [{ action: 'screen.command', target: 'lobby', after: { command: 'dance' } }, 'screen.command/lobby'],
  [{ action: 'screen.command', target: 'lobby', after: 'a text' }, 'screen.command/lobby'],
  [{ action: 'device.forget', target: 'd' }, 'forgot Door'],
  [{ action: 'device.forget', target: 'd', before: { clientName: 'Window' } }, 'forgot Window'],
  [
    { action: 'takeover.start', target: 't', after: { title: 'Fire', targets: ['all', 'bar'] } },
    'Fire on all screens and bar',
  ],
  [{ action: 'takeover.start', target: 't', after: { title: 7, targets: 'all' } }, 't on '],
  [{ action: 'content.publish', target: null }, 'published'],
  [{ action: 'something.new', target: null }, 'something.new/'],
  [{ action: 'draft.publish', target: 'x1', before: { title: 'Easter' }, after: { title: null } }, 'draft Easter'],
  [{ action: 'draft.publish', target: 'x1' }, 'a draft'],
  [{ action: 'screen.show', target: 'lobby', after: { slide_id: 'hello' } }, 'Hello on Lobby'],
  [{ action: 'screen.show', target: 'lobby', after: { slide_id: 'gone' } }, 'a slide on Lobby'],
  [{ action: 'box.action', target: 'n', after: { action: 'display-off' } }, 'all of cellar off'],
  [{ action: 'box.action', target: 'n', after: { action: 'display-off', display: 'd' } }, 'only Door of cellar off'],
  [{ action: 'box.action', target: 'n', after: { action: 'dance' } }, 'acted'],
  [{ action: 'box.action', target: 'n', after: { action: 'toString' } }, 'acted'],
  [
    { action: 'trigger.fire', target: 'f0', after: { name: 'Alarm', takeover: { id: 'message-a', targets: ['all'] } } },
    'Alarm on all screens',
  ],
  [
    {
      action: 'trigger.fire',
      target: 'f0',
      after: { name: 'Dark', command: { command: 'blackout', targets: ['bar'] } },
    },
    'Dark: black bar',
  ],
  [{ action: 'trigger.fire', target: 'f0', after: { name: 'Over', end: { id: 'message-a' } } }, 'fired Over'],
  [{ action: 'trigger.fire', target: 'f0', after: { takeover: { targets: ['all'] } } }, 'fired'],
])('a change is told in words: %j', (record, words) => {
  const whole = { at: '', node_id: '', operator: null, address: null, before: null, after: null, result: 'ok' };
  expect(didOf({ ...whole, ...record } as AuditRecord, names, texts)).toBe(words);
});

test('what is saved is no formula for a spreadsheet', () => {
  expect(csvOf([['a', '=1+1', 'x,"y"\n']])).toBe('a,\'=1+1,"x,""y""\n"\r\n');
});

const DAYS = 80;
const count = repeats(4_000, 300_000);
const MOST_MS = isSoak ? 1_000 : 5_000;

/** A day of which the page shows a part. */
const LONG_DAY = 9;
const LONG = 450;
const dateOf = (day: number): string => new Date(Date.now() - day * 86_400_000).toISOString().slice(0, 10);
const startOf = (date: string, index: number, plays: number): string =>
  new Date(Date.parse(date) + Math.floor((index * 86_400_000) / plays)).toISOString();

/** Plays of the last days. @returns how many there are a day */
const writePlays = (dataDir: string): number => {
  mkdirSync(join(dataDir, 'plays'));
  const perDay = Math.floor(count / DAYS);
  for (let day = 1; day <= DAYS; day += 1) {
    const date = dateOf(day);
    const lines = Array.from({ length: day === LONG_DAY ? LONG : perDay }, (_, index): Play => {
      const started_at = startOf(date, index, day === LONG_DAY ? LONG : perDay);
      const { play_id, screen = 'lobby', slide_id, slide_title, kind, media_url, ...rest } = playAgo(0, { started_at });
      const known = { site: 'default', node_id: 'a', device_id: null, client_name: 'Door', screen };
      const ended_at = new Date(Date.parse(started_at) + 8_000).toISOString();
      return { play_id, ...known, slide_id, slide_title, kind, media_url, media_sha256: null, ...rest, ended_at };
    });
    writeFileSync(join(dataDir, 'plays', `${date}.jsonl`), `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
  }
  return perDay;
};

itBrowser(
  'the history tells what each person did and what each screen showed, by day, in pages, and saves what is seen',
  { ...walk, timeout: isSoak ? 300_000 : 60_000 },
  async () => {
    const dataDir = temporaryFolder();
    const perDay = writePlays(dataDir);
    const service = await startTestService({
      dataDir,
      content: lobby([{ id: 'hello', kind: 'text', title: 'Hello' }]),
      env: { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_TIME_ZONE: 'UTC' },
    });
    const ask = createOperator(service, null);
    const by = (name: string) => ({ 'x-signage-operator': name });
    await ask('POST', '/api/screens/lobby/commands', { command: 'blackout', blackout: true }, by('Ada'));
    for (let times = 0; times < 205; times += 1)
      await ask('POST', '/api/screens/lobby/commands', { command: 'next' }, by('Boris'));
    const { sha256: before } = (await (await ask('GET', '/console/api/content')).json()) as { sha256: string };
    const content = { ...lobby([{ id: 'hello', kind: 'text', title: 'Good morning' }]) };
    await ask('PUT', '/console/api/content', content, { ...by('Ada'), 'If-Match': '*' });

    const { page, go } = await openConsole(service.url);
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('heading', { name: 'History', level: 1 }).waitFor();
    const rows = page.locator('.history-row');
    await expect.poll(() => rows.count(), patience).toBe(200);
    // What comes once another filter is chosen belongs to no list.
    const earlier = page.getByRole('button', { name: 'Show earlier ones' });
    const asked = page.waitForRequest(/[?&]to=/);
    // The page may have cancelled it before it is answered.
    const isEarlier = (request: Request): boolean => /[?&]to=/.test(request.url());
    const ended = Promise.race([
      page.waitForEvent('requestfinished', isEarlier),
      page.waitForEvent('requestfailed', isEarlier),
    ]);
    const release = await holdRequests(page, /[?&]to=/);
    await earlier.click();
    await asked;
    await page.getByLabel('Person').fill('Ada');
    await page.getByLabel('Person').press('Enter');
    await expect.poll(() => rows.count(), patience).toBe(2);
    release();
    await ended;
    // The page has read it before the answer to another request.
    await page.evaluate(async () => {
      await (await fetch('/healthz')).text();
      await new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume)));
    });
    expect(await rows.count()).toBe(2);
    await page.reload();
    await expect.poll(() => rows.count(), patience).toBe(200);
    await earlier.click();
    await expect.poll(() => rows.count(), patience).toBe(207);
    expect(await violationsOn(page)).toEqual([]);
    await page.getByLabel('Person').fill('Ada');
    await page.getByLabel('Person').press('Enter');
    await expect.poll(() => rows.count(), patience).toBe(2);
    await page.getByText('Blacked out Lobby').waitFor();
    await page.getByText('What it changed').click();
    await page.getByText(/“Good morning”/).waitFor();
    await page.route('**/console/api/content/versions/*', (route) => {
      const isBefore = route.request().url().endsWith(before);
      return isBefore
        ? route.fulfill({ status: 404, json: { error: { code: 'version_not_found' } } })
        : route.continue();
    });
    await page.reload();
    await page.getByText('What it changed').click();
    await page.getByText('This version is no longer kept.').waitFor();
    await page.unroute('**/console/api/content/versions/*');
    await page.getByLabel('Person').fill('Ada');
    await page.getByLabel('Person').press('Enter');
    await expect.poll(() => rows.count(), patience).toBe(2);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as CSV' }).click();
    const saved = readFileSync(await (await download).path(), 'utf8');
    expect(saved.split('\r\n')).toHaveLength(4);
    expect(saved).toContain(',Ada,');
    await page.getByLabel('What', { exact: true }).selectOption('Publishing');
    await expect.poll(() => rows.count(), patience).toBe(1);
    await page.getByLabel('Day').fill('2020-01-01');
    await page.getByText('Nothing was done').waitFor();

    // What ran a week ago: opened at once, however much is kept.
    const date = dateOf(7);
    await go('history/shown');
    const plays = page.locator('.shown-plays tbody tr');
    await page.getByText('Nothing was shown').waitFor();
    const since = performance.now();
    await page.getByLabel('Day').fill(date);
    await plays.first().waitFor();
    const took = performance.now() - since;
    expect(took).toBeLessThan(MOST_MS);
    console.log(`a day of ${count} plays was opened in ${Math.round(took)} ms`);
    await expect.poll(() => plays.count(), patience).toBe(Math.min(200, perDay));
    expect(await plays.first().locator('td').first().textContent()).toBe('00:00:00–00:00:08');
    expect(await violationsOn(page)).toEqual([]);
    await page.getByLabel('Hour').selectOption('12:00–13:00');
    await expect
      .poll(async () => (await plays.first().locator('td').first().textContent())?.slice(0, 2), patience)
      .toBe('12');

    // Another day begins at its midnight, and what comes late of the day before belongs to no list.
    await page.getByLabel('Day').fill(dateOf(LONG_DAY));
    await expect.poll(() => plays.count(), patience).toBe(200);
    expect(await plays.first().locator('td').first().textContent()).toMatch(/^00:00:00/);
    expect(await page.getByLabel('Hour').inputValue()).toBe('');
    const later = new RegExp(encodeURIComponent(startOf(dateOf(LONG_DAY), 199, LONG)).replaceAll('.', '[.]'));
    const isLater = page.waitForRequest(later);
    const releaseLater = await holdRequests(page, later);
    await page.getByRole('button', { name: 'Show later ones' }).click();
    await isLater;
    await page.getByLabel('Day').fill(date);
    await expect.poll(() => plays.count(), patience).toBe(Math.min(200, perDay));
    releaseLater();
    await page.evaluate(async () => {
      for (const path of [
        '/healthz',
        '/console/api/plays?format=json&from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z',
      ])
        await (await fetch(path)).text();
      await new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume)));
    });
    expect(await plays.count()).toBe(Math.min(200, perDay));
  },
);
