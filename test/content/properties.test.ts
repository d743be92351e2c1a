/** Any input becomes a payload of the specified shape or a list of issues, never an exception. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelOf } from '../../service/content/model.ts';
import { createPayload } from '../../service/content/payloads.ts';
import { checkContent } from '../../service/content/validate.ts';
import { contentFile as schema } from '../../service/contract/content.ts';
import { playlistPayload } from '../../service/contract/playlist.ts';
import { type Variant, variants } from '../../service/contract/terms.ts';
import { repeats } from '../support/soak.ts';
import { everyKind, fields } from './samples.ts';

const slug = fc.stringMatching(/^[a-z0-9-]{1,64}$/);
const id = fc.oneof(
  fc.string({ minLength: 1, maxLength: 128 }),
  fc.constantFrom('__proto__', 'constructor', 'toString'),
);
const text = fc.string({ unit: 'grapheme' });
const words = fc.string({ unit: 'grapheme', minLength: 1 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const distinct = <T extends { id: string }>(record: fc.Arbitrary<T>) =>
  fc.uniqueArray(record, { selector: (each) => each.id, maxLength: 4 });

const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
const dateTime = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const days = fc.uniqueArray(fc.integer({ min: 1, max: 7 })).map((list) => JSON.stringify(list));
const fileUrl = fc.oneof(
  fc.webUrl({ withQueryParameters: true }),
  fc.stringMatching(/^[A-Za-z0-9_.-]{1,40}$/).map((name) => `/media/${name}`),
);
const values = fc.dictionary(
  fc.string({ maxLength: 8 }).filter((key) => key !== '__proto__'),
  fc.jsonValue(),
);

const schedule = {
  duration_seconds: maybe(fc.double({ min: 0.1, max: 86_400, noNaN: true })),
  schedule_mode: fc.constantFrom('always', 'between', 'weekly'),
  schedule_start_datetime: maybe(dateTime),
  schedule_end_datetime: maybe(dateTime),
  schedule_start_time: maybe(time),
  schedule_end_time: maybe(time),
  schedule_days_json: maybe(days),
};

const recordOf = (needs: Record<string, fc.Arbitrary<unknown>>, may: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc.record({ ...needs, ...may }, { requiredKeys: Object.keys(needs) });

const slideOf = (kind: string, needs: Record<string, fc.Arbitrary<unknown>>) =>
  recordOf({ kind: fc.constant(kind), ...needs }, { title: maybe(text), body: maybe(text), ...schedule, ...needs });

/** Content files that are valid: their references lead somewhere, and no name is there twice. */
const contentFile = fc
  .record({
    templates: distinct(fc.record({ id, html: text })),
    rssFeeds: distinct(fc.record({ id, url: fc.webUrl() })),
    apiSources: distinct(fc.record({ id, url: fc.webUrl() })),
    timetableGroups: distinct(fc.record({ id, entries: fc.array(fc.record({ time, title: text }), { maxLength: 3 }) })),
  })
  .chain((lists) => {
    const oneOf = (records: readonly { id: string }[]) => records.map((record) => fc.constant(record.id));
    const referring = (
      records: readonly { id: string }[],
      make: (known: fc.Arbitrary<string>) => fc.Arbitrary<object>,
    ) => (records.length === 0 ? [] : [make(fc.oneof(...oneOf(records)))]);
    const slide = fc.oneof(
      slideOf('text', { title: words, content: maybe(values) }),
      slideOf('image', { media_url: fileUrl }),
      slideOf('pdf', { media_url: fileUrl }),
      slideOf('video', { media_url: fileUrl, content: fc.record({ muted: fc.boolean() }) }),
      slideOf('web', { media_url: fc.webUrl() }),
      slideOf('stream', { media_url: fc.domain().map((host) => `rtmp://${host}/live`) }),
      ...referring(lists.templates, (template_id) => slideOf('template', { template_id, content: values })),
      ...referring(lists.rssFeeds, (feed_id) => slideOf('rss', { content: fc.record({ feed_id }) })),
      ...referring(lists.timetableGroups, (group_id) => slideOf('timetable', { content: fc.record({ group_id }) })),
    );
    const playlists = distinct(
      fc.record({ id, slides: fc.array(slide, { maxLength: 5 }) }, { requiredKeys: ['id', 'slides'] }),
    );
    return playlists.chain((known) => {
      const playlist_id = maybe(known.length === 0 ? fc.constant(null) : fc.oneof(...oneOf(known)));
      const screens = fc.uniqueArray(fc.record({ name: words, slug, playlist_id }), {
        selector: (screen) => screen.slug,
        maxLength: 4,
      });
      return screens.map((list) => ({ screens: list, playlists: known, ...lists }));
    });
  });

const at = '2026-06-01T08:00:00.000Z';

