/** A site while its boxes are killed and come back. SIGNAGE_TEST_BOXES: how many; SIGNAGE_TEST_STORM: for how long, s. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Health } from '../../service/contract/health.ts';
import { lobby } from '../content/samples.ts';
import { temporaryFolder } from '../support/service.ts';
import { repeats, walk } from '../support/soak.ts';
import { type Restartable, startRestartable } from './restartable.ts';

const count = repeats(4, 12, 'SIGNAGE_TEST_BOXES');
const seconds = repeats(2, 120, 'SIGNAGE_TEST_STORM');
/** A sixth of the boxes are killed again and again. */
const frail = Math.max(1, Math.floor(count / 6));
const patience = { timeout: 120_000, interval: 250 };

interface Box extends Pick<Restartable, 'url' | 'start' | 'kill'> {
  /** The commands that its page received, by number, with repetitions. */
  heard: number[];
  /** Whether its page is connected. */
  isShown(): boolean;
}

const startBox = async (first?: Box): Promise<Box> => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'content.json'), JSON.stringify(lobby));
  const service = await startRestartable(dataDir, first);
  const heard: number[] = [];
  let page: WebSocket | undefined;
  let welcomed = false;
  onTestFinished(() => page?.terminate());

  const show = (): void => {
    page = new WebSocket(`${service.url.replace('http', 'ws')}/api/screens/lobby/socket`, ['signage.v1']);
    page.on('error', () => {});
    page.on('open', () => page?.send(JSON.stringify({ type: 'hello', clientId: service.url, page: '/screen/lobby' })));
    page.on('message', (data) => {
      const message = JSON.parse(String(data)) as { type: string; url?: string };
      if (message.type === 'welcome') welcomed = true;
      const number = /\?n=(\d+)$/.exec(message.url ?? '')?.[1];
      if (number !== undefined) heard.push(Number(number));
    });
  };
  show();
  return {
    url: service.url,
    heard,
    isShown: () => welcomed && page?.readyState === WebSocket.OPEN,
    kill: () => {
      welcomed = false;
      return service.kill();
    },
    start: async () => {
      await service.start();
      show();
    },
  };
};

const aliveAt = async ({ url }: Box): Promise<number> => {
  const { peers } = (await (await fetch(`${url}/healthz`)).json()) as Health;
  return peers.filter(({ state }) => state === 'alive').length;
};

test(`${count} boxes, ${frail} of them killed at random: a page receives a command once, and all boxes have one revision in the end`, {
  ...walk,
  timeout: 600_000,
}, async () => {
  const first = await startBox();
  const boxes = [first];
  while (boxes.length < count) boxes.push(await startBox(first));
  const untilTogether = async (): Promise<void> => {
    for (const box of boxes) await expect.poll(() => aliveAt(box), patience).toBe(boxes.length - 1);
    for (const box of boxes) await expect.poll(box.isShown, patience).toBe(true);
  };
  await untilTogether();

  let number = 0;
  /** Sends a command with a unique number. */
  const send = async (to: Box) => {
    const url = `/screen/lobby?n=${++number}`;
    const answer = await fetch(`${to.url}/api/screens/lobby/commands`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ command: 'redirect', url }),
    });
    return { number, ...((await answer.json()) as { sent: number; degraded: boolean }) };
  };
  const heardOf = (wanted: number): number =>
    boxes.reduce((sum, { heard }) => sum + heard.filter((each) => each === wanted).length, 0);

  const steady = boxes.slice(0, boxes.length - frail);
  const endsAt = performance.now() + seconds * 1000;
  const storm = boxes.slice(-frail).map(async (box) => {
    while (performance.now() < endsAt) {
      await delay(Math.random() * 1500);
      await box.kill();
      await delay(Math.random() * 1500);
      await box.start();
    }
  });
  const sent: number[] = [];
  while (performance.now() < endsAt) {
    const answer = await send(steady[Math.floor(Math.random() * steady.length)] ?? first);
    sent.push(answer.number);
    await delay(20);
  }
  await Promise.all(storm);
  await untilTogether();

  const reached = steady.map(({ heard }) => heard.length / sent.length);
  console.log(
    `${sent.length} commands to ${count} boxes in a storm: ${(100 * Math.min(...reached)).toFixed(1)} % reached the worst of ${steady.length} that stayed`,
  );
  for (const { heard } of boxes) expect(new Set(heard).size).toBe(heard.length);

  const calm = async () => {
    const answer = await send(steady[number % steady.length] ?? first);
    return answer.degraded ? null : answer;
  };
  await expect.poll(calm, patience).toMatchObject({ sent: count });
  const last = number;
  await expect.poll(() => heardOf(last), patience).toBe(count);
  for (const { heard } of boxes) expect(heard.filter((each) => each === last)).toEqual([last]);

  const revisionAt = async ({ url }: Box) => (await fetch(`${url}/api/screens/lobby/playlist`)).headers.get('etag');
  await expect.poll(async () => new Set(await Promise.all(boxes.map(revisionAt))).size, patience).toBe(1);
});
