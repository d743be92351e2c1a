/** Slides of every kind in a real Chromium: how clean the swaps are, and what a day of them leaves behind. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Gaps, Health } from '../../service/contract/health.ts';
import { publish, startRtmpServer } from '../streams/publishing.ts';
import { putImage, putVideo, type Rgb } from '../support/media.ts';
import { putPdf } from '../support/pdf.ts';
import { findProgram } from '../support/program.ts';
import { type Frame, record } from '../support/screencast.ts';
import { type BarePage, openBarePage } from './bare.ts';
import type { Report } from './harness/report.ts';
import { type BenchService, startBenchService } from './service.ts';

const SWAPS = Number(process.env.SIGNAGE_BENCH_SWAPS ?? 1_000);
const HOURS = Number(process.env.SIGNAGE_BENCH_HOURS ?? 24);
/** How much faster than real time they are played; much more than 20, and slides have no time to be made ready. */
const SPEED = Number(process.env.SIGNAGE_BENCH_SPEED ?? 20);
/** The kinds of slides that are played, such as `pdf,video`, to find out which of them a figure comes from; else all. */
const KINDS = process.env.SIGNAGE_BENCH_KINDS?.split(',');
/** How often the page is weighed. */
const WEIGHINGS = 24;
const viewport = { width: 1280, height: 720 };

const colour = ([red, green, blue]: Rgb): string => `rgb(${red}, ${green}, ${blue})`;

/** Slides of every kind, in an order that has a kind follow itself and others. None shows anything dark. */
const fill =
  (seconds: number, fade_between_slides: boolean, { page, camera }: Site) =>
  (dataDir: string): object => {
    const red = [230, 60, 60] as const;
    const green = [60, 230, 60] as const;
    const blue = [60, 60, 230] as const;
    const white = [240, 240, 240] as const;
    const content = { background: colour(white), color: colour(blue) };
    const media = {
      photo: putImage(dataDir, 'photo.png', red),
      film: putVideo(dataDir, 'film.mp4', green, 4),
      large: putVideo(dataDir, 'large.mp4', blue, 4, '3840x2160'),
      larger: putVideo(dataDir, 'larger.mp4', red, 4, '3840x2160'),
      menu: putPdf(
        dataDir,
        'menu.pdf',
        [red, green].map((each) => ({ colour: each, text: 'Menu' })),
      ),
    };
    const slides = [
      { kind: 'text', title: 'Good morning', content },
      { kind: 'image', media_url: media.photo },
      { kind: 'image', media_url: media.photo, content: { fit: 'contain', background: colour(white) } },
      { kind: 'video', media_url: media.film },
      { kind: 'video', media_url: media.large },
      { kind: 'video', media_url: media.larger },
      { kind: 'template', template_id: 'time' },
      { kind: 'pdf', media_url: media.menu, content },
      { kind: 'pdf', media_url: media.menu, content },
      { kind: 'web', media_url: page },
      { kind: 'template', template_id: 'time' },
      { kind: 'web', media_url: page },
      { kind: 'rss', content: { feed_id: 'news' } },
      { kind: 'timetable', content: { group_id: 'trains' } },
      { kind: 'stream', media_url: camera },
      { kind: 'text', body: 'Good evening', content },
    ]
      .filter(({ kind }) => KINDS?.includes(kind) ?? true)
      .map((slide) => ({ ...slide, duration_seconds: seconds }));
    const html = `<style>p { position: absolute; inset: 0; margin: 0; background: ${colour(green)}; color: ${colour(blue)} }</style>\
<p>{{ now | date: "%H:%M:%S" }}</p>`;
    return {
      screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
      playlists: [{ id: 'main', fade_between_slides, slides }],
      templates: [{ id: 'time', html }],
      rssFeeds: [{ id: 'news', url: `${page}feed.xml` }],
      timetableGroups: [{ id: 'trains', entries: [{ time: '23:59:59', title: 'Night train' }] }],
    };
  };

