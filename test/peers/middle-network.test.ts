/**
 * Three boxes in network namespaces, and a host between them that relays, holds, repeats, reorders, cuts, alters and lies:
 * with a secret it reads nothing, holds no command for more than 3 s, and is never believed. It can drop, and no more.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { lobbyWith } from '../content/samples.ts';
import { repeats } from '../support/soak.ts';
import { createDividedNetwork, hasNetworks } from './network.ts';
import { secret } from './support.ts';

const STARTS = repeats(1, 20, 'SIGNAGE_TEST_MIDDLE');
/** Commands at each box while the host between them is hostile. */
const COMMANDS = 30;
/** What a command may take from the operator to a page, ms: 3 s, and what a machine adds that runs other tests too. */
const MAX_DELAY_MS = STARTS === 1 ? 5_000 : 3_500;
const patience = { timeout: 30_000, interval: 200 };
const path = '/api/screens/lobby/commands';

interface Answer {
  at: number;
  status: number;
  answer: Record<string, unknown>;
}

/** A page and an operator at a box. */
const watch = async (worker: ChildProcess) => {
  const heard: { url: string; at: number }[] = [];
  let asked = 0;
  const ready = new Promise<void>((resolve) => {
    worker.on('message', (message: { ready?: true; heard?: string; at?: number }) => {
      if (message.ready) resolve();
      if (message.heard !== undefined) heard.push({ url: message.heard, at: message.at ?? 0 });
    });
  });
  await ready;
  return {
    heard,
    ask: (at: string, body?: object): Promise<Answer> => {
      asked += 1;
      const id = asked;
      return new Promise((resolve) => {
        const listen = (message: { id?: number } & Answer): void => {
          if (message.id !== id) return;
          worker.off('message', listen);
          resolve(message);
        };
        worker.on('message', listen);
        worker.send({ id, path: at, body });
      });
    },
  };
};

interface Report {
  read: string[];
  counts: Record<string, number>;
  believed: string[];
  bytes: number;
}

const startSite = async () => {
  const { middle, hosts } = createDividedNetwork(3);
  const host = middle.run('middle-worker.ts', ...hosts.map(({ address }) => address));
  await once(host, 'message');
  await Promise.all(
    hosts.map((each) => each.start({ SIGNAGE_SHARED_SECRET: secret }, lobbyWith([{ kind: 'text', title: 'ours' }]))),
  );
  const boxes = await Promise.all(hosts.map((each) => watch(each.run('page-worker.ts', secret))));
  const reach = async (): Promise<number[]> =>
    Promise.all(
      boxes.map(async (box) => {
        const { peers } = (await box.ask('/healthz')).answer as unknown as Health;
        return peers.filter(({ state }) => state === 'alive').length;
      }),
    );
  return {
    boxes,
    together: () => expect.poll(reach, patience).toEqual([2, 2, 2]),
    be: (hostile: boolean) => void host.send({ hostile }),
    report: async (...contains: string[]): Promise<Report> => {
      host.send({ contains });
      const [report] = await once(host, 'message');
      return report as Report;
    },
  };
};

describe.skipIf(!hasNetworks)('a host between three boxes (needs network namespaces)', () => {
  test.each(Array.from({ length: STARTS }, (_, start) => start + 1))(
    'reads nothing, holds no command for more than 3 s and is not believed (start %i)',
    async (start) => {
      const { boxes, together, be, report } = await startSite();
      const [one, two, three] = boxes as [(typeof boxes)[0], (typeof boxes)[0], (typeof boxes)[0]];
      await together();

      // It relays, and announces itself as a box.
      const put = (title: string) =>
        one.ask('/api/onboarding', { deviceId: 'hidden-device', clientName: title, screenSlug: 'lobby' });
      const nameAt = async (box: typeof one) =>
        (await box.ask('/api/onboarding/status?deviceId=hidden-device')).answer.clientName;
      expect((await put('Hidden desk')).status).toBe(200);
      for (const box of boxes) await expect.poll(() => nameAt(box), patience).toBe('Hidden desk');
      const sent = new Map<string, number>();
      const command = async (box: typeof one, n: number): Promise<Answer> => {
        const url = `/screen/lobby?quiet=${n}`;
        const answer = await box.ask(path, { command: 'redirect', url });
        sent.set(url, answer.at);
        return answer;
      };
      expect((await command(two, 0)).answer).toMatchObject({ sent: 3, degraded: false });

      // It does its worst.
      be(true);
      const running: Promise<Answer>[] = [];
      for (let n = 1; n <= 3 * COMMANDS; n++) {
        running.push(command(boxes[n % 3] as typeof one, n));
        await pause(80);
      }
      await Promise.all(running);
      // What it still holds.
      await pause(6_500);
      const middle = await report('Hidden desk', 'hidden-device', 'quiet=', 'ours', secret);
      const { read, counts, believed } = middle;
      expect(read).toEqual([]);
      expect(believed).toEqual([]);
      for (const what of ['held', 'body held', 'repeated', 'cut', 'altered', 'lied to', 'asked for /api/peers/time']) {
        expect(counts[what], what).toBeGreaterThan(0);
      }
      expect(Object.keys(counts).filter((what) => what.startsWith('asked for'))).toEqual(['asked for /api/peers/time']);
      const delays = boxes.flatMap(({ heard }) => heard.map(({ url, at }) => at - (sent.get(url) ?? 0)));
      for (const { heard } of boxes) expect(new Set(heard.map(({ url }) => url)).size).toBe(heard.length);
      expect(Math.max(...delays)).toBeLessThan(MAX_DELAY_MS);
      const lost = 3 * sent.size - delays.length;
      console.log(`start ${start}: longest delay ${Math.max(...delays)} ms, ${lost} of ${3 * sent.size} lost`, counts);

      // Nothing of it stays.
      be(false);
      await together();
      for (const box of boxes) {
        const { peers, replication } = (await box.ask('/healthz')).answer as unknown as Health;
        expect(peers.map(({ nodeId }) => nodeId)).not.toContain('00000000-0000-4000-8000-000000000000');
        expect(replication.refused).toEqual([]);
        expect(await nameAt(box)).toBe('Hidden desk');
      }
      expect((await put('Hidden desk, moved')).status).toBe(200);
      for (const box of boxes) await expect.poll(() => nameAt(box), patience).toBe('Hidden desk, moved');
      let last = 3 * COMMANDS;
      await expect
        .poll(async () => {
          last += 1;
          return (await command(three, last)).answer;
        }, patience)
        .toMatchObject({ sent: 3, degraded: false });
    },
    120_000,
  );
});
