/** Plays, from the page to the export. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hello, lobby, lobbyWith } from '../../content/samples.ts';
import { startBox, startSite, untilTogether } from '../../peers/support.ts';
import { makeDevice } from '../../support/device-key.ts';
import { patience } from '../../support/observe.ts';
import { createOperator, secretModes, secretSettings } from '../../support/operator.ts';
import { joinScreen } from '../../support/page.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';
import { testTempo } from '../../support/tempo.ts';
import { metricsOf, sampleValue } from '../samples.ts';
import { idsOf, openLobby, playAgo, readPlays, report, reportTo } from './pages.ts';

const fields = [
  ...['play_id', 'site', 'node_id', 'device_id', 'client_name', 'screen', 'slide_id', 'slide_title', 'kind'],
  ...['media_url', 'media_sha256', 'revision', 'started_at', 'ended_at', 'duration_ms', 'expected_ms', 'result'],
  ...['reason', 'clock', 'playlist_id', 'programme_id', 'zone'],
];

const bar = { name: 'Bar', slug: 'bar', playlist_id: 'welcome' };
const lobbyAndBar = { ...lobby, screens: [...lobby.screens, bar] };

test.each(secretModes)(
  'what a page reports is on the disk before it is acknowledged, and is read with what the service knows, %s',
  async (_, secret) => {
    const service = await startTestService({
      content: lobbyAndBar,
      env: { ...secretSettings(secret), SIGNAGE_SITE: 'harbour' },
    });
    await createOperator(service, secret)('PUT', '/api/media/hall.jpg', 'a picture');
    const device = makeDevice();
    const page = await openLobby(service, secret, { clientName: 'Door' }, device);
    const shown = playAgo(-1, { kind: 'image', media_url: '/media/hall.jpg?v=1', duration_ms: 900 });
    const before = playAgo(3_600, { kind: 'image', media_url: '/media/hall.jpg', screen: 'bar' });
    const stream = playAgo(20, { kind: 'stream', media_url: 'rtsp://user:word@camera.example/live', result: 'failed' });
    await report(page, [shown, before, stream]);
    // Its device is not bound.
    const file = join(service.dataDir, 'plays', `${shown.started_at.slice(0, 10)}.others.jsonl`);
    expect(readFileSync(file, 'utf8')).toContain(shown.play_id);

    const plays = await readPlays(service, '', secret);
    expect(idsOf(plays)).toEqual(idsOf([before, stream, shown]));
    const { nodeId } = (await (await service.get('/healthz')).json()) as { nodeId: string };
    const known = { site: 'harbour', node_id: nodeId, device_id: device.deviceId, client_name: 'Door' };
    const media_sha256 = createHash('sha256').update('a picture').digest('hex');
    expect(plays).toEqual([
      // The file was put there after this play.
      { ...before, ...known, media_sha256: null },
      { ...stream, ...known, screen: 'lobby', media_url: 'rtsp://camera.example/live', media_sha256: null },
      { ...shown, ...known, screen: 'lobby', media_sha256 },
    ]);
    expect(Object.keys(plays[0] ?? {})).toEqual(fields);
  },
);

test('a repeated report is acknowledged, and kept and counted once', async () => {
  const service = await startTestService({ content: lobby });
  const play = playAgo(30);
  await reportTo(service, [play, playAgo(20, { result: 'skipped' })]);
  await reportTo(service, [play]);
  expect(await readPlays(service)).toHaveLength(2);
  const samples = await metricsOf(service);
  expect(sampleValue(samples, 'signage_slides_shown_total', { kind: 'text', result: 'played' })).toBe(1);
  expect(sampleValue(samples, 'signage_slides_shown_total', { kind: 'text', result: 'skipped' })).toBe(1);
});

test.each([
  ['too many', Array.from({ length: 51 }, () => playAgo(1))],
  ['none', []],
  ['of an unknown kind', [{ ...playAgo(1), kind: 'hologram' }]],
  ['of no time', [{ ...playAgo(1), started_at: 'yesterday' }]],
])('plays that are %s break the protocol', async (_, plays) => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby');
  page.send({ type: 'plays', plays });
  expect(await page.closed).toBe(1008);
});

test('texts of any length are cut, and a page that is gone costs nothing', async () => {
  const service = await startTestService({ content: lobby });
  const long = playAgo(10, { slide_title: 'x'.repeat(5_000), reason: '🦊'.repeat(400), result: 'cut' });
  await reportTo(service, [long]);
  const [kept] = await readPlays(service);
  expect(kept?.slide_title).toHaveLength(500);
  expect(kept?.reason).toHaveLength(500);
  const leaving = await joinScreen(service, 'lobby', { clientId: 'leaving' });
  leaving.send({ type: 'plays', plays: [playAgo(5)] });
  leaving.socket.terminate();
  await expect.poll(async () => (await readPlays(service)).length, patience).toBe(2);
});

/** The records of a text of RFC 4180, in which a line ends with CRLF. */
const parseCsv = (text: string): string[][] => {
  const rows: string[][] = [];
  let row: string[] = [];
  let end = 0;
  for (const { 0: all, 1: quoted, 2: plain = '', 3: separator, index } of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g,
  )) {
    expect(index, 'what is no cell').toBe(end);
    end = index + all.length;
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if (separator === ',') continue;
    rows.push(row);
    row = [];
  }
  expect(end).toBe(text.length);
  return rows;
};

