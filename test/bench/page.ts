/** What a page costs while it plays, by kind of slide, beside a bare page that shows the same picture and film. */
import { cpSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import demo from '../../resources/demo/content.json' with { type: 'json' };
import { findProgram } from '../support/program.ts';
import { openBarePage } from './bare.ts';
import type { Bench } from './harness/figures.ts';
import { cpuOf } from './harness/process.ts';
import type { Report } from './harness/report.ts';
import { startBenchService } from './service.ts';

const viewport = { width: 1280, height: 720 };
/** Loading, decoding and the first paintings are over. */
const SETTLE_MS = 4_000;
const MS = 6_000;
const ROUNDS = 3;
/** The film of the demo is shown for its length. */
const FILM_S = 8;
const REASON =
  'A still page costs nothing; ours keeps a socket, looks at its clock, and notes what plays, which is what it takes beyond that.';
const ROUND_REASON = 'Texts are fitted to the display each time they come on, and the clock is drawn every second';

const media = join(import.meta.dirname, '..', '..', 'resources', 'demo', 'media');

const slides = demo.playlists[0]?.slides ?? [];
const nameOf = (index: number): string => {
  const { kind, title, template_id } = slides[index] ?? {};
  const name = title ?? template_id;
  return name === undefined ? `${kind}` : `${kind} "${name}"`;
};

const secondsOf = ({ duration_seconds = FILM_S }: { duration_seconds?: number }): number => duration_seconds;
const roundMs = slides.reduce((sum, slide) => sum + secondsOf(slide) * 1000, 0);

/** One screen for each slide of the demo, which it shows for the whole run, beside that of the demo. */
const fill = (dataDir: string): object => {
  cpSync(media, join(dataDir, 'media'), { recursive: true });
  return {
    ...demo,
    screens: [
      ...demo.screens,
      ...slides.map((_, index) => ({ name: `${index}`, slug: `s-${index}`, playlist_id: `p-${index}` })),
    ],
    playlists: [
      ...demo.playlists,
      ...slides.map((slide, index) => ({ id: `p-${index}`, slides: [{ ...slide, duration_seconds: 3600 }] })),
    ],
  };
};

interface Dish {
  name: string;
  detail: string;
  price: number;
}
const menuAt = slides.findIndex(({ template_id }) => template_id === 'design:menu');
const dishes = (slides[menuAt]?.content as unknown as { items: Dish[] } | undefined)?.items ?? [];
const dish = ({ name, detail, price }: Dish): string => `<p>${name} <b>${price}</b><br><small>${detail}</small></p>`;

const still = {
  menu: `<div style="display: flex; height: 100vh; background: #15233f; color: #fff; font: 30px sans-serif">
    <div style="width: 60%; padding: 5vw">${dishes.map(dish).join('')}</div>
    <img src="/demo-breakfast.jpg" style="width: 40%; object-fit: cover"></div>`,
  image: '<img src="/demo-courtyard.jpg" style="width: 100vw; height: 100vh; object-fit: cover">',
  video:
    '<video src="/demo-mobile.mp4" style="width: 100vw; height: 100vh; object-fit: cover" muted autoplay loop></video>',
};
/** The least that fades from slide to slide: one kind of markup for each, for as long as the demo shows it. */
const round = JSON.stringify(
  slides.map((slide) => [
    still[slide.kind === 'template' || slide.kind === 'text' ? 'menu' : (slide.kind as keyof typeof still)],
    secondsOf(slide),
  ]),
);
const bare = {
  ...still,
  demo: `<style>div.slide { position: fixed; inset: 0; animation: show 0.8s } @keyframes show { from { opacity: 0 } }</style>
    <script>
      const slides = ${round};
      const show = (index) => {
        const [markup, seconds] = slides[index];
        const slide = Object.assign(document.createElement('div'), { className: 'slide', innerHTML: markup });
        document.body.append(slide);
        setTimeout(() => slide.previousElementSibling?.remove(), 900);
        setTimeout(show, seconds * 1000, (index + 1) % slides.length);
      };
      addEventListener('load', () => show(0));
    </script>`,
};

/** Serves the bare pages and their media. */
const startPages = async () => {
  const server = createServer(({ url = '/' }, response) => {
    const page = bare[url.slice(1) as keyof typeof bare];
    if (page !== undefined) response.setHeader('Content-Type', 'text/html').end(`<body style="margin: 0">${page}`);
    else if (url.startsWith('/demo-')) response.end(readFileSync(join(media, url.slice(1))));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** @returns ms of processor a second: all of Chromium, its renderers, its GPU process */
const weigh =
  (url: string, ms = MS) =>
  async (): Promise<number[]> => {
    const page = await openBarePage(url, viewport);
    await pause(SETTLE_MS);
    const groups = await Promise.all(['renderer', 'GPU', 'browser'].map((type) => page.processes(type)));
    const used = () => groups.map((pids) => pids.reduce((sum, pid) => sum + cpuOf(pid), 0));
    const before = used();
    await pause(ms);
    const [renderer = 0, gpu = 0, browser = 0] = used().map(
      (value, index) => ((value - (before[index] ?? 0)) * 1000) / ms,
    );
    page.close();
    return [renderer + gpu + browser, renderer, gpu];
  };

const units = ['ms of processor a second, Chromium', 'in its renderers', 'in its GPU process'];

/** A bench with the demo and the bare pages, by the addresses of both. */
const withDemo =
  (measure: (report: Report, service: string, bare: string) => Promise<void>): Bench =>
  async (report) => {
    if (findProgram('chromium', 'chromium-browser', 'google-chrome') === undefined)
      return report.note('Chromium is not installed.');
    const service = await startBenchService({}, fill);
    const pages = await startPages();
    await measure(report, service.url, pages.url);
    pages.close();
    await service.stop();
  };

/** A whole round of the demo, as somebody sees it who waits for its end. */
export const benchRound = withDemo(async ({ compare }, service, bare) => {
  const against = 'a bare page with its slides';
  await compare(
    'a whole round of the demo, drawn without a GPU',
    units,
    { 'the demo': weigh(`${service}/screen/demo`, roundMs), [against]: weigh(`${bare}/demo`, roundMs) },
    { rounds: ROUNDS, goals: [{ against, most: 1.3, reason: ROUND_REASON }] },
  );
});

export const benchPage = withDemo(async ({ compare }, service, bare) => {
  const slide = (index: number) => weigh(`${service}/screen/s-${index}`);
  for (const kind of ['image', 'video'] as const) {
    const against = `a bare page with the ${kind}`;
    const index = slides.findIndex((each) => each.kind === kind);
    await compare(
      `the ${kind} of the demo, drawn without a GPU`,
      units,
      { [nameOf(index)]: slide(index), [against]: weigh(`${bare}/${kind}`) },
      { rounds: ROUNDS, goals: [{ against, most: 1.3, reason: REASON }] },
    );
  }
  await compare(
    'the menu of the demo, a design, drawn without a GPU',
    units,
    { [nameOf(menuAt)]: slide(menuAt), 'a bare page with the menu': weigh(`${bare}/menu`) },
    { rounds: ROUNDS, goals: [{ against: 'a bare page with the menu', most: 1.3, reason: REASON }] },
  );
  const others = slides.flatMap(({ kind }, index) => (kind === 'image' || kind === 'video' ? [] : [index]));
  const contenders = Object.fromEntries(others.map((index) => [nameOf(index), slide(index)]));
  // They are compared with nothing.
  await compare('the other slides of the demo, drawn without a GPU', units, contenders, { rounds: 1 });
});
