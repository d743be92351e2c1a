/** Starting and stopping: the ready line, the exit codes, the signals. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Health } from '../../../service/contract/health.ts';
import { lobby } from '../../content/samples.ts';
import { joinScreen } from '../../support/page.ts';
import { temporaryFolder } from '../../support/service.ts';
import { isSoak } from '../../support/soak.ts';
import { startHeadless } from './process.ts';

const dataDirWith = (files: Record<string, unknown>): string => {
  const dataDir = temporaryFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dataDir, name), JSON.stringify(content));
  return dataDir;
};

const holdPort = async (): Promise<{ server: Server; port: number }> => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
};

test('the first start ever says where it listens, and plays the demo', async () => {
  const dataDir = join(temporaryFolder(), 'made', 'by', 'it');
  const { ready, printed } = startHeadless({ SIGNAGE_DATA_DIR: dataDir });
  const url = await ready();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(printed.stdout.match(/listening on/g)).toHaveLength(1);
  expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ status: 'ok', content: { status: 'ok' } });
  expect((await fetch(`${url}/screen/demo`)).status).toBe(200);
});

test('the service plays on when nothing reads its output, in UTC where the time zone is not known, and says so', async () => {
  const { server, port } = await holdPort();
  server.close();
  await once(server, 'close');
  const { child } = startHeadless({
    SIGNAGE_DATA_DIR: dataDirWith({ 'content.json': lobby }),
    SIGNAGE_PORT: String(port),
    TZ: 'Foo/Bar',
  });
  child.stdout?.destroy();
  child.stderr?.destroy();
  const status = async () => (await fetch(`http://127.0.0.1:${port}/screen/lobby`).catch(() => null))?.status;
  await expect.poll(status, { timeout: 20_000, interval: 100 }).toBe(200);
  // The lines of the start have been written by now.
  await expect.poll(() => fetch(`http://127.0.0.1:${port}/healthz`).then(({ ok }) => ok)).toBe(true);
  const { warnings } = (await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()) as Health;
  expect(warnings).toContainEqual(expect.stringMatching(/^TZ="Foo\/Bar" .* set SIGNAGE_TIME_ZONE/));
  expect(child.exitCode).toBeNull();
});

test('every line of the log is JSON, and no secret is in any', async () => {
  const secret = 'correct horse battery staple';
  const SIGNAGE_DATA_DIR = dataDirWith({ 'content.json': lobby });
  const env = { SIGNAGE_DATA_DIR, SIGNAGE_SHARED_SECRET: secret, SIGNAGE_LOG_LEVEL: 'trace' };
  const { child, ready, printed, ended } = startHeadless(env);
  const url = await ready();
  const refused = await fetch(`${url}/api/screens/lobby/commands`, { method: 'POST' });
  expect(refused.status).toBe(401);
  const pages = await Promise.all(
    ['/', '/screen/lobby', '/healthz'].map(async (path) => (await fetch(url + path)).text()),
  );
  child.kill();
  expect(await ended).toBe(0);
  const lines = printed.stderr.trimEnd().split('\n');
  expect(lines.map((line) => typeof JSON.parse(line)).every((type) => type === 'object')).toBe(true);
  for (const text of [printed.stdout, printed.stderr, ...pages]) expect(text).not.toContain('horse');
});

describe('ends with 78, and one line that says what to change', () => {
  const blocked = () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    return file;
  };

  const cases: [string, () => Record<string, string>, RegExp][] = [
    ['a bad setting', () => ({ SIGNAGE_PORT: 'http' }), /^SIGNAGE_PORT: "http" is not valid; expected an integer/],
    [
      'a broken config.json',
      () => ({ SIGNAGE_DATA_DIR: dataDirWith({ 'config.json': [] }) }),
      /config\.json must contain/,
    ],
    [
      'a data directory below a file',
      () => ({ SIGNAGE_DATA_DIR: join(blocked(), 'data') }),
      /^SIGNAGE_DATA_DIR: ".*" is not valid; expected a folder/,
    ],
    [
      'a media directory where there can be none',
      () => ({ SIGNAGE_MEDIA_DIR: process.platform === 'linux' ? '/proc/media/ours' : join(blocked(), 'media') }),
      /^SIGNAGE_MEDIA_DIR: ".*" is not valid; expected a folder/,
    ],
    [
      'an upload directory that is a file',
      () => ({ SIGNAGE_UPLOAD_DIR: blocked() }),
      /^SIGNAGE_UPLOAD_DIR: ".*" is not valid; expected a folder/,
    ],
    [
      "an address that is not this machine's",
      () => ({ SIGNAGE_HOST: '203.0.113.77' }),
      /^SIGNAGE_HOST: "203\.0\.113\.77" is not valid; expected an address of this machine/,
    ],
    [
      'an address that is none',
      () => ({ SIGNAGE_HOST: '300.1.1.1' }),
      /^SIGNAGE_HOST: "300\.1\.1\.1" is not valid; expected an address of this machine/,
    ],
    [
      'a name that no machine has',
      () => ({ SIGNAGE_HOST: 'box.invalid' }),
      /^SIGNAGE_HOST: "box\.invalid" is not valid; expected an address of this machine/,
    ],
  ];
  // Each is a start: of settings, of folders and of addresses one.
  test.each(isSoak ? cases : cases.filter((_, index) => index % 3 === 0))('%s', async (_, env, expected) => {
    const SIGNAGE_DATA_DIR = dataDirWith({ 'content.json': lobby });
    // The level is `info`, and there is a warning to log.
    const { ended, printed } = startHeadless({ SIGNAGE_XYZZY: '1', SIGNAGE_DATA_DIR, ...env() });
    expect(await ended).toBe(78);
    expect(printed.stdout).toBe('');
    expect(printed.stderr).toMatch(expected);
    expect(printed.stderr.trimEnd()).not.toContain('\n');
  });
});

test('a port that is taken ends it with a sentence and 1', async () => {
  const { port } = await holdPort();
  const SIGNAGE_DATA_DIR = dataDirWith({ 'content.json': lobby });
  const { ended, printed } = startHeadless({
    SIGNAGE_DATA_DIR,
    SIGNAGE_PORT: String(port),
    SIGNAGE_LOG_LEVEL: 'error',
  });
  expect(await ended).toBe(1);
  expect(printed.stderr).toBe(`Port ${port} is taken by another program; set SIGNAGE_PORT to a free one.\n`);
});

describe.each(['SIGTERM', 'SIGINT'] as const)('%s ends it with 0 within 5 s', (signal) => {
  // Each is a start: of each signal one.
  test.runIf(isSoak || signal === 'SIGTERM')('with whatever is open', async () => {
    const SIGNAGE_DATA_DIR = dataDirWith({ 'content.json': lobby });
    const { child, ready, ended } = startHeadless({ SIGNAGE_DATA_DIR });
    const url = await ready();
    const { hostname, port } = new URL(url);
    const page = await joinScreen({ url }, 'lobby');
    const mute = await joinScreen({ url }, 'lobby');
    mute.socket.pause();
    // Kept alive by its client; never used; in the middle of a head; in the middle of a body.
    await (await fetch(`${url}/healthz`)).text();
    const begun = [
      '',
      'GET /healthz HTTP/1.1\r\nHost: b',
      `POST /api/screens/lobby/commands HTTP/1.1\r\nHost: box\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
    ];
    for (const head of begun) {
      const socket = connect(Number(port), hostname);
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(head);
    }
    // Answered after all of them were taken in.
    await (await fetch(`${url}/healthz`)).text();

    child.kill(signal);
    // Were it later than 5 s by its own clock, this would be 1.
    expect(await ended).toBe(0);
    expect(await page.closed).toBe(1001);
    await expect(fetch(url)).rejects.toThrow();
  });

  test.runIf(isSoak || signal === 'SIGINT')('twice is once', async () => {
    const { child, ready, ended } = startHeadless({ SIGNAGE_DATA_DIR: dataDirWith({ 'content.json': lobby }) });
    await ready();
    child.kill(signal);
    child.kill(signal);
    expect(await ended).toBe(0);
  });
});

test('what was stored right before is there after', async () => {
  const SIGNAGE_DATA_DIR = dataDirWith({ 'content.json': lobby });
  const first = startHeadless({ SIGNAGE_DATA_DIR });
  const order = { command: 'setclientname', clientName: 'Front door', deviceId: 'device-1' };
  const answer = fetch(`${await first.ready()}/api/screens/lobby/commands`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(order),
  });
  expect((await answer).status).toBe(200);
  first.child.kill();
  expect(await first.ended).toBe(0);
  const second = startHeadless({ SIGNAGE_DATA_DIR });
  const { welcome } = await joinScreen({ url: await second.ready() }, 'lobby', { deviceId: 'device-1' });
  expect(welcome.clientName).toBe('Front door');
});

test('any address may be listened on; the line names one that can be opened here', async () => {
  const SIGNAGE_DATA_DIR = dataDirWith({ 'content.json': lobby });
  mkdirSync(join(SIGNAGE_DATA_DIR, 'uploads'));
  const url = await startHeadless({ SIGNAGE_DATA_DIR, SIGNAGE_HOST: '0.0.0.0' }).ready();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8'));
  expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ version, variant: 'extended', connections: 0 });
});