const payloadsOf = (content: unknown, variant: Variant) => {
  const reading = checkContent(Buffer.from(JSON.stringify(content)));
  if (!reading.ok) throw new Error(JSON.stringify(reading.issues));
  const { screenDocuments } = modelOf(reading.content, new Map(), at);
  return [...screenDocuments.values()].map((programme) => createPayload(programme, variant));
};

test('any valid content becomes payloads of exactly the specified fields, the same every time', () => {
  fc.assert(
    fc.property(contentFile, fc.constantFrom(...variants), (content, variant) => {
      const payloads = payloadsOf(content, variant);
      expect(payloads.map(({ screen }) => screen.slug)).toEqual(content.screens.map((screen) => screen.slug));
      expect(payloadsOf(content, variant)).toEqual(payloads);
      for (const { body, revision, etag } of payloads) {
        expect(etag).toBe(`"${revision}"`);
        const payload = JSON.parse(body.toString());
        expect(Object.keys(payload)).toEqual(fields.payload[variant]);
        for (const slide of payload.slides) expect(Object.keys(slide)).toEqual(fields.slide);
        if (variant === 'extended') expect(playlistPayload.parse(payload)).toEqual(payload);
      }
    }),
  );
});

test('a list of slides that is checked in parts is read as a whole one, and its mistakes are named at their places', () => {
  const good = (n: number) => ({ kind: 'text', title: `Slide ${n}`, schedule_start_datetime: '2026-06-01T08:00:00Z' });
  const bad = (n: number) => ({ kind: 'text', title: `Slide ${n}`, duration_seconds: -1 });
  const lengths = fc.constantFrom(199, 200, 201, 400, 1_001);
  fc.assert(
    fc.property(lengths, lengths, fc.uniqueArray(fc.nat(400), { maxLength: 30 }), (one, other, wrong) => {
      const listOf = (length: number) =>
        Array.from({ length }, (_, n) => (wrong.includes(n) && length === one ? bad(n) : good(n)));
      const content = {
        screens: [],
        playlists: [
          { id: 'one', slides: listOf(one) },
          { id: 'other', slides: listOf(other) },
        ],
      };
      const whole = schema.safeParse(content);
      const reading = checkContent(Buffer.from(JSON.stringify(content)));
      const places = (whole.error?.issues ?? []).map(
        ({ path: [, at, , index] }) => `playlists[${String(at)}].slides[${String(index)}].duration_seconds`,
      );
      if (whole.success) expect(reading).toEqual({ ok: true, content: whole.data });
      else expect(reading.ok ? [] : reading.issues.map(({ path }) => path)).toEqual(places.slice(0, 20));
    }),
    { numRuns: repeats(20, 200) },
  );
});

test('different screen documents have different revisions', () => {
  fc.assert(
    fc.property(contentFile, contentFile, (one, other) => {
      for (const a of payloadsOf(one, 'extended')) {
        for (const b of payloadsOf(other, 'extended')) {
          const { revision: _a, ...restOfA } = JSON.parse(a.body.toString());
          const { revision: _b, ...restOfB } = JSON.parse(b.body.toString());
          expect(a.revision === b.revision).toBe(JSON.stringify(restOfA) === JSON.stringify(restOfB));
        }
      }
    }),
    { numRuns: 50 },
  );
});

const placesIn = (value: unknown): { holder: Record<string, unknown>; key: string }[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, each]) => [
        { holder: value as Record<string, unknown>, key },
        ...placesIn(each),
      ]);

test('content with arbitrary values in arbitrary places is accepted or refused, and never throws', () => {
  const count = placesIn(everyKind).length;
  fc.assert(
    fc.property(fc.nat(count - 1), fc.anything({ withNullPrototype: true }), (place, value) => {
      const content = structuredClone(everyKind);
      const { holder, key } = placesIn(content)[place] ?? { holder: {}, key: '' };
      holder[key] = value;
      let json: string;
      try {
        json = JSON.stringify(content);
      } catch {
        return;
      }
      const reading = checkContent(Buffer.from(json));
      if (reading.ok) modelOf(reading.content, new Map(), at);
      else expect(reading.issues.length).toBeGreaterThan(0);
    }),
    { numRuns: repeats(150, 5_000) },
  );
});

test('arbitrary bytes are accepted or refused, and never throw', () => {
  const original = Buffer.from(JSON.stringify(everyKind));
  const flipped = fc
    .array(fc.tuple(fc.nat(original.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((flips) => {
      const bytes = Buffer.from(original);
      for (const [place, value] of flips) bytes[place] = value;
      return bytes;
    });
  fc.assert(
    fc.property(fc.oneof(flipped, fc.uint8Array({ maxLength: 256 }), fc.json().map(Buffer.from)), (bytes) => {
      expect(typeof checkContent(bytes).ok).toBe('boolean');
    }),
    { numRuns: repeats(150, 5_000) },
  );
});
