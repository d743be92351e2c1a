/** What requests are put together of: names, headers and bodies. */
import fc from 'fast-check';
import { anyOfSchema, hostile, hostileString, type Resolve, type Schema } from './values.ts';

interface Bodies {
  requestBody?: { content: Record<string, { schema: Schema }> };
}

/** Names of things that are there, so that valid requests meet them; what is made by chance is bounded in number. */
const known: Record<string, readonly string[]> = {
  slug: ['lobby', 'bar'],
  screenSlug: ['lobby', 'bar'],
  filename: ['hall.jpg', 'a.png', 'b.mp4', 'menu.pdf', 'x.html', 'ü ß.txt', 'news.json'],
  deviceId: ['H4NP8S2VC6YA5R1T', '4K7QM3X9FT2WD0AZ', 'device-1', 'a'],
  deviceIds: ['H4NP8S2VC6YA5R1T,device-1'],
  screens: ['lobby,bar', 'gone'],
  source: ['rtmp://127.0.0.1:1/live/a', 'rtmp://127.0.0.1:1/live/b', 'srt://127.0.0.1:1'],
  url: ['http://127.0.0.1:9/film.mp4', 'http://127.0.0.1:9/board', '/screen/lobby', '/media/hall.jpg'],
  origin: ['http://127.0.0.1:8080'],
  key: ['0123456789abcdef'],
  fileName: ['0.ts'],
  path: ['player.js', 'x', '.', 'x/..', 'x%2f..%2f..', ''],
  clientId: ['client-1'],
};

export const pooled = (name: string, otherwise: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  known[name] === undefined
    ? otherwise
    : fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...known[name]) }, { weight: 1, arbitrary: otherwise });

const asText = (value: unknown): string => (typeof value === 'string' ? value : String(JSON.stringify(value)));

const escaped = (value: unknown): string => encodeURIComponent(asText(value).replace(/[\ud800-\udfff]/g, '\ufffd'));

/** Escapes as a program does; now and then not at all, or wrongly. Nothing that Node's client refuses to send. */
export const inTarget = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc.tuple(arbitrary, fc.integer({ min: 0, max: 19 })).map(([value, how]) => {
    if (how === 0) return `${escaped(value)}%ZZ`;
    if (how === 1)
      return asText(value)
        .replace(/[^!-~]/g, '')
        .slice(0, 200);
    return escaped(value).slice(0, 4_000);
  });

const headerValue = hostileString.map((value) => value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 1_000));

export const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  {
    weight: 5,
    arbitrary: fc.constantFrom<Record<string, string>>(
      { 'if-none-match': '*' },
      { 'if-none-match': 'W/"x", "y"' },
      { 'if-match': '"x"' },
      { 'if-modified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' },
      { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
      { range: 'bytes=0-' },
      { range: 'bytes=-1' },
      { range: 'bytes=5-2' },
      { range: 'bytes=0-0,2-3' },
      { range: 'bytes=99999999999999999999-' },
      { range: 'items=0-1' },
      { 'if-range': '"x"', range: 'bytes=0-1' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { referer: 'https://evil.example/x' },
      { 'x-signage-relay': '1f0f4a86-9d37-4b1c-8a6f-1c550b9d3c1e' },
      { 'x-signage-recipient': '1f0f4a86-9d37-4b1c-8a6f-1c550b9d3c1e' },
      { 'x-signage-device': 'H4NP8S2VC6YA5R1T' },
      { 'x-signage-device': 'not a device id!' },
      { expect: 'x' },
      { host: 'evil.example' },
      { host: '' },
      { host: 'localhost:1' },
      { connection: 'close' },
      { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' },
      { accept: 'application/xml' },
      { accept: 'text/html' },
      { 'accept-encoding': 'br' },
      { 'content-range': 'bytes 0-1/9' },
      { 'content-encoding': 'gzip' },
      { 'x-forwarded-for': '1.2.3.4' },
      { 'x-http-method-override': 'DELETE' },
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('range', 'if-none-match', 'origin', 'host', 'content-type', 'x-any'), headerValue)
      .map(([name, value]) => ({ [name]: value })),
  },
);

export const bodyOf = (
  { requestBody }: Bodies,
  resolve: Resolve,
): fc.Arbitrary<{ body: Buffer | null; type: string | null }> => {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const odd = fc
    .tuple(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        fc
          .constantFrom('', '{', '[]', 'null', '\ufeff{}', '"x"', '{"a":1}x', '['.repeat(30_000))
          .map((text) => Buffer.from(text)),
        fc.constant(Buffer.alloc(70_000, 0x20)),
        hostile.map((value) => Buffer.from(JSON.stringify(value))),
      ),
      fc.constantFrom(
        'application/json',
        'text/plain',
        'application/json; charset=utf-16',
        'multipart/form-data',
        '',
        type ?? '',
      ),
    )
    .map(([body, of]) => ({ body, type: of || null }));
  const none = fc.constant({ body: null, type: null });
  if (media === undefined) return fc.oneof({ weight: 12, arbitrary: none }, { weight: 1, arbitrary: odd });
  const content =
    type === 'application/json'
      ? fieldsOf(media.schema, resolve).map((value) => Buffer.from(JSON.stringify(value)))
      : fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes));
  return fc.oneof(
    { weight: 12, arbitrary: content.map((body) => ({ body, type: type ?? null })) },
    { weight: 3, arbitrary: odd },
    { weight: 1, arbitrary: none },
  );
};

/** A body in which names of things that are there stand often enough. */
const fieldsOf = (schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> =>
  fc
    .tuple(anyOfSchema(schema, resolve), fc.infiniteStream(fc.nat()), fc.integer({ min: 0, max: 9 }))
    .map(([value, picks, keep]) => {
      if (keep === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => {
          const pool = known[name];
          return [name, pool && typeof each === 'string' ? pool[(picks.next().value ?? 0) % pool.length] : each];
        }),
      );
    });