describe('the export', () => {
  test.each(secretModes)(
    'takes a range on started_at, in which a date is midnight of the site, and a screen, %s',
    async (_, secret) => {
      const service = await startTestService({
        content: lobbyAndBar,
        env: { ...secretSettings(secret), SIGNAGE_TIME_ZONE: 'Europe/Vienna' },
      });
      const read = (query: string) => readPlays(service, query, secret);
      const at = (started_at: string, more = {}) => playAgo(0, { started_at, ended_at: started_at, ...more });
      const day = new Date(Date.now() - 5 * 86_400_000);
      const local = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Vienna' });
      const date = local.format(day);
      const next = local.format(day.getTime() + 86_400_000);
      // The first and the last moment of that day in Vienna, found by looking.
      const boundary = (wanted: string): number => {
        let time = Date.parse(`${wanted}T00:00:00Z`) - 4 * 3_600_000;
        while (local.format(time) < wanted) time += 900_000;
        return time;
      };
      const [first, after] = [boundary(date), boundary(next)];
      const plays = [first - 1, first, after - 1, after].map((time) => at(new Date(time).toISOString()));
      const elsewhere = at(new Date(first + 1).toISOString(), { screen: 'bar' });
      await reportTo(service, [...plays.toReversed(), elsewhere], secret);
      const [, one, two] = idsOf(plays);
      expect(idsOf(await read(`?from=${date}&to=${next}&screen=lobby`))).toEqual([one, two]);
      expect(idsOf(await read(`?from=${date}T00:00&to=${next}T00:00:00&screen=lobby`))).toEqual([one, two]);
      const exact = `?from=${new Date(first).toISOString()}&to=${encodeURIComponent(`${next}T12:00+12:00`)}`;
      expect(idsOf(await read(`${exact}&screen=lobby`)).length).toBeGreaterThanOrEqual(2);
      expect(idsOf(await read('?screen=bar'))).toEqual([elsewhere.play_id]);
      expect(await read('?from=2031-01-01')).toEqual([]);
    },
  );

  test.each([
    ['from=tomorrow', 'from'],
    ['to=2026-13-01', 'to'],
    ['from=', 'from'],
    ['screen=Not%20a%20slug', 'screen'],
    ['format=xml', 'format'],
  ])('refuses %s', async (query, field) => {
    const service = await startTestService({ content: lobby });
    const response = await service.get(`/console/api/plays?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_field', field } });
  });

  test('is CSV by RFC 4180 with a header row, in which no cell is a formula', async () => {
    const service = await startTestService({ content: lobby });
    const titles = [
      '=HYPERLINK("http://evil")',
      '+1',
      '-1',
      '@SUM(A1)',
      '\tx',
      '\rx',
      ';=1+1',
      '\u3000=1+1',
      '\u200b\ufeff=1+1',
      '＝1+1',
      'a;=1+1;\u00a0@SUM(A1)',
      'a "quoted", cell\r\nof two lines',
      'a cell\nof two lines',
      'Grüße',
    ];
    await reportTo(
      service,
      titles.map((slide_title, index) => playAgo(100 - index, { slide_title })),
    );
    const response = await service.get('/console/api/plays?format=csv');
    expect(response.headers.get('Content-Type')).toBe('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('Content-Disposition')).toBe('attachment; filename="plays.csv"');
    const text = await response.text();
    const [header, ...rows] = parseCsv(text);
    expect(header).toEqual(fields);
    const plays = await readPlays(service);
    const others = (row: unknown[]) => row.filter((_, column) => column !== fields.indexOf('slide_title'));
    expect(rows.map(others)).toEqual(
      plays.map((each) => others(Object.values(each).map((value) => String(value ?? '')))),
    );
    const safe = [...titles.slice(0, 6).map((title) => `'${title}`), "';'=1+1"];
    safe.push(...titles.slice(7, 10).map((title) => `'${title}`), "a;'=1+1;'\u00a0@SUM(A1)");
    expect(rows.map((row) => row[fields.indexOf('slide_title')])).toEqual([...safe, ...titles.slice(11)]);
  });

  test('of nothing is an empty array, or the header row', async () => {
    const service = await startTestService({ content: lobby });
    expect(await readPlays(service)).toEqual([]);
    expect(await (await service.get('/console/api/plays?format=csv')).text()).toBe(`${fields.join(',')}\r\n`);
    expect((await service.get('/console/api/plays', { method: 'HEAD' })).status).toBe(200);
  });

  test.each(secretModes)(
    'gathers the plays of all boxes, in the order of their start, and says where a box is missing, %s',
    async (_, secret) => {
      const [first, second, third] = await startSite({ env: secretSettings(secret) }, 1);
      const read = async (box: typeof first) => {
        const response = await createOperator(box, secret)('GET', '/console/api/plays');
        return { degraded: response.headers.get('x-signage-degraded'), ids: idsOf((await response.json()) as []) };
      };
      const pages = await Promise.all([first, second, third as typeof first].map((box) => openLobby(box, secret)));
      const plays = Array.from({ length: 90 }, (_, index) => playAgo(900 - index * 10));
      for (const [index, page] of pages.entries()) {
        // The last play of each page was reported to the box before it as well.
        await report(
          page,
          [...plays.filter((_, at) => at % 3 === index), plays[(index + 2) % 3] ?? playAgo(0)].slice(0, 50),
        );
      }
      const everywhere = { degraded: 'false', ids: idsOf(plays) };
      expect(await read(first)).toEqual(everywhere);
      expect(await read(second)).toEqual(everywhere);
      await third?.close();
      const { degraded, ids } = await read(first);
      expect(degraded).toBe('true');
      expect(ids.length).toBeLessThan(90);
    },
  );
});

test('the plays of a day outlive a box that is switched off, and one that moves keeps its own', async () => {
  const dataDir = temporaryFolder();
  const first = await startBox([], { dataDir });
  const plays = [playAgo(30), playAgo(20)];
  await reportTo(first, plays);
  await first.close();
  const again = await startBox([], { dataDir, content: lobbyWith([hello]) });
  const other = await startBox([again]);
  await untilTogether([again, other]);
  expect(idsOf(await readPlays(other))).toEqual(idsOf(plays));
});

test('plays are deleted for their age only by a clock that is confirmed', async () => {
  const dataDir = temporaryFolder();
  const play = playAgo(30);
  const day = play.started_at.slice(0, 10);
  mkdirSync(join(dataDir, 'plays'));
  writeFileSync(join(dataDir, 'plays', `${day}.jsonl`), `${JSON.stringify(play)}\n`);
  let isSynchronized = false;
  let asked = 0;
  await startTestService({
    content: lobby,
    dataDir,
    wall: () => Date.now() + 100 * 86_400_000,
    isSynchronized: () => {
      asked += 1;
      return isSynchronized;
    },
    tempo: { ...testTempo, records: { ...testTempo.records, expiry: 20 } },
  });
  const files = () => readdirSync(join(dataDir, 'plays'));
  await expect.poll(() => asked, patience).toBeGreaterThan(20);
  expect(files()).toEqual([`${day}.jsonl`]);
  isSynchronized = true;
  await expect.poll(files, patience).toEqual([]);
});
