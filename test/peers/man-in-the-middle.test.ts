/** A host between two boxes: it can relay, hold, repeat, alter and drop what they say, and gains nothing by it. */
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import type { TestService } from '../support/service.ts';
import { repeats } from '../support/soak.ts';
import { aliveAt, listenOn, peersOf, postTo, secret, startBox } from './support.ts';

const env = { SIGNAGE_SHARED_SECRET: secret };
const commands = '/api/screens/lobby/commands';
const STARTS = repeats(1, 20);
/** Longer than a command is fresh. */
const HOLD_MS = 3_300;

interface Middle {
  url: string;
  /** Everything that was said, both ways. */
  heard(): string;
  /** The requests, as sent. */
  requests: Buffer[];
  /** Changes what is passed on to the box, or to the one that asks it; null drops it. */
  onRequest: (bytes: Buffer) => Promise<Buffer | null>;
  onAnswer: (bytes: Buffer) => Promise<Buffer | null>;
}

/** A host in front of a box. */
const startMiddle = async (box: Pick<TestService, 'url'>): Promise<Middle> => {
  const said: Buffer[] = [];
  const middle: Middle = {
    url: '',
    heard: () => Buffer.concat(said).toString('latin1'),
    requests: [],
    onRequest: async (bytes) => bytes,
    onAnswer: async (bytes) => bytes,
  };
  const pass = (from: Socket, to: Socket, change: (bytes: Buffer) => Promise<Buffer | null>): void => {
    from.on('data', (bytes: Buffer) => {
      said.push(bytes);
      void change(bytes).then((changed) => (changed === null ? from.destroy() : to.write(changed)));
    });
    from.on('error', () => to.destroy());
    // It does not tell the box that the other one has given up.
    from.on('close', () => setTimeout(() => to.destroy(), HOLD_MS).unref());
  };
  middle.url = await listenOn(
    createServer((client) => {
      const server = connect(Number(new URL(box.url).port), '127.0.0.1');
      pass(client, server, (bytes) => {
        middle.requests.push(bytes);
        return middle.onRequest(bytes);
      });
      pass(server, client, (bytes) => middle.onAnswer(bytes));
    }),
  );
  return middle;
};

/** A box, one that knows it by the host between them alone, and a page at the first. */
const startSite = async () => {
  const there = await startBox([], { env });
  const middle = await startMiddle(there);
  const here = await startBox([middle], { env });
  await expect.poll(() => aliveAt(here), patience).toBe(1);
  const url = `${there.url}/api/screens/lobby/socket`;
  const page = await joinScreen(there, 'lobby', {}, { headers: signRequest({ secret, method: 'GET', url }) });
  const nexts = () => page.messages.filter(({ command }) => command === 'next').length;
  const next = async () => (await postTo(here, commands, { command: 'next' })).json();
  return { there, middle, here, page, nexts, next };
};

const isCommand = (bytes: Buffer): boolean => bytes.includes('POST /api/peers/commands');

test.each(Array.from({ length: STARTS }, (_, start) => start + 1))(
  'a host that relays reads neither content nor bindings nor commands (start %i)',
  async () => {
    const { there, middle, here, page } = await startSite();
    const playlists = [{ id: 'welcome', slides: [{ kind: 'text', title: 'Top secret slide' }] }];
    here.writeContent({ ...lobby, screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'welcome' }], playlists });
    const binding = { deviceId: 'device-1', clientName: 'Hidden desk', screenSlug: 'lobby' };
    expect((await postTo(here, '/api/onboarding', binding)).status).toBe(200);
    const payload = async () => (await there.get('/api/screens/lobby/playlist')).text();
    await expect.poll(payload, patience).toContain('Top secret slide');
    const status = async () => (await there.get('/api/onboarding/status?deviceId=device-1')).text();
    await expect.poll(status, patience).toContain('Hidden desk');
    await postTo(here, commands, { command: 'redirect', url: '/screen/lobby?quiet=1' });
    await page.message(({ command }) => command === 'redirect');
    for (const told of ['secret slide', 'Hidden desk', 'device-1', 'quiet=1']) {
      expect(middle.heard()).not.toContain(told);
    }
    expect(middle.heard()).toContain('application/jose');
  },
);

test('a command that is held for more than 3 s is not carried out', async () => {
  const { middle, nexts, next } = await startSite();
  middle.onRequest = async (bytes) => {
    if (isCommand(bytes)) await pause(HOLD_MS);
    return bytes;
  };
  expect(await next()).toMatchObject({ sent: 0, degraded: true });
  await pause(4_000);
  expect(nexts()).toBe(0);
});

test('a command whose body is held for more than 3 s, after its head, is not carried out', async () => {
  const { there, middle, nexts, next } = await startSite();
  const answers: string[] = [];
  middle.onRequest = async (bytes) => {
    if (!isCommand(bytes)) return bytes;
    const socket = connect(Number(new URL(there.url).port), '127.0.0.1', () => socket.write(bytes.subarray(0, -20)));
    socket.on('data', (data) => answers.push(String(data)));
    setTimeout(() => socket.end(bytes.subarray(-20)), HOLD_MS);
    return null;
  };
  expect(await next()).toMatchObject({ sent: 0, degraded: true });
  await expect.poll(() => answers.join(''), patience).toContain('signature_stale');
  expect(answers.join('')).toMatch(/x-signage-clock: \d{13}\r/i);
  expect(nexts()).toBe(0);
});

test('a command that is repeated, or sent to be relayed on, is carried out once', async () => {
  const { there, middle, nexts, next } = await startSite();
  expect(await next()).toMatchObject({ sent: 1, degraded: false });
  const request = middle.requests.find(isCommand) ?? Buffer.alloc(0);
  const send = (bytes: Buffer): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(Number(new URL(there.url).port), '127.0.0.1', () => socket.write(bytes));
      socket.once('data', (data) => {
        resolve(String(data));
        socket.destroy();
      });
    });
  expect(await send(request)).toContain('signature_replayed');
  expect(
    await send(Buffer.from(request.toString('latin1').replace(/x-signage-relay/i, 'x-signage-delay'), 'latin1')),
  ).toMatch(/^HTTP\/1.1 4/);
  expect(nexts()).toBe(1);
});

test.each([
  ['alters', async (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace(/..$/s, 'AA'), 'latin1')],
  ['cuts', async (bytes: Buffer) => bytes.subarray(0, bytes.length - 10)],
  ['drops', async () => null],
] as const)('a host that %s answers is not believed', async (_, onAnswer) => {
  const { middle, here, next } = await startSite();
  middle.onAnswer = onAnswer;
  expect(await next()).toMatchObject({ sent: 0, degraded: true });
  // What it announces as a box gets no further than the challenge.
  const liar = await startMiddle(here);
  liar.onAnswer = onAnswer;
  const other = await startBox([liar], { env });
  await expect.poll(() => peersOf(other), patience).toMatchObject([{ nodeId: null, state: 'away' }]);
});