const feed = `<rss version="2.0"><channel><title>News</title>\
<item><title>The mill wheel turns again</title></item><item><title>Forty kinds of apple</title></item></channel></rss>`;

interface Site {
  page: string;
  camera: string;
}

/** A page of somebody else's, a feed, and a camera. */
const startSite = async (): Promise<Site & { stop(): Promise<void> }> => {
  const server = createServer(({ url }, response) =>
    url === '/feed.xml'
      ? response.setHeader('Content-Type', 'application/rss+xml').end(feed)
      : response
          .setHeader('Content-Type', 'text/html')
          .end('<body style="background: rgb(230, 230, 60); color: rgb(230, 60, 60)"><h1>News'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const relay = await startRtmpServer();
  const camera = `${relay.url}/gate`;
  const published = publish(camera, { colour: 'orange' });
  return {
    page: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    camera,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await published.close();
      await relay.close();
    },
  };
};

const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findProgram('chromium', 'chromium-browser', 'google-chrome') ?? 'chromium',
    args: ['--no-sandbox', '--disable-gpu', '--autoplay-policy=no-user-gesture-required'],
  });

const healthOf = async ({ url }: BenchService): Promise<Health> =>
  (await (await fetch(`${url}/healthz`)).json()) as Health;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const untilSwaps = async (service: BenchService, count: number): Promise<Gaps> => {
  for (;;) {
    const { gaps } = await healthOf(service);
    if (gaps.count >= count) return gaps;
    await pause(250);
  }
};

/** The ground of the page, and of a layer that has no picture. */
const ground: Rgb = [23, 52, 58];

const isDark = (point: Rgb): boolean =>
  point.every((part) => part < 16) || point.every((part, index) => Math.abs(part - (ground[index] ?? 0)) < 8);

const darkIn = (frames: readonly Frame[]): Frame[] => frames.filter(({ points }) => points.some(isDark));

/** Has the page write down what comes on, and when. */
const keepLog = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const log: [at: number, slide: string][] = [];
    Object.assign(globalThis, { swapLog: log });
    new MutationObserver(() => {
      const slides = [...document.querySelectorAll('.layer .slide[data-state="playing"]')];
      log.push([Date.now() / 1000, slides.map(({ className }) => className.slice('slide slide-'.length)).join(' < ')]);
    }).observe(document.getElementById('stage') as Node, { subtree: true, attributeFilter: ['data-state'] });
  });

/** Has the page count the slides that came on, by kind. */
const keepTally = (page: BarePage): Promise<void> =>
  page.evaluate(() => {
    const tally: Record<string, number> = {};
    Object.assign(globalThis, { tally });
    new MutationObserver((records) => {
      for (const { target } of records) {
        const { className, dataset } = target as HTMLElement;
        if (dataset['state'] !== 'playing') continue;
        const [kind = ''] = className.slice('slide slide-'.length).split(' ');
        tally[kind] = (tally[kind] ?? 0) + 1;
      }
    }).observe(document.getElementById('stage') as Node, { subtree: true, attributeFilter: ['data-state'] });
  });

const tallyOf = (page: BarePage): Promise<Record<string, number>> =>
  page.evaluate(() => (globalThis as unknown as { tally: Record<string, number> }).tally);

const untilOn = async (page: BarePage, kind: string): Promise<void> => {
  const isOn = (name: string): boolean => document.querySelector(`.slide-${name}[data-state="playing"]`) !== null;
  while (!(await page.evaluate(isOn, kind))) await pause(50);
};

/** Says of dark frames what they show, and what was on. */
const explain = async ({ note }: Report, page: Page, dark: readonly Frame[]): Promise<void> => {
  const log = await page.evaluate(() => (globalThis as unknown as { swapLog: [number, string][] }).swapLog);
  for (const { at, points } of dark.slice(0, 5)) {
    const [since, slides] = log.findLast(([time]) => time <= at) ?? [at, ''];
    const darkPoints = points.filter(isDark);
    note(
      `    dark: ${darkPoints.length} of ${points.length} points, such as rgb(${darkPoints[0]}), ` +
        `${Math.round((at - since) * 1000)} ms after ${slides}`,
    );
  }
};

