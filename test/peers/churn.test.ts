/**
 * A site whose boxes are killed while others change things. SIGNAGE_TEST_CHURN_BOXES: how many, SIGNAGE_TEST_CHURN: for how
 * long, s.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { lobbyWith } from '../content/samples.ts';
import { type LightProcess, startLightProcess } from '../support/light-site.ts';
import { temporaryFolder } from '../support/service.ts';
import { repeats } from '../support/soak.ts';

const count = repeats(9, 30, 'SIGNAGE_TEST_CHURN_BOXES');
const seconds = repeats(5, 300, 'SIGNAGE_TEST_CHURN');
/** They run in one process each, which is killed as a whole. */
const BOXES_PER_PROCESS = 3;
const patience = { timeout: 60_000, interval: 100 };

interface Group {
  urls: string[];
  kill(): Promise<void>;
  start(): Promise<void>;
}

const saying = (title: string) => lobbyWith([{ kind: 'text', title }]);

const startGroup = async (peers: () => string): Promise<Group> => {
  const folders = Array.from({ length: BOXES_PER_PROCESS }, () => temporaryFolder());
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'content.json'), JSON.stringify(saying('first')));
  }
  const urls: string[] = [];
  let running: LightProcess;
  const start = async (): Promise<void> => {
    running = await startLightProcess();
    for (const [index, folder] of folders.entries()) {
      const port = urls[index] === undefined ? '0' : new URL(urls[index]).port;
      const settings = { SIGNAGE_DATA_DIR: folder, SIGNAGE_PORT: port, SIGNAGE_PEERS: peers() || (urls[0] ?? '') };
      urls[index] = await running.boxes.start(settings);
    }
  };
  onTestFinished(() => void running.process.kill('SIGKILL'));
  await start();
  return {
    urls,
    kill: async () => {
      const ended = new Promise((resolve) => running.process.once('exit', resolve));
      running.process.kill('SIGKILL');
      await ended;
    },
    start,
  };
};

/** Sends a request; whether it was acknowledged. */
const send = async (method: string, url: string, body: object, headers = {}): Promise<boolean> => {
  const init = { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } };
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(5_000) }).catch(() => null);
  await answer?.arrayBuffer().catch(() => null);
  return answer?.ok === true;
};

test(`${count} boxes, of which some are killed every second for ${seconds} s, have every acknowledged change soon after`, {
  timeout: (seconds + 180) * 1_000,
}, async () => {
  const groups: Group[] = [];
  const first = (): string => groups[0]?.urls[0] ?? '';
  while (groups.length * BOXES_PER_PROCESS < count) groups.push(await startGroup(first));
  const urls = groups.flatMap((group) => group.urls);
  const aliveAt = async (url: string): Promise<number> => {
    const { peers } = (await (await fetch(`${url}/healthz`)).json()) as { peers: { state: string }[] };
    return peers.filter(({ state }) => state === 'alive').length;
  };
  for (const url of urls) await expect.poll(() => aliveAt(url), patience).toBe(count - 1);

  const endsAt = performance.now() + seconds * 1_000;
  const storm = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      // The first group stays: all others begin with its address.
      const group = groups[1 + Math.floor(Math.random() * (groups.length - 1))] as Group;
      await group.kill();
      await pause(Math.random() * 1_000);
      await group.start();
    }
  };
  const acknowledged = new Set<string>();
  const change = async (): Promise<void> => {
    for (let n = 0; performance.now() < endsAt; n++) {
      const url = urls[Math.floor(Math.random() * urls.length)] ?? first();
      const deviceId = `device-${n}`;
      const body = { deviceId, clientName: `Name ${n}`, screenSlug: 'lobby' };
      if (await send('POST', `${url}/api/onboarding`, body)) acknowledged.add(deviceId);
      await pause(50);
    }
  };
  let edits = 0;
  const edit = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const { sha256 = '' } = await fetch(`${first()}/console/api/content`)
        .then((answer) => answer.json() as Promise<{ sha256: string }>)
        .catch(() => ({ sha256: '' }));
      const match = { 'If-Match': `"${sha256}"` };
      if (await send('PUT', `${first()}/console/api/content`, saying(`edit ${edits + 1}`), match)) edits += 1;
      await pause(200);
    }
  };
  await Promise.all([storm(), change(), edit()]);
  const endedAt = performance.now();

  const missingAt = async (url: string): Promise<string[]> => {
    const answer = await fetch(`${url}/api/peers/bindings`);
    const { bindings } = (await answer.json()) as { bindings: { deviceId: string }[] };
    const known = new Set(bindings.map(({ deviceId }) => deviceId));
    return [...acknowledged].filter((deviceId) => !known.has(deviceId));
  };
  const titleAt = async (url: string): Promise<string | undefined> => {
    const answer = await fetch(`${url}/api/screens/lobby/playlist`);
    return ((await answer.json()) as { slides: { title: string }[] }).slides[0]?.title;
  };
  for (const url of urls) {
    await expect.poll(() => missingAt(url), patience).toEqual([]);
    await expect.poll(() => titleAt(url), patience).toBe(`edit ${edits}`);
  }
  console.log(
    `${acknowledged.size} bindings and ${edits} edits are on ${count} boxes ${Math.round(performance.now() - endedAt)} ms after the end`,
  );
  expect(acknowledged.size).toBeGreaterThan(0);
  expect(edits).toBeGreaterThan(0);
});
