/** Calendars through the front door: what pages get of them, when, and what stays private. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sourcesOf } from '../../service/content/model.ts';
import { validateContent } from '../../service/content/validate.ts';
import { addDays } from '../../service/domain/wall-time.ts';
import { lobbyWith } from '../content/samples.ts';
import { describeBrowser } from '../support/browser.ts';
import { healthOf, patience, payloadOf } from '../support/observe.ts';
import { openPlayer } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { walk, walks } from '../support/soak.ts';

const timeZone = 'Europe/Vienna';
const env = { SIGNAGE_TIME_ZONE: timeZone };
const today = (): string => new Intl.DateTimeFormat('sv', { timeZone }).format(Date.now());
const compact = (days: number): string => addDays(today(), days).replaceAll('-', '');
const ics = (...events: string[]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    ...events.flatMap((event) => ['BEGIN:VEVENT', event, 'END:VEVENT']),
    'END:VCALENDAR',
    '',
  ].join('\r\n');
const daily = (id: string, title: string, time: string, more = ''): string =>
  `UID:${id}\r\nSUMMARY:${title}\r\nDTSTART;TZID=${timeZone}:20200101T${time}\r\nDURATION:PT1H\r\nRRULE:FREQ=DAILY${more}`;

/** Serves a calendar whose text can be changed. */
const serve = async (text: string | Buffer) => {
  const state = { text, isDown: false };
  const server = createServer((_, response) => {
    if (state.isDown) response.writeHead(503).end();
    else response.setHeader('Content-Type', 'text/calendar').end(state.text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/room.ics` });
};

const slide = (content: object) => ({ id: 'room', kind: 'calendar', content });
const contentWith = (url: string, content: object, more: object = {}) =>
  lobbyWith([slide(content)], { calendars: [{ id: 'room', name: 'Oak', url, refresh_seconds: 1 }], ...more });

const eventsOf = async (service: Parameters<typeof payloadOf>[0]) =>
  (await payloadOf(service)).calendars?.[0]?.events ?? [];

describe('a calendar', () => {
  test('that calls itself ok has all of its events, from the first answer on, and whatever its rules are', async () => {
    const never = `UID:never\r\nSUMMARY:Never\r\nDTSTART:20260601T000000Z\r\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30`;
    const state = await serve(ics(never, daily('a', 'Choir', '100000')));
    const service = await startTestService({ env, content: contentWith(state.url, { calendar_id: 'room' }) });
    const seen: [status: string | undefined, isFetched: boolean, count: number][] = [];
    const look = async (): Promise<string> => {
      const [calendar] = (await payloadOf(service)).calendars ?? [];
      seen.push([calendar?.status, typeof calendar?.fetched_at === 'string', calendar?.events.length ?? 0]);
      return calendar?.events.map(({ title }) => title).join() ?? '';
    };
    await expect.poll(look, { ...patience, interval: 5 }).toBe(Array(8).fill('Choir').join());
    state.text = ics(never, daily('a', 'Organ', '100000'), daily('b', 'Tea', '110000'));
    await expect.poll(look, { ...patience, interval: 5 }).toBe(Array(8).fill('Organ,Tea').join());
    const states = new Set(seen.map((each) => JSON.stringify(each)));
    states.delete(JSON.stringify(['pending', false, 0]));
    expect([...states]).toEqual([8, 16].map((count) => JSON.stringify(['ok', true, count])));
    await expect
      .poll(async () => (await healthOf(service)).content.warnings, patience)
      .toEqual([
        {
          path: 'calendars[0]',
          message: '"room": has events whose rules take too long to follow, and which are not shown each time: "Never"',
        },
      ]);
  });

  test('is read but for its broken events, which are a warning, and where it is folded inside of a character', async () => {
    const broken = ['UID:x\r\nDTSTART:20260601T000000Z\r\nRRULE:FREQ=', 'UID:y\r\nDTSTART:2024'];
    const text = ics(...broken, daily('a', 'Gr?\r\n ?n', '100000'));
    const bytes = Buffer.from(text.replace('?', '\u00c3').replace('?', '\u00bc'), 'latin1');
    const { url } = await serve(bytes);
    const service = await startTestService({ env, content: contentWith(url, { calendar_id: 'room' }) });
    await expect
      .poll(async () => (await eventsOf(service)).map(({ title }) => title), patience)
      .toEqual(Array(8).fill('Grün'));
    expect((await healthOf(service)).content.warnings).toEqual([
      { path: 'calendars[0]', message: '"room": has events that cannot be read, and are not shown: 2' },
    ]);
  });

  test('keeps its events while only its refreshing is changed', async () => {
    const { url } = await serve(ics(daily('a', 'Choir', '100000')));
    const contentOf = (name: string, refresh_seconds: number) =>
      contentWith(url, { calendar_id: 'room' }, { calendars: [{ id: 'room', name, url, refresh_seconds }] });
    const service = await startTestService({ env, content: contentOf('Oak', 600) });
    await expect.poll(async () => (await eventsOf(service)).length, patience).toBe(8);
    service.writeContent(contentOf('Elm', 900));
    const counts = new Set<number | undefined>();
    const look = async (): Promise<string | undefined> => {
      const [calendar] = (await payloadOf(service)).calendars ?? [];
      counts.add(calendar?.events.length);
      return calendar?.name;
    };
    await expect.poll(look, { ...patience, interval: 2 }).toBe('Elm');
    expect([...counts]).toEqual([8]);
  });

  test('is in the payload of screens that show it, from the last midnight on for 8 days', async () => {
    const { url } = await serve(ics(daily('a', 'Choir', '100000')));
    const content = contentWith(url, { calendar_id: 'room' });
    const other = { name: 'Hall', slug: 'hall', playlist_id: 'none' };
    const service = await startTestService({
      env,
      content: {
        ...content,
        screens: [...content.screens, other],
        playlists: [...content.playlists, { id: 'none', slides: [{ kind: 'text', title: 'Hall' }] }],
      },
    });
    await expect.poll(async () => (await eventsOf(service)).length, patience).toBe(8);
    const { calendars = [] } = await payloadOf(service);
    expect(calendars[0]).toMatchObject({ id: 'room', name: 'Oak', status: 'ok' });
    expect(calendars[0]?.events[0]).toMatchObject({ title: 'Choir', location: null, all_day: false, private: false });
    expect(Object.keys(await payloadOf(service, 'hall'))).not.toContain('calendars');
  });

  test('is on the disk within a second, and there without its server after a restart', async () => {
    const state = await serve(ics(daily('a', 'Choir', '100000')));
    const dataDir = temporaryFolder();
    const first = await startTestService({ env, dataDir, content: contentWith(state.url, { calendar_id: 'room' }) });
    await expect.poll(async () => (await eventsOf(first)).length, patience).toBe(8);
    await first.close();
    state.isDown = true;
    const second = await startTestService({ env, dataDir });
    // From the first answer on.
    expect(await eventsOf(second)).toHaveLength(8);
    await expect.poll(async () => (await payloadOf(second)).calendars?.[0]?.status, patience).toBe('stale');
    await expect
      .poll(async () => JSON.stringify((await healthOf(second)).warnings), patience)
      .toContain('The calendar \\"room\\" failed');
    expect(await eventsOf(second)).toHaveLength(8);
  });

  test('does not tell of private events, unless a slide shows them', async () => {
    const { url } = await serve(ics(`${daily('a', 'Surgery', '100000')}\r\nCLASS:PRIVATE\r\nLOCATION:Ward 3`));
    const service = await startTestService({ env, content: contentWith(url, { calendar_id: 'room' }) });
    await expect
      .poll(async () => (await eventsOf(service))[0], patience)
      .toMatchObject({ title: 'Busy', location: null, private: true });
    service.writeContent(contentWith(url, { calendar_ids: ['room'], show_private: true }));
    await expect
      .poll(async () => (await eventsOf(service))[0], patience)
      .toMatchObject({ title: 'Surgery', location: 'Ward 3' });
  });

  test('with more than 500 events in 8 days is cut, and that is a warning of the content, which degrades nothing', async () => {
    const events = Array.from({ length: 70 }, (_, index) => daily(`e${index}`, `E ${index}`, '100000'));
    const { url } = await serve(ics(...events));
    const calendarOf = (id: string) => ({ id, name: 'Oak', url, refresh_seconds: 600 });
    const contentOf = (...calendars: object[]) => contentWith(url, { calendar_id: 'room' }, { calendars });
    const service = await startTestService({ env, content: contentOf(calendarOf('room')) });
    await expect.poll(async () => (await eventsOf(service)).length, patience).toBe(500);
    const told = async () => {
      const { status, warnings, content } = await healthOf(service);
      return [status, warnings, content.warnings.filter(({ path }) => path.startsWith('calendars'))];
    };
    const excess = (index: number) => ({
      path: `calendars[${index}]`,
      message: '"room": has 60 more events than are shown',
    });
    await expect.poll(told, patience).toEqual(['ok', [], [excess(0)]]);
    // A source that was there before keeps its data, at its new place.
    const few = { id: 'few', name: 'Elm', url: (await serve(ics())).url };
    service.writeContent(contentOf(few, calendarOf('room')));
    await expect.poll(told, patience).toEqual(['ok', [], [excess(1)]]);
  });

  test('can lie among the media, and be the entries of a timetable', async () => {
    const service = await startTestService({
      env,
      content: lobbyWith([{ kind: 'timetable', content: { group_id: 'today' } }], {
        calendars: [{ id: 'room', url: '/media/room.ics', refresh_seconds: 1 }],
        timetableGroups: [{ id: 'today', calendar_id: 'room' }],
      }),
    });
    writeFileSync(
      join(service.dataDir, 'uploads', 'room.ics'),
      ics(`UID:1\r\nSUMMARY:Choir\r\nLOCATION:Oak\r\nDTSTART;TZID=${timeZone}:${compact(1)}T183000`),
    );
    const entries = async () =>
      (await payloadOf(service)).timetableGroups[0]?.entries.map(({ time, title, location }) => [
        time,
        title,
        location,
      ]);
    await expect.poll(entries, { ...patience, timeout: 25_000 }).toEqual([['18:30', 'Choir', 'Oak']]);
    expect(Object.keys(await payloadOf(service))).not.toContain('calendars');
  });

  test('among the media is read again as soon as another file is there under its name', {
    timeout: 60_000,
  }, async () => {
    const calendars = [{ id: 'room', url: '/media/room.ics', refresh_seconds: 3_600 }];
    const content = contentWith('', { calendar_id: 'room' }, { calendars });
    const one = await startTestService({ env, content });
    const other = await startTestService({ env: { ...env, SIGNAGE_PEERS: one.url }, content });
    const titles = async (at: typeof one) => [...new Set((await eventsOf(at)).map(({ title }) => title))];
    for (const title of ['Choir', 'Organ', 'Tea']) {
      const body = ics(daily('a', title, '100000'));
      expect((await one.get('/api/media/room.ics', { method: 'PUT', body })).ok).toBe(true);
      for (const box of [one, other]) await expect.poll(() => titles(box), patience).toEqual([title]);
    }
  });

  test('that is none is a failed one, and what a server sends instead changes nothing', async () => {
    const state = await serve(ics(daily('a', 'Choir', '100000')));
    const service = await startTestService({ env, content: contentWith(state.url, { calendar_id: 'room' }) });
    await expect.poll(async () => (await eventsOf(service)).length, patience).toBe(8);
    state.text = '<html>Please log in</html>';
    await expect.poll(async () => (await payloadOf(service)).calendars?.[0]?.status, patience).toBe('stale');
    expect(await eventsOf(service)).toHaveLength(8);
  });
});

test('the baseline has neither calendars nor slides of them', async () => {
  const slides = [slide({ calendar_id: 'room' }), { kind: 'text', title: 'Hello' }];
  const service = await startTestService({
    env: { ...env, SIGNAGE_VARIANT: 'baseline' },
    content: lobbyWith(slides, { calendars: [{ id: 'room', url: 'http://127.0.0.1:9/room.ics' }] }),
  });
  const payload = await payloadOf(service);
  expect([Object.keys(payload), payload.slides.map(({ kind }) => kind)]).toEqual([
    ['screen', 'playlist', 'slides'],
    ['text'],
  ]);
});

test('a webcal address is fetched as one of https, whatever its case', () => {
  const urlOf = (url: string): string | undefined => {
    const reading = validateContent(contentWith(url, { calendar_id: 'room' }));
    return reading.ok ? sourcesOf(reading.content)[0]?.url : undefined;
  };
  expect(urlOf('webcal://example.com/a.ics?key=1')).toBe('https://example.com/a.ics?key=1');
  expect(urlOf('WebCal://example.com/a')).toBe('https://example.com/a');
  expect(urlOf('http://example.com/webcal:/a')).toBe('http://example.com/webcal:/a');
  expect(urlOf('/media/ROOM.ICS')).toBe('/media/ROOM.ICS');
});

test.each<[object, string]>([
  [{ calendars: [{ id: 'room', url: 'ftp://example.com/a.ics' }] }, 'calendars[0].url'],
  [{ calendars: [{ id: 'room', url: '/media/a.txt' }] }, 'calendars[0].url'],
  [{ calendars: [{ id: 'room', url: '/MEDIA/a.ics' }] }, 'calendars[0].url'],
  [{ calendars: [] }, 'playlists[0].slides[0].content.calendar_id'],
  [
    { calendars: [{ id: 'room', url: 'webcal://example.com/a' }], timetableGroups: [{ id: 'x', calendar_id: 'y' }] },
    'timetableGroups[0].calendar_id',
  ],
  [
    { calendars: [{ id: 'room', url: 'webcal://example.com/a' }], timetableGroups: [{ id: 'x' }] },
    'timetableGroups[0]',
  ],
])('an error in %o is told by its path', (more, path) => {
  const reading = validateContent(lobbyWith([slide({ calendar_id: 'room' })], more));
  expect(reading.ok ? [] : reading.issues.map((issue) => issue.path)).toEqual([path]);
});

describeBrowser('a slide of a calendar', () => {
  /** An event that is on now, whatever the time is, and one of the whole day. */
  const current = (): string => {
    const utc = (minutes: number): string =>
      new Date(Date.now() + minutes * 60_000).toISOString().replace(/[-:]|\.\d+/g, '');
    return `UID:now\r\nSUMMARY:Standing meeting\r\nDTSTART:${utc(-1)}\r\nDTEND:${utc(600)}`;
  };

  test(
    'of a design says nothing of private events that another slide shows, and is not free while nobody knows',
    walk,
    async () => {
      const server = await serve(ics(`${current()}\r\nCLASS:PRIVATE`));
      server.isDown = true;
      const sign = { kind: 'template', template_id: 'design:room', content: { room: 'Oak', calendar: 'room' } };
      const calendars = [{ id: 'room', url: server.url, refresh_seconds: 1 }];
      const slides = [{ ...sign, duration_seconds: 3_600 }, slide({ calendar_id: 'room', show_private: true })];
      const service = await startTestService({ env, content: lobbyWith(slides, { calendars }) });
      const page = await openPlayer(service, 'lobby');
      const word = page.locator('.slide-template[data-state="playing"] .word');
      await expect.poll(() => word.textContent(), patience).toBe('–');
      server.isDown = false;
      await expect.poll(() => word.textContent(), patience).toBe('In use');
      expect((await eventsOf(service))[0]?.title).toBe('Standing meeting');
      expect(await page.locator('.slide-template[data-state="playing"] .what').textContent()).toBe('Busy');
    },
  );

  test.each(['day', ...walks('week', 'room')])('shows a %s, and what is on now', async (view) => {
    const { url } = await serve(ics(current(), `UID:all\r\nSUMMARY:Open house\r\nDTSTART;VALUE=DATE:${compact(0)}`));
    const service = await startTestService({ env, content: contentWith(url, { calendar_id: 'room', view }) });
    await expect.poll(async () => (await eventsOf(service)).length, patience).toBe(2);
    const page = await openPlayer(service, 'lobby');
    await page.locator('.slide-calendar[data-state="playing"]').waitFor();
    await page.getByText('Standing meeting').first().waitFor();
    expect(await page.locator(view === 'room' ? '.state.taken' : '.event.now').count()).toBe(1);
    expect(await page.locator('.slide-calendar .title').textContent()).toBe('Oak');
  });

  test('of a room is not shown as free while one of its calendars was never read', walk, async () => {
    const [read, unread] = [await serve(ics()), await serve(ics())];
    unread.isDown = true;
    const calendars = [read, unread].map(({ url }, n) => ({ id: `c${n}`, url, refresh_seconds: 1 }));
    const slides = [
      slide({ calendar_ids: ['c0', 'c1'], view: 'room' }),
      { kind: 'text', title: 'Hello', duration_seconds: 1 },
    ];
    const service = await startTestService({ env, content: lobbyWith(slides, { calendars }) });
    const page = await openPlayer(service, 'lobby');
    await page.getByText('Hello').waitFor();
    expect(await page.locator('.slide-calendar .state').count()).toBe(0);
    unread.isDown = false;
    await page.locator('.slide-calendar[data-state="playing"] .state.free').waitFor();
  });

  test('of a week leaves out events of the day that has too many, and of no other', walk, async () => {
    const events = (day: number, count: number) =>
      Array.from({ length: count }, (_, index) => {
        const start = `DTSTART;TZID=${timeZone}:${compact(day)}T2300${String(index).padStart(2, '0')}`;
        return `UID:${day}-${index}\r\nSUMMARY:Choir\r\n${start}\r\nDURATION:PT30M`;
      });
    const { url } = await serve(ics(...[1, 2, 3, 4, 5, 6].flatMap((day) => events(day, day === 1 ? 60 : 2))));
    const content = contentWith(url, { calendar_id: 'room', view: 'week' });
    const service = await startTestService({ env, content });
    await expect.poll(async () => (await eventsOf(service)).length, patience).toBe(70);
    const page = await openPlayer(service, 'lobby');
    await page.locator('.slide-calendar[data-state="playing"]').waitFor();
    const counts = await page
      .locator('.day')
      .evaluateAll((days) => days.map((day) => day.querySelectorAll('.event').length));
    expect(counts.slice(2)).toEqual([2, 2, 2, 2, 2]);
    expect(counts[1]).toBeGreaterThan(2);
    expect(counts[1]).toBeLessThan(60);
  });
});