const judge = ({ note }: Report, name: string, frames: readonly Frame[], gaps?: Gaps): void => {
  const seconds = (frames.at(-1)?.at ?? 0) - (frames[0]?.at ?? 0);
  const figures = [gaps?.p50, gaps?.p99, gaps?.max].map((value) => value?.toFixed(1) ?? '-').join(' / ');
  note(
    `  ${name.padEnd(30)} gap p50/p99/max ${figures} ms   ${darkIn(frames).length} dark of ${frames.length} frames filmed ` +
      `(${(frames.length / seconds).toFixed(0)} a second)`,
  );
};

/** A player as it is written on a first afternoon, to see that a dark frame is one that the film shows. */
const filmNaive = async (browser: Browser, { url }: BenchService): Promise<Frame[]> => {
  const page = await browser.newPage({ viewport });
  await page.goto(`${url}/healthz`);
  await page.evaluate(
    (sources) => {
      document.body.style.cssText = 'margin: 0; background: #000';
      let at = 0;
      setInterval(() => {
        const source = sources[at++ % sources.length] ?? '';
        const medium = document.createElement(source.endsWith('.png') ? 'img' : 'video');
        medium.style.cssText = 'width: 100vw; height: 100vh; object-fit: cover';
        if (medium instanceof HTMLVideoElement) Object.assign(medium, { muted: true, autoplay: true });
        medium.src = `${source}?${at}`;
        document.body.replaceChildren(medium);
      }, 500);
    },
    ['/media/photo.png', '/media/film.mp4', '/media/large.mp4'],
  );
  const filming = await record(page);
  await pause(15_000);
  const frames = await filming.stop();
  await page.close();
  return frames;
};

/** Swaps of mixed kinds, filmed frame by frame; goal: p99 at most one 60 Hz frame (16.7 ms), none dark. */
export const benchSwaps = async (report: Report): Promise<void> => {
  report.note(`${SWAPS} swaps of mixed kinds, half of them cuts, half fades`);
  const [browser, site] = await Promise.all([launch(), startSite()]);
  for (const fades of [false, true]) {
    const service = await startBenchService({}, fill(0.5, fades, site));
    const page = await browser.newPage({ viewport });
    await page.goto(`${service.url}/screen/lobby`);
    // Once around, so that everything has been loaded.
    await untilSwaps(service, 15);
    await keepLog(page);
    const filming = await record(page);
    const gaps = await untilSwaps(service, SWAPS / 2 + 15);
    const frames = await filming.stop();
    judge(report, fades ? 'fades' : 'cuts', frames, gaps);
    await explain(report, page, darkIn(frames));
    await page.close();
    if (fades) judge(report, 'naive cuts, for comparison', await filmNaive(browser, service));
    await service.stop();
  }
  await site.stop();
  await browser.close();
};

/** Makes every clock and timer of a page run `factor` times as fast; animation frames come as they do. */
const hasten = (factor: number): void => {
  const began = performance.now();
  const epoch = Date.now();
  const steady = performance.now.bind(performance);
  performance.now = () => began + (steady() - began) * factor;
  Date.now = () => epoch + (performance.now() - began);
  const patience = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (ms) => patience(ms / factor);
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const original = globalThis[name] as (run: TimerHandler, ms?: number, ...rest: unknown[]) => number;
    Object.assign(globalThis, {
      [name]: (run: TimerHandler, ms = 0, ...rest: unknown[]) => original(run, ms / factor, ...rest),
    });
  }
};

