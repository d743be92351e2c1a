/** Streams against ffmpeg's own HLS, and nginx's rtmp module where it is installed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { end, ffmpegPath, freePort, processesWith, startRtmpServer, untilListening } from '../streams/publishing.ts';
import { findProgram } from '../support/program.ts';
import { startBenchService } from './service.ts';
import { compare } from './table.ts';

const ffmpeg = ffmpegPath ?? 'ffmpeg';
const gop = 2;
const idleSeconds = 5;

/** Memory-backed storage for those who write files, as the fastest there is. */
const scratch = () => mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : '/tmp', 'streams-bench-'));

/** A 720p camera; it knows how far it is between two keyframes. */
const startCamera = (url: string) => {
  const child = spawn(
    ffmpeg,
    [
      ...['-nostdin', '-loglevel', 'error', '-progress', 'pipe:1', '-stats_period', '0.05', '-re'],
      ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=25', '-f', 'lavfi', '-i', 'sine=sample_rate=44100'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-b:v', '2M', '-g', `${gop * 25}`],
      ...['-sc_threshold', '0', '-c:a', 'aac', '-f', 'flv', '-tcp_nodelay', '1', url],
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  let at = { time: 0, seconds: 0 };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const microseconds = /^out_time_us=(\d+)/.exec(line)?.[1];
    if (microseconds) at = { time: performance.now(), seconds: Number(microseconds) / 1e6 };
  });
  return {
    /** Resolves when the camera is at this part (0 to 1) of a group of pictures. */
    async reach(part: number) {
      while (at.seconds === 0) await sleep(20);
      const now = at.seconds + (performance.now() - at.time) / 1000;
      await sleep(1000 * ((gop + gop * part - (now % gop)) % gop));
    },
    close: () => end(child),
  };
};

/** Asks until the answer is a manifest with a segment in it. */
const untilManifest = async (url: string): Promise<void> => {
  for (;;) {
    const text = await fetch(url).then((response) => response.text());
    if (text.includes('#EXTINF')) return;
    await sleep(5);
  }
};

/** Serves a folder: what nginx would do for ffmpeg's files. */
const serveFolder = async (folder: string) => {
  const server = createServer((request, response) => {
    const path = join(folder, new URL(request.url ?? '', 'http://x').pathname);
    if (existsSync(path)) response.end(readFileSync(path));
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

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

const clock = async (work: () => Promise<void>): Promise<number> => {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
};

const player = '<!doctype html><video id="video" muted autoplay playsinline></video>';

/** From the start of a stream, which resolves to its manifest, to its first frame in a page that is open already. */
const untilPainted = async (
  browser: Browser,
  origin: string,
  camera: ReturnType<typeof startCamera>,
  start: () => Promise<string>,
): Promise<number> => {
  const page = await browser.newPage();
  await page.route('**/player', (route) => route.fulfill({ contentType: 'text/html', body: player }));
  await page.goto(`${origin}/player`);
  await page.addScriptTag({ path: createRequire(import.meta.url).resolve('hls.js/dist/hls.js') });
  await camera.reach(0.3);
  const elapsed = await clock(async () =>
    page.evaluate(
      async (path) => {
        const { Hls } = window as unknown as { Hls: typeof import('hls.js').default };
        while (!(await fetch(path)).ok) await new Promise((resolve) => setTimeout(resolve, 10));
        const video = document.querySelector('video') as HTMLVideoElement;
        const painted = new Promise((resolve) => video.requestVideoFrameCallback(resolve));
        const hls = new Hls({ liveSyncDurationCount: 2 });
        hls.attachMedia(video);
        hls.loadSource(path);
        await painted;
      },
      new URL(await start()).pathname,
    ),
  );
  await page.close();
  return elapsed;
};

/** What a process and its threads have used of a processor so far, in ms (Linux). */
const cpuOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
    .reduce((sum, part) => sum + part, 0);

/** How much of a processor a process uses over a few seconds, in ms a second. */
const share = async (pid: number): Promise<number> => {
  const before = cpuOf(pid);
  const elapsed = await clock(() => sleep(5_000));
  return (1000 * (cpuOf(pid) - before)) / elapsed;
};

const nginxConfig = (folder: string, port: number, module: string) => `
load_module ${module};
daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
events {}
rtmp { access_log off; server { listen 127.0.0.1:${port};
  application default { live on; hls on; hls_path ${folder}/default; }
  application tuned { live on; hls on; hls_path ${folder}/tuned; hls_fragment 500ms; hls_playlist_length 3s; }
} }
`;

const startNginx = async () => {
  const program = findProgram('nginx');
  const module = join(dirname(program ?? ''), '../lib/nginx/modules/ngx_rtmp_module.so');
  if (program === undefined || !existsSync(module)) return null;
  const folder = scratch();
  for (const name of ['default', 'tuned']) mkdirSync(join(folder, name), { mode: 0o777 });
  const port = await freePort();
  writeFileSync(join(folder, 'conf'), nginxConfig(folder, port, module));
  const child = spawn(program, ['-p', folder, '-c', join(folder, 'conf')], { stdio: 'inherit' });
  await untilListening(port);
  return {
    port,
    folder,
    async close() {
      await end(child);
      rmSync(folder, { recursive: true });
    },
  };
};

/** Needs Linux and ffmpeg; with Chromium and nginx's rtmp module there are more contenders. */
export const benchStreams = async (): Promise<void> => {
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

  await compare('stream start, pulled, joined at 0.3 of a group of 2 s', 'ms to a manifest', {
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
  });

  const executablePath = findProgram('chromium', 'chromium-browser', 'google-chrome');
  if (executablePath !== undefined) {
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
    await compare('the same', 'ms to the first frame painted', {
      'this service': () => untilPainted(browser, service.url, camera, () => open(service, another(source))),
      "ffmpeg's defaults": () =>
        withPlain((url, start) =>
          untilPainted(browser, new URL(url).origin, camera, async () => {
            start();
            return url;
          }),
        ),
    });
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
  await compare('stream start, pushed, the camera too has to start', 'ms to a manifest', {
    'this service': () => {
      const url = `${server.url}/n${fresh++}`;
      return push(url, () => open(service, url));
    },
    ...(nginx && { 'nginx-rtmp, tuned': viaNginx('tuned'), 'nginx-rtmp, defaults': viaNginx('default') }),
  });
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
    await compare('remuxing 720p at 2 Mbit/s', 'ms of a processor a second', {
      'this service: its ffmpeg': () => share(own),
      'ffmpeg -c copy to HLS': () => share(plain),
    });
  });
  console.log(`  the service itself: ${atRest.toFixed(1)} at rest, ${(await share(self)).toFixed(1)} with a stream`);

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
  await compare('back again', 'ms to the second new segment', {
    'after ffmpeg was killed': () => back(signal('SIGKILL')),
    'after ffmpeg was suspended': () => back(signal('SIGSTOP')),
    undisturbed: () => back(() => undefined),
  });

  clearInterval(viewer);
  await service.stop();
  await camera.close();
  await server.close();
};
