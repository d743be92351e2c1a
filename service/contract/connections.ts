/** Live connections of a screen: one table of their fields, from which the snapshot and the messages of pages derive. */
import { z } from 'zod';
import { screen } from './playlist.ts';
import { column, extended, instant, reportedText, slug } from './terms.ts';

export const viewport = z.object({
  width: z.number().nonnegative().describe('CSS pixels'),
  height: z.number().nonnegative().describe('CSS pixels'),
  devicePixelRatio: z.number().positive().describe('device pixels per CSS pixel'),
});

interface Field {
  wire: z.ZodType;
  example: unknown;
  /** In the `state` messages of the page, where it says it. */
  state?: z.ZodType;
  hello?: z.ZodType;
  /** Until the page has said it. */
  first?: unknown;
  /** In a `state` message without it, it is as before; else it is as at first. */
  isKept?: boolean;
}

const page = reportedText(4096)
  .nullish()
  .describe("the page's path, or the URL that a redirect shows, cut at 4,096 characters; null or absent: as before");
const size = viewport
  .extend({ devicePixelRatio: viewport.shape.devicePixelRatio.default(1) })
  .nullish()
  .describe('size of the page; absent: as before');

const fields = {
  id: { wire: z.string().describe('new for each socket'), example: '0b9d3c1e-5f0f-4a86-9d37-2b1c0a6f1c55' },
  clientId: {
    wire: z.string().describe("the page's own, the same across reconnects"),
    example: 'key-9f2c4b7a1d3e5f60718293a4b5c6d7e8',
  },
  clientName: {
    wire: extended(z.string().nullable().describe('name that the device was given; null: none')),
    example: 'Lobby left',
  },
  deviceId: {
    wire: extended(z.string().nullable().describe('null: not reported yet')),
    example: 'H4NP8S2VC6YA5R1T',
  },
  label: {
    wire: z.string().describe('clientName, else a short name made from the user agent and the id'),
    example: 'Lobby left',
  },
  userAgent: {
    wire: z.string().nullable().describe('User-Agent of the page'),
    example: 'Mozilla/5.0 (X11; Linux x86_64)',
  },
  viewport: {
    wire: viewport.nullable().describe('null: not reported yet'),
    example: { width: 1920, height: 1080, devicePixelRatio: 1 },
    hello: size,
    state: size,
    first: null,
    isKept: true,
  },
  page: {
    wire: z.string().describe("the page's path, or the URL that a redirect shows"),
    example: '/screen/lobby',
    hello: page,
    state: page,
    first: '',
    isKept: true,
  },
  currentSlide: {
    wire: z.int().nullable().describe('index into slides, from 0; null: none is shown'),
    example: 0,
    state: z.int().nonnegative().nullish().describe('index into slides, from 0'),
    first: null,
  },
  currentSlideId: {
    wire: extended(z.string().nullable().describe('id of the slide that is shown')),
    example: 'welcome-1',
    state: reportedText().nullish().describe('cut at 500 characters'),
    first: null,
  },
  currentSlideTitle: {
    wire: extended(z.string().nullable().describe('title of the slide that is shown')),
    example: 'Good morning',
    state: reportedText().nullish().describe('cut at 500 characters'),
    first: null,
  },
  paused: {
    wire: z.boolean().describe('playback was paused by a command'),
    example: false,
    state: z.boolean().optional().describe('absent: as before'),
    first: false,
    isKept: true,
  },
  blackout: {
    wire: z.boolean().describe('blacked out by a command'),
    example: false,
    state: z.boolean().optional().describe('absent: as before'),
    first: false,
    isKept: true,
  },
  clientIp: {
    wire: z.string().describe('behind a trusted proxy, the forwarded address'),
    example: '192.168.1.24',
  },
  remoteAddress: { wire: z.string().describe("the socket's address"), example: '192.168.1.24' },
  connectedAt: { wire: instant, example: '2026-01-31T08:00:00.000Z' },
  lastSeenAt: { wire: instant, example: '2026-01-31T08:14:02.550Z' },
} as const satisfies Record<string, Field>;

export const connection = z.object(column(fields, 'wire')).meta({ id: 'Connection' });
export type Connection = z.infer<typeof connection>;

export const connectionExample = Object.fromEntries(
  Object.entries(fields).map(([name, { example }]) => [name, example]),
) as Connection;

/** What a page says of itself in its `hello`, and in its `state` messages. */
export const helloFields = column(fields, 'hello');
export const stateFields = column(fields, 'state');

export type Reported = Pick<Connection, keyof typeof stateFields>;
type Report = { readonly [Name in keyof Reported]?: unknown };

/** What is known of a page after a report. @param before null: it has reported nothing yet */
export const reportedOf = (report: Report, before: Reported | null): Reported =>
  Object.fromEntries(
    (Object.keys(stateFields) as (keyof Reported)[]).map((name) => {
      const { first, isKept = false }: Field = fields[name];
      const said = name === 'page' ? (report.page ?? undefined) : report[name];
      return [name, said === undefined ? (isKept && before !== null ? before[name] : first) : said];
    }),
  ) as Reported;

export const connectionSnapshot = z
  .object({
    screen,
    screenSlug: slug,
    count: z.int().describe('number of connections'),
    connections: z.array(connection).describe('oldest first'),
    degraded: extended(z.boolean().describe('true if a known peer did not respond within 1 s')),
  })
  .meta({ id: 'ConnectionSnapshot' });
export type ConnectionSnapshot = z.infer<typeof connectionSnapshot>;
