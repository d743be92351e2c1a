/** Streams against ffmpeg's own HLS, and nginx's rtmp module where it is installed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { end, processesWith, startRtmpServer } from '../streams/publishing.ts';
import { findProgram } from '../support/program.ts';
import { clock } from './harness/clock.ts';
import { cpuOf } from './harness/process.ts';
import type { Report } from './harness/report.ts';
import { startBenchService } from './service.ts';
import { ffmpeg, startCamera } from './streams/camera.ts';
import { scratch, serveFolder, untilManifest } from './streams/files.ts';
import { startNginx } from './streams/nginx.ts';
import { untilPainted } from './streams/painted.ts';

const idleSeconds = 5;

const defaults = "ffmpeg's defaults";
const plainName = 'ffmpeg -c copy to HLS';
const START_REASON =
  'Measured apart on one processor, 119 of 227 ms to a manifest are the start of the process of ffmpeg (`ffmpeg -version`), and the RTMP handshake with the probe of the tracks is the rest; a warm ffmpeg for streams that nobody asked for would cost more than it gives.';
const PUSH_REASON =
  'The start of the camera is part of every row and alone takes longer than the goal, which is a tenth of nginx.';
const REMUX_REASON =
  'ffmpeg hands over each packet at once by a pipe, where its own HLS writes blocks to files, and gives out the keyframes a second time, by which a change of the format is noticed. That is the price of the start above.';

const SERVICE_REASON =
  "By a profile, the service's own code for a stream takes under 1 ms a second; the rest is its being woken for each packet that ffmpeg hands over at once.";

/** `ffmpeg -c copy` with its own HLS, and nothing else said. */
const startPlain = (source: string, folder: string): ChildProcess =>
  spawn(ffmpeg, ['-nostdin', '-loglevel', 'error', '-i', source, '-c', 'copy', join(folder, 'index.m3u8')], {
    stdio: 'ignore',
  });

type Service = Awaited<ReturnType<typeof startBenchService>>;

const open = async ({ url }: Service, source: string): Promise<string> => {
  const response = await fetch(`${url}/api/rtmp/session?source=${encodeURIComponent(source)}`);
  return url + ((await response.json()) as { playlistUrl: string }).playlistUrl;
};

/** The next source that no session knows yet: a query makes it one, and the server does not mind. */
let fresh = 0;
const another = (source: string) => `${source}?n=${fresh++}`;

/** How much of a processor a process uses over a few seconds, in ms a second. */
const share = async (pid: number): Promise<number> => {
  const before = cpuOf(pid);
  const elapsed = await clock(() => sleep(2_000));
  return (1000 * (cpuOf(pid) - before)) / elapsed;
};

