/** A service that is killed at any moment while pages report plays: sockets without a pause, and a page in a browser. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { PagePlay, Play } from '../../../service/contract/plays.ts';
import { startHeadless } from '../../platform/options/process.ts';
import { itBrowser, launchBrowser } from '../../support/browser.ts';
import { patience } from '../../support/observe.ts';
import { colourSlide, colourTemplate, lobby } from '../../support/player.ts';
import { freePort } from '../../support/ports.ts';
import { temporaryFolder } from '../../support/service.ts';
import { repeats } from '../../support/soak.ts';
import { playAgo } from './pages.ts';

const rounds = repeats(6, 500, 'SIGNAGE_TEST_PLAY_KILLS');
const pageRounds = repeats(3, 100, 'SIGNAGE_TEST_PAGE_KILLS');
const PAGES = 4;
/** Upper bound of the time from a report to its acknowledgement, ms. */
const LONGEST_MS = 300;

/** A page that reports without a pause, keeps what is not acknowledged, and now and then repeats what is. */
const createReporter = () => {
  const unacknowledged = new Map<string, PagePlay>();
  const acknowledged = new Map<string, PagePlay>();
  let repeated = 0;

  return {
    acknowledged,
    repeated: () => repeated,
    /** Reports until the connection is lost. */
    run: async (url: string): Promise<void> => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/api/screens/demo/socket`, ['signage.v1']);
      const next = (): void => {
        while (unacknowledged.size < 10) {
          const play = playAgo(Math.random() * 200_000);
          unacknowledged.set(play.play_id, play);
        }
        const again = [...acknowledged.values()].slice(-3);
        repeated += again.length;
        socket.send(JSON.stringify({ type: 'plays', plays: [...unacknowledged.values(), ...again] }));
      };
      socket.on('open', () => {
        socket.send(JSON.stringify({ type: 'hello', clientId: 'reporter' }));
        next();
      });
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as { type: string; play_ids: string[] };
        if (message.type !== 'ack') return;
        for (const id of message.play_ids) {
          const play = unacknowledged.get(id);
          if (play !== undefined) acknowledged.set(id, play);
          unacknowledged.delete(id);
        }
        setTimeout(() => socket.readyState === WebSocket.OPEN && next(), 40);
      });
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.on('close', resolve));
    },
  };
};

test(`every acknowledged play outlives kill -9, ${rounds} times, and none is there twice`, {
  timeout: 60_000 + rounds * 10_000,
}, async ({ annotate }) => {
  const dataDir = temporaryFolder();
  const pages = Array.from({ length: PAGES }, createReporter);
  for (let round = 0; round < rounds; round += 1) {
    const service = startHeadless({ SIGNAGE_DATA_DIR: dataDir, SIGNAGE_LOG_LEVEL: 'silent' });
    const url = await service.ready();
    const running = pages.map((page) => page.run(url));
    // Each round kills at another moment, so that the rounds cover all moments.
    await pause(100 + ((LONGEST_MS * ((round * 0.618) % 1)) | 0));
    service.child.kill('SIGKILL');
    await Promise.all([service.ended, ...running]);
  }
  const service = startHeadless({ SIGNAGE_DATA_DIR: dataDir, SIGNAGE_LOG_LEVEL: 'silent' });
  const url = await service.ready();
  const plays = (await (await fetch(`${url}/console/api/plays`)).json()) as Play[];
  const kept = plays.map(({ play_id }) => play_id);
  const promised = pages.flatMap(({ acknowledged }) => [...acknowledged.keys()]);
  expect(promised.length).toBeGreaterThan(rounds);
  expect(promised.filter((id) => !kept.includes(id))).toEqual([]);
  expect(new Set(kept).size).toBe(kept.length);
  const { store } = (await (await fetch(`${url}/healthz`)).json()) as { store: { faults: string[] } };
  expect(store.faults).toEqual([]);
  const repeated = pages.reduce((sum, page) => sum + page.repeated(), 0);
  await annotate(`${promised.length} acknowledged plays, ${repeated} of them repeated`);
});

itBrowser(
  `every play that a browser was acknowledged outlives kill -9, ${pageRounds} times, and none is there twice`,
  {
    timeout: 60_000 + pageRounds * 20_000,
  },
  async ({ annotate }) => {
    const dataDir = temporaryFolder();
    const slides = [colourSlide('red', [200, 30, 30], 0.3), colourSlide('blue', [30, 30, 200], 0.3)];
    writeFileSync(join(dataDir, 'content.json'), JSON.stringify(lobby(slides, { templates: [colourTemplate] })));
    const SIGNAGE_PORT = String(await freePort());
    const start = () => startHeadless({ SIGNAGE_DATA_DIR: dataDir, SIGNAGE_PORT, SIGNAGE_LOG_LEVEL: 'silent' });
    let service = start();
    const url = await service.ready();

    const context = await (await launchBrowser()).newContext({ viewport: { width: 320, height: 180 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const acknowledged = new Set<string>();
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        const { type, play_ids = [] } = JSON.parse(String(payload)) as { type: string; play_ids?: string[] };
        if (type === 'ack') for (const id of play_ids) acknowledged.add(id);
      }),
    );
    const untilMore = (): Promise<void> => {
      const before = acknowledged.size;
      return expect.poll(() => acknowledged.size, patience).toBeGreaterThan(before);
    };
    await page.goto(`${url}/screen/lobby`);
    for (let round = 0; round < pageRounds; round += 1) {
      await untilMore();
      await pause(LONGEST_MS * ((round * 0.618) % 1));
      service.child.kill('SIGKILL');
      await service.ended;
      service = start();
      await service.ready();
    }
    await untilMore();
    const promised = [...acknowledged];
    const plays = (await (await fetch(`${url}/console/api/plays`)).json()) as Play[];
    const kept = plays.map(({ play_id }) => play_id);
    expect(promised.filter((id) => !kept.includes(id))).toEqual([]);
    expect(new Set(kept).size).toBe(kept.length);
    await annotate(`${promised.length} acknowledged plays`);
  },
);
