/**
 * A site whose boxes are killed, or cut off, while others change things. SIGNAGE_TEST_CHURN_BOXES: how many,
 * SIGNAGE_TEST_CHURN: for how long, s.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { lobbyWith } from '../content/samples.ts';
import { temporaryFolder } from '../support/service.ts';
import { repeats } from '../support/soak.ts';
import { type Restartable, startRestartable } from './restartable.ts';
import { bindingsOf } from './support.ts';

const count = repeats(4, 30, 'SIGNAGE_TEST_CHURN_BOXES');
const seconds = repeats(3, 300, 'SIGNAGE_TEST_CHURN');
const patience = { timeout: 60_000, interval: 100 };
/** Each upload has a name of its own. */
const nameOf = (n: number): string => `file-${n}.txt`;
/** Names before and after the last upload that the content has: more than are there, and than are uploaded during an edit. */
const named = 20;

/** @param uploads how many there were */
const saying = (title: string, uploads: number) =>
  lobbyWith([
    { kind: 'text', title },
    ...Array.from({ length: 2 * named }, (_, n) => uploads - named + n)
      .filter((n) => n >= 0)
      .map((n) => ({ kind: 'image', media_url: `/media/${nameOf(n)}` })),
  ]);

const startBox = (first?: Restartable): Promise<Restartable> => {
  const dataDir = temporaryFolder();
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'content.json'), JSON.stringify(saying('first', 0)));
  return startRestartable(dataDir, first);
};

/** Kills it, or keeps it from everything for a time, and brings it back. */
const fail = async (box: Restartable): Promise<void> => {
  if (Math.random() < 0.5) {
    await box.kill();
    await pause(Math.random() * 1_000);
    await box.start();
  } else {
    box.child.kill('SIGSTOP');
    await pause(Math.random() * 5_000);
    box.child.kill('SIGCONT');
  }
};

/** Sends a request; whether it was acknowledged. */
const send = async (method: string, url: string, body?: object | string, headers = {}): Promise<boolean> => {
  const isJson = typeof body === 'object';
  const type = isJson ? { 'Content-Type': 'application/json' } : {};
  const init = { method, body: isJson ? JSON.stringify(body) : (body ?? null), headers: { ...type, ...headers } };
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(5_000) }).catch(() => null);
  await answer?.arrayBuffer().catch(() => null);
  return answer?.ok === true;
};

test(`${count} boxes, of which one is killed or cut off every second for ${seconds} s, soon have every acknowledged change, and nothing deleted is back`, {
  timeout: (2 * seconds + 240) * 1_000,
}, async () => {
  const first = await startBox();
  const boxes = [first];
  while (boxes.length < count) boxes.push(await startBox(first));
  const aliveAt = async (url: string): Promise<number> => {
    const { peers } = (await (await fetch(`${url}/healthz`)).json()) as { peers: { state: string }[] };
    return peers.filter(({ state }) => state === 'alive').length;
  };
  const untilTogether = async (): Promise<void> => {
    for (const { url } of boxes) await expect.poll(() => aliveAt(url), patience).toBe(count - 1);
  };
  await untilTogether();

  const endsAt = performance.now() + seconds * 1_000;
  const isOver = (): boolean => performance.now() >= endsAt;
  /** Any box, at which something is changed; it may be away. */
  const any = (): string => boxes[Math.floor(Math.random() * boxes.length)]?.url ?? first.url;
  const failing = new Map<Restartable, Promise<void>>();
  let failures = 0;
  const storm = async (): Promise<void> => {
    while (!isOver()) {
      // The first box stays: all others begin with its address, and it makes all edits.
      const up = boxes.filter((box) => box !== first && !failing.has(box));
      const box = up[Math.floor(Math.random() * up.length)];
      if (box !== undefined) {
        failing.set(
          box,
          fail(box).finally(() => failing.delete(box)),
        );
        failures += 1;
      }
      await pause(1_000);
    }
    await Promise.all(failing.values());
  };
  const bound = new Set<string>();
  const bind = async (): Promise<void> => {
    for (let n = 0; !isOver(); n++) {
      const deviceId = `device-${n}`;
      const body = { deviceId, clientName: `Name ${n}`, screenSlug: 'lobby' };
      if (await send('POST', `${any()}/api/onboarding`, body)) bound.add(deviceId);
      await pause(100);
    }
  };
  const present = new Set<string>();
  const deleted = new Set<string>();
  let uploads = 0;
  const upload = async (): Promise<void> => {
    for (let n = 0; !isOver(); n++) {
      uploads = n;
      if (await send('PUT', `${any()}/api/media/${nameOf(n)}`, `bytes of ${n}`)) present.add(nameOf(n));
      const [oldest] = present;
      if (oldest !== undefined && present.size > 8) {
        // A box that does not answer may have deleted it.
        present.delete(oldest);
        if (await send('DELETE', `${any()}/api/media/${oldest}`)) deleted.add(oldest);
      }
      await pause(500);
    }
  };
  let edits = 0;
  let title = 'first';
  const edit = async (): Promise<void> => {
    while (!isOver()) {
      const { sha256 = '' } = await fetch(`${first.url}/console/api/content`)
        .then((answer) => answer.json() as Promise<{ sha256: string }>)
        .catch(() => ({ sha256: '' }));
      const next = `edit ${edits + 1}`;
      if (await send('PUT', `${first.url}/console/api/content`, saying(next, uploads), { 'If-Match': `"${sha256}"` })) {
        edits += 1;
        title = next;
      }
      await pause(500);
    }
  };
  await Promise.all([storm(), bind(), edit(), upload()]);
  const endedAt = performance.now();

  /** What a box lacks of what was acknowledged, or has though it was deleted. */
  const wrongAt = async (url: string): Promise<string[]> => {
    const read = async (path: string) => (await fetch(url + path)).json();
    const bindings = await bindingsOf({ url });
    const { slides } = (await read('/api/screens/lobby/playlist')) as { slides: { title: string }[] };
    const { media } = (await read('/api/peers/media')) as { media: { name: string }[] };
    const devices = new Set(bindings.map(({ deviceId }) => deviceId));
    const files = new Set(media.map(({ name }) => name));
    return [
      ...[...bound].filter((deviceId) => !devices.has(deviceId)),
      ...(slides[0]?.title === title ? [] : [`${slides[0]?.title} in place of ${title}`]),
      ...[...present].filter((name) => !files.has(name)),
      ...[...deleted].filter((name) => files.has(name)).map((name) => `${name}, which was deleted`),
    ];
  };
  const late = new Map<string, string[]>();
  let wrong = 0;
  do {
    wrong = 0;
    for (const { url } of boxes) {
      const found = await wrongAt(url);
      wrong += found.length;
      if (found.length > 0 && performance.now() - endedAt > 5_000) late.set(url, found.slice(0, 5));
    }
  } while (wrong > 0 && performance.now() - endedAt < patience.timeout);
  const tookMs = Math.round(performance.now() - endedAt);
  console.log(
    `${failures} failures; ${bound.size} bindings, ${edits} edits, ${present.size} uploads and ${deleted.size} deletions are on ${count} boxes ${tookMs} ms after the end`,
    Object.fromEntries(late),
  );
  expect(wrong).toBe(0);
  await untilTogether();
  expect(failures).toBeGreaterThan(0);
  // A short run may meet boxes alone that are away.
  if (seconds < 60) return;
  for (const kind of [bound.size, edits, present.size, deleted.size]) expect(kind).toBeGreaterThan(0);
});
