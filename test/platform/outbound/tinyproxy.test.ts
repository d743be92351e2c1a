/** What a box asks for over https, through a real proxy: tinyproxy, which resolves the names. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { connectFault, openLine } from '../../../service/platform/nats.ts';
import { createGet } from '../../../service/platform/outbound/get.ts';
import { createLocator } from '../../../service/platform/outbound/locate.ts';
import { createOutbound } from '../../../service/platform/outbound/send.ts';
import { makeCertificate } from '../../https/certificates.ts';
import { patience } from '../../support/observe.ts';
import { lobby } from '../../support/player.ts';
import { freePort, untilListening } from '../../support/ports.ts';
import { findProgram } from '../../support/program.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';

/** CI must not pass without them. */
const isSkipped = process.env.CI !== 'true' && (!findProgram('tinyproxy') || !findProgram('bwrap'));
const host = 'feeds.example.com';

/** A proxy that wants a password, and for which that host is this machine. @param port the one that it connects to */
const startTinyproxy = async (port: number) => {
  const folder = temporaryFolder();
  const own = await freePort();
  const [config, hosts, log] = ['tinyproxy.conf', 'hosts', 'log'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(hosts, `127.0.0.1 ${host} localhost\n`);
  const lines = [`Port ${own}`, 'Listen 127.0.0.1', 'BasicAuth me hidden', `ConnectPort ${port}`, `LogFile "${log}"`];
  writeFileSync(config, `${[...lines, 'LogLevel Connect', 'MaxClients 20', 'Timeout 60'].join('\n')}\n`);
  const isolation = ['--dev-bind', '/', '/', '--ro-bind', hosts, '/etc/hosts', '--die-with-parent'];
  const child: ChildProcess = spawn('bwrap', [...isolation, 'tinyproxy', '-d', '-c', config], { stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await untilListening(own, () => {
    if (child.exitCode !== null) throw new Error('tinyproxy has ended');
  });
  return { at: (user = 'me:hidden') => `http://${user}@127.0.0.1:${own}`, log: () => readFileSync(log, 'utf8') };
};

/** A web server with a certificate for that host. */
const startOrigin = async (answers: Record<string, string>) => {
  const root = await makeCertificate('root');
  const leaf = await makeCertificate(host, root);
  const caFile = join(temporaryFolder(), 'roots.pem');
  writeFileSync(caFile, root.cert);
  const requests: { path: string; headers: Record<string, unknown> }[] = [];
  const server = createServer({ key: leaf.key, cert: leaf.cert }, (request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    request.resume();
    response.end(answers[request.url ?? ''] ?? '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { caFile, requests, server, port, at: (path: string) => `https://${host}:${port}${path}` };
};

const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="red"/></svg>';
const calendar = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//x//y//EN', 'END:VCALENDAR', ''].join('\r\n');

describe.skipIf(isSkipped)('tinyproxy', () => {
  test('feeds, sources, calendars, remote media, webhooks and the hub of a fleet are reached over https', async () => {
    const origin = await startOrigin({
      '/news': '<rss version="2.0"><channel><title>N</title><item><title>One</title></item></channel></rss>',
      '/menu': '{"soup":"Leek"}',
      '/room.ics': calendar,
      '/poster.svg': svg,
    });
    const proxy = await startTinyproxy(origin.port);
    const slides = [
      { id: 'poster', kind: 'image', media_url: origin.at('/poster.svg') },
      { id: 'menu', kind: 'text', title: 'Menu' },
    ];
    const service = await startTestService({
      content: {
        ...lobby(slides),
        rssFeeds: [{ id: 'news', name: 'News', url: origin.at('/news') }],
        apiSources: [{ id: 'menu', name: 'Menu', url: origin.at('/menu') }],
        calendars: [{ id: 'room', name: 'Room', url: origin.at('/room.ics') }],
      },
      env: {
        SIGNAGE_PROXY: proxy.at(),
        SIGNAGE_CA_FILE: origin.caFile,
        SIGNAGE_ALERT_URL: origin.at('/hook'),
        SIGNAGE_ALERT_GRACE_SECONDS: '0',
      },
    });
    const asked = () => [...new Set(origin.requests.map(({ path }) => path))].toSorted();
    const paths = ['/menu', '/news', '/poster.svg', '/room.ics'];
    await expect.poll(asked, patience).toEqual(paths);
    service.writeContent('{');
    await expect.poll(asked, patience).toEqual(['/hook', ...paths]);
    for (const { headers } of origin.requests) {
      expect(Object.keys(headers).filter((name) => /proxy|forwarded|via/.test(name))).toEqual([]);
    }

    const sockets = new WebSocketServer({ server: origin.server });
    const connected = once(sockets, 'connection');
    sockets.on('connection', (socket) => socket.close());
    const outbound = createOutbound({ proxy: proxy.at(), noProxy: [], caFile: origin.caFile });
    void openLine({ url: `wss://${host}:${origin.port}`, credentials: null }, 'test', outbound).catch(connectFault);
    await connected;
    sockets.close();
    // All of it went through the proxy: no name is resolved here.
    expect(proxy.log().match(new RegExp(`CONNECT ${host}:${origin.port}`, 'g'))?.length).toBeGreaterThan(paths.length);
    expect(service.log() + (await (await service.get('/healthz')).text())).not.toContain('hidden');
  });

  test('a wrong password, and a port that it forbids, are told with their reasons', async () => {
    const origin = await startOrigin({ '/': 'secure' });
    const proxy = await startTinyproxy(origin.port);
    const locate = createLocator(() => Promise.reject(new Error('resolved here')));
    const ask = async (user: string, url: string) => {
      const get = createGet(locate, createOutbound({ proxy: proxy.at(user), noProxy: [], caFile: origin.caFile }));
      const { response } = await get(url, { headers: {}, signal: new AbortController().signal, answerMs: 5_000 });
      response.resume();
      return response.statusCode;
    };
    expect(await ask('me:hidden', origin.at('/'))).toBe(200);
    await expect(ask('me:wrong', origin.at('/'))).rejects.toThrow(/or refuses those of SIGNAGE_PROXY$/);
    const other = `https://${host}:${origin.port === 9 ? 10 : 9}/`;
    await expect(ask('me:hidden', other)).rejects.toThrow(/the proxy 127\.0\.0\.1:\d+ answers 403$/);
    expect(origin.requests.map(({ path }) => path)).toEqual(['/']);

    const faultAt = (user: string, port: number, caFile: string | null = origin.caFile) => {
      const outbound = createOutbound({ proxy: proxy.at(user), noProxy: [], caFile });
      return openLine({ url: `wss://${host}:${port}`, credentials: null }, 'test', outbound).then(
        () => null,
        connectFault,
      );
    };
    const faults = [faultAt('me:wrong', origin.port), faultAt('me:hidden', 9), faultAt('me:hidden', origin.port, null)];
    expect(await Promise.all(faults)).toEqual([
      expect.stringMatching(/^cannot be reached \(the proxy 127\.0\.0\.1:\d+ wants .* those of SIGNAGE_PROXY\)$/),
      expect.stringMatching(/^cannot be reached \(the proxy 127\.0\.0\.1:\d+ answers 403\)$/),
      'has a certificate of an authority that is not trusted here',
    ]);
  });
});