interface ProcessMemory {
  /** Resident set, MB. */
  rss: number;
  /** The part of it that no file backs: heaps, decoded pictures, buffers. MB. */
  anonymous: number;
  /** The part that is shared with other processes: pictures on their way to the compositor. MB. */
  shared: number;
}

/** The memory of a process by what the kernel says (proc(5), status). */
const memoryOf = (pid: number): ProcessMemory => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
  return { rss: megabytes('VmRSS'), anonymous: megabytes('RssAnon'), shared: megabytes('RssShmem') };
};

/** The largest process of a type: of the renderers, that of the player. */
const largestProcess = async (page: BarePage, type: 'renderer' | 'GPU' | 'browser'): Promise<ProcessMemory> => {
  // One that is ending has none.
  const memories = (await page.processes(type)).map(memoryOf).filter(({ rss }) => Number.isFinite(rss));
  return memories.toSorted((a, b) => b.rss - a.rss)[0] ?? { rss: 0, anonymous: 0, shared: 0 };
};

/**
 * Hours of playing, on a clock that runs fast unless SIGNAGE_BENCH_SPEED is 1: what the page weighs as it goes on. Two
 * hours as they are lived: `SIGNAGE_BENCH_HOURS=2 SIGNAGE_BENCH_SPEED=1 npm run bench playing`.
 */
export const benchPlaying = async ({ note }: Report): Promise<void> => {
  note(`${HOURS} h of playing in 10 s slides of every kind, on a clock ${SPEED} times as fast`);
  const site = await startSite();
  const service = await startBenchService({}, fill(10, true, site));
  const faster = SPEED === 1 ? undefined : { run: hasten, argument: SPEED };
  const page = await openBarePage(`${service.url}/screen/lobby`, viewport, faster);
  await untilSwaps(service, 30);
  await keepTally(page);
  const startedAt = performance.now();
  for (let weighing = 0; weighing <= WEIGHINGS; weighing++) {
    const dueAt = startedAt + ((HOURS * 3_600_000) / SPEED) * (weighing / WEIGHINGS);
    await pause(Math.max(0, dueAt - performance.now()));
    // Always weighed with the same slide on, as each has nodes of its own.
    await untilOn(page, KINDS?.[0] ?? 'rss');
    // As it lives; then without what a collection would take.
    const lived = await largestProcess(page, 'renderer');
    // Again and again: what a collection finalises is only gone with the next, and a page that was left takes a moment.
    for (let collection = 0; collection < 4; collection++) {
      await page.send('HeapProfiler.collectGarbage');
      await pause(20);
    }
    const { nodes, jsEventListeners } = await page.send('Memory.getDOMCounters');
    const { usedSize } = await page.send('Runtime.getHeapUsage');
    const [renderer, gpu, main] = [
      await largestProcess(page, 'renderer'),
      await largestProcess(page, 'GPU'),
      await largestProcess(page, 'browser'),
    ];
    const { gaps } = await healthOf(service);
    const hours = ((performance.now() - startedAt) * SPEED) / 3_600_000;
    note(
      `  after ${hours.toFixed(2).padStart(5)} h  ${String(gaps.count).padStart(6)} swaps  ` +
        `${String(nodes).padStart(5)} nodes  ${String(jsEventListeners).padStart(4)} listeners  ` +
        `${(Number(usedSize) / 1e6).toFixed(1).padStart(5)} MB of heap  ` +
        `renderer RSS ${lived.rss.toFixed(0)} MB, collected ${renderer.rss.toFixed(0)} ` +
        `(${renderer.anonymous.toFixed(0)} anonymous, ${renderer.shared.toFixed(0)} shared)  ` +
        `GPU ${gpu.rss.toFixed(0)}  browser ${main.rss.toFixed(0)}`,
    );
  }
  const shown = Object.entries(await tallyOf(page)).map(([kind, count]) => `${count} ${kind}`);
  note(`  shown: ${shown.join(', ')}`);
  page.close();
  await service.stop();
  await site.stop();
};
