/** Who may have the service connect to what: anyone who asks for a stream starts an ffmpeg. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { createPermission } from '../../service/streams/routes.ts';
import { codeOf, exchange } from '../http/raw.ts';
import { itBrowser } from '../support/browser.ts';
import { lobby } from '../support/player.ts';
import { findProgram } from '../support/program.ts';
import { startTestService } from '../support/service.ts';
import { standIn } from './program.ts';
import { noSalt } from './salt.ts';

const secret = 'a secret that is long enough';
const named = 'rtmp://alice:pass@127.0.0.1:19350/live/a';
const unnamed = 'rtmp://127.0.0.1:19350/live/c';
const content = lobby([{ kind: 'stream', media_url: named }]);
const browser = 'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140';

const pathOf = (source: string): string => `/api/rtmp/session?source=${encodeURIComponent(source)}`;

const pathOfSlide = (source: string, slide: string): string => `${pathOf(source)}&slide=${slide}`;

it('an address whose canonical form is too long is open as it stands, and holds up no other', () => {
  const long = `rtsp://alice:pass@127.0.0.1/live/${'ä'.repeat(1_000)}`;
  const streams = [
    { slideId: 'long', address: long, isMuted: true },
    { slideId: 'short', address: named, isMuted: true },
  ];
  const permission = createPermission({ named: () => streams, hasSecret: true, salt: noSalt });
  const page = { slideId: undefined, isSigned: false, isDeliberate: true };
  for (const isSilent of [false, true]) {
    for (const address of [long, named]) {
      const { key } = permission.sourceFor(address, isSilent, page);
      expect(permission.mayFetch(key, page)).toBe(true);
    }
    const told = long.replace('alice:pass@', '');
    expect(permission.sourceFor(told, isSilent, { ...page, slideId: 'long' }).url).toContain('alice:pass@');
  }
  expect(() => permission.sourceFor(unnamed, false, page)).toThrow();
});

const start = async (env: Record<string, string> = {}) => {
  const ffmpeg = standIn();
  const service = await startTestService({ content, env: { SIGNAGE_FFMPEG_PATH: ffmpeg.path, ...env } });
  /** The status, or the code of the error. */
  const ask = async (source: string, ...lines: string[]): Promise<string> => {
    const answer = await exchange(service.url, [`GET ${pathOf(source)} HTTP/1.1`, 'Host: box:8080', ...lines]);
    return answer.status === 200 ? '200' : `${answer.status} ${codeOf(answer)}`;
  };
  return { service, ffmpeg, ask };
};

describe('with a secret', () => {
  it('a page opens what the content names, however it is spelt, and nothing else; who signs opens anything', async () => {
    const { service, ffmpeg, ask } = await start({ SIGNAGE_SHARED_SECRET: secret });
    const html = await (await service.get('/screen/lobby')).text();
    const token = /"token":"([^"]+)"/.exec(html)?.[1] ?? '';
    const asPage = (source: string) => ask(source, `x-signage-page-auth: ${token}`);
    for (const source of [named, named.replace('rtmp:', 'RTMP:')]) expect(await asPage(source)).toBe('200');
    for (const source of [
      unnamed,
      'rtmp://127.0.0.1:19350/live/a',
      'rtmp://alice:other@127.0.0.1:19350/live/a',
      'rtmp://alice:pass@127.0.0.1:19351/live/a',
      'rtmp://alice:pass@[::ffff:127.0.0.1]:19350/live/a',
      'rtmp://alice:pass@127.0.0.1:19350/live/a/../c',
      'rtmp://localhost:22/',
      'srt://127.0.0.1:9000',
    ])
      expect(await asPage(source)).toBe('403 source_not_allowed');
    expect(ffmpeg.runs().filter((run) => /live\/c|:22\/|:19351|srt:/.test(run))).toEqual([]);

    const asOperator = async (path: string) =>
      service.get(path, { headers: signRequest({ secret, method: 'GET', url: service.url + path }) });
    const opened = await asOperator(pathOf(unnamed));
    expect(opened.status).toBe(200);
    // Nor does a page fetch what somebody else has opened.
    const { key, playlistUrl } = await opened.json();
    const fetchAs = async (path: string): Promise<string> => {
      const answer = await service.get(path, { headers: { 'x-signage-page-auth': token } });
      return answer.ok ? '200' : `${answer.status} ${(await answer.json()).error.code}`;
    };
    expect(await fetchAs(playlistUrl)).toBe('403 source_not_allowed');
    expect(await fetchAs(`/api/rtmp/streams/${key}/segment0.ts`)).toBe('403 source_not_allowed');
    expect(await fetchAs(playlistUrl.replace(key, '0'.repeat(16)))).toBe('404 session_not_found');
    expect((await asOperator(playlistUrl)).status).not.toBe(403);
    for (const silent of ['', '&disableAudio=1']) {
      const query = pathOf(named) + silent;
      const own = await (await service.get(query, { headers: { 'x-signage-page-auth': token } })).json();
      // The stream may still be on its way.
      expect(await fetchAs(own.playlistUrl)).toMatch(/^(?:200|404 stream_not_ready)$/);
    }
  });

  it('a page opens the stream of a slide by the address that it is told, with the password that it is not', async () => {
    const { service, ffmpeg } = await start({ SIGNAGE_SHARED_SECRET: secret });
    const html = await (await service.get('/screen/lobby')).text();
    const headers = { 'x-signage-page-auth': /"token":"([^"]+)"/.exec(html)?.[1] ?? '' };
    const [{ id }] = (await (await service.get('/api/screens/lobby/playlist', { headers })).json()).slides;
    const ask = async (source: string, slide: string): Promise<number> =>
      (await service.get(pathOfSlide(source, slide), { headers })).status;
    const told = 'rtmp://127.0.0.1:19350/live/a';
    expect(await ask(told, id)).toBe(200);
    await expect.poll(() => ffmpeg.runs().filter((run) => run.includes(named)).length, { timeout: 20_000 }).toBe(1);
    expect([await ask(told, 'another'), await ask(`${told}/b`, id), await ask(unnamed, id)]).toEqual([403, 403, 403]);
  });

  it('a page that watches what no slide plays keeps no slide from its stream, and none takes the place of a slide', async () => {
    const slides = ['a', 'b'].map((id) => ({ id, kind: 'stream', media_url: `rtmp://127.0.0.1:19350/live/${id}` }));
    const loud = { ...slides[0], id: 'loud', media_url: unnamed, content: { muted: false } };
    const ffmpeg = standIn();
    const env = { SIGNAGE_FFMPEG_PATH: ffmpeg.path, SIGNAGE_SHARED_SECRET: secret, SIGNAGE_MAX_STREAMS: '3' };
    const service = await startTestService({ content: lobby([...slides, loud]), env });
    const html = await (await service.get('/screen/lobby')).text();
    const headers = { 'x-signage-page-auth': /"token":"([^"]+)"/.exec(html)?.[1] ?? '' };
    const watch = async (source: string, disableAudio: boolean): Promise<number> => {
      const answer = await service.get(`${pathOf(source)}&disableAudio=${disableAudio}`, { headers });
      if (answer.ok) await service.get((await answer.json()).playlistUrl, { headers });
      return answer.status;
    };
    const sources = [...slides.map(({ media_url }) => media_url), unnamed];
    for (const source of sources) expect(await watch(source, source === unnamed)).toBe(200);
    for (const source of sources) expect(await watch(source, source !== unnamed)).toBe(200);
    for (const source of sources) expect(await watch(source, source === unnamed)).toBe(429);
    expect(await watch(unnamed, false)).toBe(200);
  });

  it('an edit of the content decides at once', async () => {
    const { service, ask } = await start({ SIGNAGE_SHARED_SECRET: secret });
    const html = await (await service.get('/screen/lobby')).text();
    const header = `x-signage-page-auth: ${/"token":"([^"]+)"/.exec(html)?.[1]}`;
    expect(await ask(unnamed, header)).toBe('403 source_not_allowed');
    service.writeContent(lobby([{ kind: 'stream', media_url: unnamed }]));
    await expect.poll(() => ask(unnamed, header), { timeout: 20_000 }).toBe('200');
    expect(await ask(named, header)).toBe('403 source_not_allowed');
  });
});

