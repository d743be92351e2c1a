/** What was fetched is never shown older than the slide allows. */
import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { ageOf } from '../../service/domain/age.ts';
import { item, rss, startFeedServer } from '../feeds/server.ts';
import { describeBrowser } from '../support/browser.ts';
import { logged } from '../support/observe.ts';
import { lobby, openPlayer, patience, waitForConnection } from '../support/player.ts';
import { startTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const at = (hour: number): string => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
const payload = {
  rssFeeds: [{ id: 'news', fetched_at: at(1) }],
  apiSources: [
    { id: 'weather', fetched_at: at(2) },
    { id: 'air', fetched_at: null },
  ],
  timetableGroups: [{ id: 'trains' }, { id: 'talks', fetched_at: at(3) }],
  calendars: [
    { id: 'oak', fetched_at: at(4) },
    { id: 'elm', fetched_at: at(5) },
  ],
} as unknown as PlaylistPayload;
const slide = (kind: Slide['kind'], content: object, html = ''): Slide =>
  ({ id: 'a', kind, content, template: { id: 't', name: 't', html } }) as unknown as Slide;

const choir = [
  ...['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:a', 'SUMMARY:Choir', 'DTSTART:20260101T000000', 'RRULE:FREQ=HOURLY'],
  ...['DURATION:PT1H', 'END:VEVENT', 'END:VCALENDAR'],
].join('\r\n');

describe('the data of a slide', () => {
  it.each<[string, Slide, [hour: number, until: number] | null]>([
    ['a feed may be a day old', slide('rss', { feed_id: 'news' }), [1, 25]],
    ['unless the slide says less', slide('rss', { feed_id: 'news', max_age_seconds: 3600 }), [1, 2]],
    ['a calendar may be four hours old', slide('calendar', { calendar_id: 'oak' }), [4, 8]],
    ['of several the oldest counts', slide('calendar', { calendar_ids: ['elm', 'oak'] }), [4, 8]],
    ['so with the calendar of a timetable', slide('timetable', { group_id: 'talks' }), [3, 7]],
    ['a timetable of its own has no age', slide('timetable', { group_id: 'trains' }), null],
    ['a template has that of its source', slide('template', {}, '{{ sources.weather.data }}'), [2, 26]],
    ['one that its values name', slide('template', { which: 'elm' }, '{{ calendars[which].events }}'), [5, 9]],
    ['what was never fetched has none', slide('template', {}, '{{ sources.air.data }}'), null],
    ['a template of nothing has none', slide('template', {}, 'Hello'), null],
    ['a text has none', slide('text', {}), null],
  ])('%s', (_, given, expected) => {
    const found = ageOf(given, payload);
    expect(found && [found.fetchedAt, found.oldAt]).toEqual(expected?.map((hour) => Date.parse(at(hour))) ?? null);
  });
});

describeBrowser('data that is too old', { timeout: 60_000 }, () => {
  const serve = async () => {
    const state = { isDown: false };
    const answer: RequestListener = (request, response) => {
      if (state.isDown) return void response.writeHead(503).end();
      if (request.url === '/news') return void response.end(rss(item('Bridge opened')));
      if (request.url === '/oak') return void response.end(choir);
      response.setHeader('Content-Type', 'application/json').end('{"degrees": 21}');
    };
    const { at: addressOf } = await startFeedServer(answer);
    const source = (id: string) => ({ id, url: addressOf(`/${id}`), refresh_seconds: 1 });
    const records = {
      rssFeeds: [source('news')],
      apiSources: [source('weather')],
      calendars: [source('oak')],
      timetableGroups: [{ id: 'talks', calendar_id: 'oak' }],
    };
    const template = { id: 'degrees', html: '<p>{{ sources.weather.data.degrees }} degrees</p>' };
    return Object.assign(state, { records: { ...records, templates: [template] } });
  };

  it('has a label that says from when it is, until it is fetched again', walk, async () => {
    const server = await serve();
    const content = { max_age_seconds: 3 };
    const slides = [
      { id: 'a', kind: 'template', template_id: 'degrees', content },
      { id: 'b', kind: 'rss', content: { feed_id: 'news', ...content } },
    ].map((each) => ({ ...each, duration_seconds: 1 }));
    const service = await startTestService({ content: lobby(slides, server.records) });
    const page = await openPlayer(service, 'lobby', { width: 160, height: 90 });
    const label = page.locator('.slide[data-state="playing"] .as-of');
    for (const kind of ['template', 'rss']) await page.locator(`.slide-${kind}[data-state="playing"]`).waitFor();
    // The data stays the same, so nothing but its time changes.
    await page.waitForTimeout(3_200);
    expect(await label.count()).toBe(0);
    server.isDown = true;
    for (const kind of ['template', 'rss']) {
      const shown = page.locator(`.slide-${kind}[data-state="playing"] .as-of`);
      await shown.waitFor();
      expect(await shown.textContent()).toMatch(/^As of \d{1,2}:\d\d/);
    }
    server.isDown = false;
    await expect.poll(() => label.count(), patience).toBe(0);
  });

  it('is not shown at all where the slide says so', walk, async () => {
    const server = await serve();
    const content = { max_age_seconds: 2, when_old: 'skip' };
    const kinds = {
      rss: { feed_id: 'news' },
      calendar: { calendar_id: 'oak' },
      timetable: { group_id: 'talks' },
      template: {},
    };
    const old = Object.entries(kinds).map(([kind, own]) => ({
      ...{ id: kind, kind, content: { ...own, ...content } },
      ...(kind === 'template' && { template_id: 'degrees' }),
    }));
    const slides = [...old, { id: 'other', kind: 'text', title: 'Other' }];
    const service = await startTestService({
      content: lobby(
        slides.map((each) => ({ ...each, duration_seconds: 1 })),
        server.records,
      ),
    });
    const page = await openPlayer(service, 'lobby', { width: 160, height: 90 });
    for (const kind of Object.keys(kinds)) await waitForConnection(service, 'lobby', { currentSlideId: kind });
    server.isDown = true;
    const skipped = () =>
      logged(service, 'a slide was skipped')
        .filter(({ reason }) => /^what it shows is from .*, which is too old$/.test(String(reason)))
        .map(({ slideId }) => slideId);
    await expect.poll(() => [...new Set(skipped())].sort(), patience).toEqual(Object.keys(kinds).sort());
    await page.locator('.slide-text[data-state="playing"]').waitFor();
    await page.waitForTimeout(1_500);
    expect(await page.locator('.slide:not(.slide-text)[data-state="playing"]').count()).toBe(0);
    server.isDown = false;
    await waitForConnection(service, 'lobby', { currentSlideId: 'rss' });
  });
});