/** Needs Linux and ffmpeg; with Chromium and nginx's rtmp module there are more contenders. */
export const benchStreams = async ({ compare, note }: Report): Promise<void> => {
  const service = await startBenchService({
    SIGNAGE_MAX_STREAMS: '100',
    SIGNAGE_STREAM_IDLE_SECONDS: `${idleSeconds}`,
  });
  const server = await startRtmpServer();
  const source = `${server.url}/camera`;
  const camera = startCamera(source);

  /** A place for ffmpeg's own HLS, and how to start it. */
  const withPlain = async <Result>(work: (url: string, start: () => ChildProcess) => Promise<Result>) => {
    const folder = scratch();
    const files = await serveFolder(folder);
    let child: ChildProcess | undefined;
    const start = () => (child = startPlain(source, folder));
    try {
      return await work(`${files.url}/index.m3u8`, start);
    } finally {
      if (child) await end(child);
      files.close();
      rmSync(folder, { recursive: true });
    }
  };

  await compare(
    'stream start, pulled, joined at 0.3 of a group of 2 s',
    'ms to a manifest',
    {
      'this service': async () => {
        await camera.reach(0.3);
        return clock(async () => untilManifest(await open(service, another(source))));
      },
      "ffmpeg's defaults": () =>
        withPlain(async (url, start) => {
          await camera.reach(0.3);
          start();
          return clock(() => untilManifest(url));
        }),
    },
    { goals: [{ against: defaults, most: 0.05, reason: START_REASON }] },
  );

  const executablePath = findProgram('chromium', 'chromium-browser', 'google-chrome');
  if (executablePath !== undefined) {
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
    await compare(
      'stream start, pulled, to the first frame',
      'ms to the first frame painted',
      {
        'this service': () => untilPainted(browser, service.url, camera, () => open(service, another(source))),
        "ffmpeg's defaults": () =>
          withPlain((url, start) =>
            untilPainted(browser, new URL(url).origin, camera, async () => {
              start();
              return url;
            }),
          ),
      },
      { goals: [{ against: defaults, most: 0.1, reason: START_REASON }] },
    );
    await browser.close();
  }

  const nginx = await startNginx();
  /** From the start of a camera to a manifest. */
  const push = async (url: string, manifest: () => Promise<string> | string): Promise<number> => {
    const text = await manifest();
    const begin = performance.now();
    const pushed = startCamera(url);
    if (text.startsWith('http')) await untilManifest(text);
    else while (!existsSync(text)) await sleep(5);
    const elapsed = performance.now() - begin;
    await pushed.close();
    return elapsed;
  };
  const viaNginx = (application: string) => () => {
    const name = `n${fresh++}`;
    return push(`rtmp://127.0.0.1:${nginx?.port}/${application}/${name}`, () =>
      join(nginx?.folder ?? '', application, `${name}.m3u8`),
    );
  };
  await compare(
    'stream start, pushed, the camera too has to start',
    'ms to a manifest',
    {
      'this service': () => {
        const url = `${server.url}/n${fresh++}`;
        return push(url, () => open(service, url));
      },
      'nginx-rtmp, tuned': nginx ? viaNginx('tuned') : 'nginx with its rtmp module is not installed',
      'nginx-rtmp, defaults': nginx ? viaNginx('default') : 'nginx with its rtmp module is not installed',
      'the camera alone, to its first frame': async () => {
        const url = `${server.url}/n${fresh++}`;
        const begin = performance.now();
        const alone = startCamera(url);
        await alone.started();
        const elapsed = performance.now() - begin;
        await alone.close();
        return elapsed;
      },
      MediaMTX: 'neither Debian nor npm has it',
    },
    { goals: [{ against: 'nginx-rtmp, tuned', most: 0.1, reason: PUSH_REASON }] },
  );
  await nginx?.close();

  const self = service.process.pid as number;
  await sleep(1_000 * (idleSeconds + 2));
  const atRest = await share(self);
  const watched = another(source);
  const manifest = await open(service, watched);
  await untilManifest(manifest);
  const viewer = setInterval(() => fetch(manifest).then((response) => response.text()), 2_000);
  const [own = 0] = processesWith(watched, 'pipe:1');
  await withPlain(async (_, start) => {
    const { pid: plain = 0 } = start();
    await sleep(5_000);
    await compare(
      'remuxing 720p at 2 Mbit/s',
      'ms of a processor a second',
      {
        'this service: its ffmpeg': () => share(own),
        [plainName]: () => share(plain),
      },
      { goals: [{ against: plainName, most: 1.05, reason: REMUX_REASON }] },
    );
    await compare(
      'remuxing, with what the service itself uses beyond its rest',
      'ms of a processor a second',
      {
        'this service and its ffmpeg': async () => {
          const [ffmpegs, services] = await Promise.all([share(own), share(self)]);
          return ffmpegs + services - atRest;
        },
        [plainName]: () => share(plain),
      },
      { goals: [{ against: plainName, most: 1.5, reason: SERVICE_REASON }] },
    );
  });
  note(`The service itself: ${atRest.toFixed(1)} ms of processor a second at rest.`);

  const newest = async (): Promise<number> => {
    const names = (await fetch(manifest).then((response) => response.text())).match(/^\d+(?=\.ts$)/gm) ?? [];
    return Number(names.at(-1) ?? 0);
  };
  const back = async (disturb: () => void): Promise<number> => {
    const before = await newest();
    return clock(async () => {
      disturb();
      while ((await newest()) <= before + 2) await sleep(20);
    });
  };
  const signal = (name: NodeJS.Signals) => () => {
    for (const pid of processesWith(watched, 'pipe:1')) process.kill(pid, name);
  };
  await compare(
    'back again',
    'ms to the second new segment',
    {
      'after ffmpeg was killed': () => back(signal('SIGKILL')),
      'after ffmpeg was suspended': () => back(signal('SIGSTOP')),
      undisturbed: () => back(() => undefined),
    },
    { rounds: 3 },
  );

  clearInterval(viewer);
  await service.stop();
  await camera.close();
  await server.close();
};