describe('without a secret', () => {
  it.each<[string, string[]]>([
    ['curl', ['User-Agent: curl/8.5.0', 'Accept: */*']],
    ['fetch of Node', ['User-Agent: node', 'Accept: */*', 'Accept-Language: *', 'Sec-Fetch-Mode: cors']],
    ['a program that does not say what it is', []],
    ['a program that calls itself Mozilla and sends a header of ours', [browser, 'x-signage-page: 1']],
    ['a page of this service, by its origin', [browser, 'Origin: http://box:8080']],
    ['a page of this service, by its address', [browser, 'Referer: http://box:8080/screen/lobby']],
    ['a page of this service, as the browser says', [browser, 'Sec-Fetch-Site: same-origin']],
    ['somebody at the address bar', [browser, 'Sec-Fetch-Site: none']],
  ])('%s opens any source', async (_, lines) => {
    const { ask } = await start();
    expect(await ask(unnamed, ...lines)).toBe('200');
  });

  it.each<[string, string[]]>([
    ['says nothing, as over plain http', [browser, 'Accept: */*', 'Accept-Language: de']],
    ['is on the same site', [browser, 'Sec-Fetch-Site: same-site', 'Sec-Fetch-Mode: no-cors']],
    ['is on another site', [browser, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors']],
    ['tells its address', [browser, 'Referer: http://evil.test/']],
  ])('a web page of others that %s opens nothing that the content does not name', async (_, lines) => {
    const { ask, ffmpeg } = await start();
    expect(await ask(unnamed, ...lines)).toBe('403 origin_refused');
    expect(ffmpeg.runs()).toEqual([]);
  });

  itBrowser('a web page of others, in a real browser, starts no ffmpeg by any element or fetch', async () => {
    const { service, ffmpeg } = await start({ SIGNAGE_HOST: '127.0.0.1' });
    const target = `http://box:${new URL(service.url).port}${pathOf(unnamed)}`;
    const evil = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(`<meta name="referrer" content="no-referrer">
        <img src="${target}&n=1"><script src="${target}&n=2"></script><iframe src="${target}&n=3"></iframe>
        <link rel="stylesheet" href="${target}&n=4"><video src="${target}&n=5"></video>
        <script>fetch('${target}&n=6', { mode: 'no-cors', referrerPolicy: 'no-referrer' })
          .finally(() => { document.title = 'done'; });</script>`);
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    const args = ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP * 127.0.0.1'];
    const executablePath = findProgram('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable') ?? '';
    const chrome = await chromium.launch({ executablePath, args });
    onTestFinished(async () => {
      await chrome.close();
      evil.closeAllConnections();
      evil.close();
    });
    const page = await chrome.newPage();
    const over = new Set<string>();
    page.on('requestfinished', (request) => over.add(request.url()));
    page.on('requestfailed', (request) => over.add(request.url()));
    await page.goto(`http://evil.test:${(evil.address() as AddressInfo).port}/`);
    const isOver = (n: number) => over.has(`${target}&n=${n}`);
    await expect.poll(() => [1, 2, 3, 4, 5, 6].filter(isOver), { timeout: 20_000 }).toHaveLength(6);
    expect(ffmpeg.runs()).toEqual([]);
  });
});
