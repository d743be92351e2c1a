/**
 * A large site: each box knows all others; once one is killed, each says that it is away, and only it; once it is back,
 * each says so. SIGNAGE_BENCH_CROWD: how many boxes, default 300.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Health } from '../../service/contract/health.ts';
import { type LightProcess, startLightProcess } from '../support/light-site.ts';
import { freePort } from '../support/ports.ts';
import type { Report } from './harness/report.ts';

const COUNT = Number(process.env.SIGNAGE_BENCH_CROWD ?? 300);
const PROCESSES = 10;
const PATIENCE_MS = 1_500_000;
const POLL_MS = 2_000;

type Peers = Health['peers'];

const peersOf = async (url: string): Promise<Peers> => ((await (await fetch(`${url}/healthz`)).json()) as Health).peers;

/** Waits until all boxes say what is right; resolves with the seconds that it took. */
const untilAllSay = async (urls: readonly string[], isRight: (peers: Peers) => boolean): Promise<number> => {
  const startedAt = performance.now();
  for (const url of urls) {
    while (!(await peersOf(url).then(isRight, () => false))) {
      if (performance.now() - startedAt > PATIENCE_MS) throw new Error(`${url} does not say what is right`);
      await pause(POLL_MS);
    }
  }
  const again = await Promise.all(urls.map(async (url) => isRight(await peersOf(url))));
  if (again.includes(false)) throw new Error(`${again.filter((each) => !each).length} boxes have changed their mind`);
  return (performance.now() - startedAt) / 1_000;
};

export const benchCrowd = async ({ note }: Report): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'signage-crowd-'));
  writeFileSync(join(dataDir, 'content.json'), '{"screens":[]}');
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const processes = await Promise.all(Array.from({ length: PROCESSES }, () => startLightProcess()));
  const urls: string[] = [];
  const start = async ({ boxes }: LightProcess, more: Record<string, string> = {}): Promise<string> =>
    boxes.start({ SIGNAGE_SITE: 'crowd', SIGNAGE_PEERS: urls[0] ?? '', ...more });
  urls.push(await start(processes[0] as LightProcess));
  // One machine runs all boxes, and can start only a few of them at once.
  while (urls.length < COUNT - 1) {
    const fresh = await Promise.all(processes.slice(0, COUNT - 1 - urls.length).map((box) => start(box)));
    urls.push(...fresh);
    await untilAllSay(fresh, (peers) => peers.filter(({ state }) => state === 'alive').length >= urls.length - 1);
  }
  const own = { SIGNAGE_DATA_DIR: dataDir, SIGNAGE_PORT: String(await freePort()) };
  const victim = await startLightProcess();
  const victimUrl = await start(victim, own);

  const areAllThere = (peers: Peers): boolean =>
    peers.length === COUNT - 1 && peers.every(({ state }) => state === 'alive');
  const isOnlyVictimAway = (peers: Peers): boolean =>
    peers.length === COUNT - 1 && peers.every(({ url, state }) => state === (url === victimUrl ? 'away' : 'alive'));
  const settled = await untilAllSay([...urls, victimUrl], areAllThere);
  note(
    `${COUNT} of ${COUNT} boxes know all others, and no more, ${settled.toFixed(0)} s after the last one was started`,
  );
  victim.process.kill('SIGKILL');
  await once(victim.process, 'exit');
  const away = await untilAllSay(urls, isOnlyVictimAway);
  note(`one is killed: after ${away.toFixed(0)} s each of the others says that it is away, and only it`);
  const returned = await startLightProcess();
  await start(returned, own);
  const back = await untilAllSay([...urls, victimUrl], areAllThere);
  note(`it is started again: after ${back.toFixed(0)} s each says that all are there`);
  for (const { process: child } of [...processes, returned]) child.disconnect();
};
