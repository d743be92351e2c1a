/** Errors of programmes, rounds and zones that the schema allows. Sizes are found from counts, without expanding anything. */
import type { ContentFile } from '../contract/content.ts';
import { designs } from '../contract/designs.ts';
import { programmeLimits, type ZoneName } from '../contract/programmes.ts';
import { kindsWithOwnLength } from '../contract/slide-values.ts';
import type { SlideFile, SlideKind } from '../contract/slides.ts';
import { programmesOf } from '../domain/programmes.ts';
import { cycleOf, isDaily, type RoundLists, reachableFrom, roundSizes } from '../domain/rounds.ts';
import { fillSlide, slideId } from '../domain/slides.ts';
import type { Path } from './labels.ts';
import { isNested, isPlain, roundListsOf, zonesOf } from './round-lists.ts';

interface Issue {
  path: Path;
  message: string;
}

type ScreenFile = ContentFile['screens'][number];

const quoted = (text: string): string => JSON.stringify(text);

/** Names that lead nowhere. */
const referenceErrors = (content: ContentFile): Issue[] => {
  const issues: Issue[] = [];
  const playlists = new Set(content.playlists.map(({ id }) => id));
  const slugs = new Set(content.screens.map(({ slug }) => slug));
  const refer = (path: Path, id: string | null | undefined) => {
    if (id == null || playlists.has(id)) return;
    issues.push({ path, message: `there is no playlist with the id ${quoted(id)}` });
  };
  content.programmes.forEach(({ id, targets, playlist_id }, at) => {
    const first = content.programmes.findIndex((each) => each.id === id);
    if (first !== at) issues.push({ path: ['programmes', at, 'id'], message: `${quoted(id)} is used more than once` });
    refer(['programmes', at, 'playlist_id'], playlist_id);
    targets.forEach((target, index) => {
      if (target === 'all' || target.startsWith('tag:') || slugs.has(target)) return;
      const message = `there is no screen with the slug ${quoted(target)}; a tag is written "tag:NAME"`;
      issues.push({ path: ['programmes', at, 'targets', index], message });
    });
  });
  content.playlists.forEach(({ insert, slides }, at) => {
    refer(['playlists', at, 'insert', 'playlist_id'], insert?.playlist_id);
    slides.forEach((slide, index) => {
      if (isNested(slide)) refer(['playlists', at, 'slides', index, 'playlist_id'], slide.playlist_id);
    });
  });
  content.screens.forEach(({ zones }, at) => {
    for (const zone of ['ticker', 'sidebar'] as const) refer(['screens', at, 'zones', zone], zones?.[zone]);
  });
  return issues;
};

const cycleErrors = (content: ContentFile, lists: RoundLists<unknown>): Issue[] => {
  const cycle = cycleOf(lists);
  if (cycle === null) return [];
  const [first = '', second = ''] = cycle;
  const at = content.playlists.findIndex(({ id }) => id === first);
  const index = content.playlists[at]?.slides.findIndex((each) => isNested(each) && each.playlist_id === second) ?? -1;
  const path: Path = index === -1 ? ['insert', 'playlist_id'] : ['slides', index, 'playlist_id'];
  const names = cycle.slice(0, 10).map(quoted).join(', which plays ');
  return [{ path: ['playlists', at, ...path], message: `a playlist must not play itself: ${names}` }];
};

const syncErrors = (content: ContentFile, lists: RoundLists<SlideFile>): Issue[] =>
  content.playlists.flatMap((playlist, at) => {
    if (!playlist.sync || isPlain(playlist)) return [];
    const others = [...reachableFrom([playlist.id], lists)].filter((id) => id !== playlist.id);
    const without = others
      .flatMap((id) => lists.get(id)?.items ?? [])
      .flatMap((item) => ('slide' in item ? [item.slide] : []));
    const slide = without.find((each) => kindsWithOwnLength.includes(each.kind) && each.duration_seconds == null);
    if (slide === undefined) return [];
    const name = quoted(slide.title ?? slide.id ?? slide.kind);
    const message = `plays the ${slide.kind} slide ${name} of another playlist, which needs its length in seconds here`;
    return [{ path: ['playlists', at, 'sync'], message }];
  });

const mainOnly: readonly SlideKind[] = ['video', 'stream', 'web'];
const tickerKinds: readonly SlideKind[] = ['text', 'rss', 'timetable'];
const isAllowed: Record<ZoneName, (kind: SlideKind) => boolean> = {
  sidebar: (kind) => !mainOnly.includes(kind),
  ticker: (kind) => tickerKinds.includes(kind),
};
const allowed: Record<ZoneName, string> = {
  sidebar: 'video, stream and web slides play in the main zone alone',
  ticker: 'a ticker shows text, rss and timetable slides',
};

const zoneErrors = (content: ContentFile, lists: RoundLists<SlideFile>): Issue[] =>
  content.screens.flatMap((screen, at) =>
    zonesOf(screen).flatMap(({ zone, playlistId }): Issue[] => {
      for (const id of reachableFrom([playlistId], lists)) {
        for (const item of lists.get(id)?.items ?? []) {
          if ('slide' in item && !isAllowed[zone](item.slide.kind)) {
            const message = `the playlist ${quoted(id)} has a ${item.slide.kind} slide: ${allowed[zone]}`;
            return [{ path: ['screens', at, 'zones', zone], message }];
          }
        }
      }
      return [];
    }),
  );

/** Bytes of a span, without the id of its programme, and of what surrounds a slide or an id in lists and maps. */
const SPAN_BYTES = 70;
const ENTRY_BYTES = 12;

const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** How many windows of a programme a page knows at most. */
const mostWindows = ({ days, dates }: ContentFile['programmes'][number]): number => {
  const all = programmeLimits.days + 1;
  return Math.min(all, (days == null ? (dates == null ? all : 0) : days.length * 2) + (dates?.length ?? 0));
};

/** Each screen, and where the playlists stand that it can play. */
const playedBy = (content: ContentFile, screen: ScreenFile, at: number) => {
  const programmes = programmesOf(content.programmes, screen);
  const zones = zonesOf(screen);
  const own = screen.playlist_id ?? null;
  return {
    programmes,
    main: [
      ...(own === null ? [] : [{ id: own, path: ['screens', at, 'playlist_id'] }]),
      ...programmes.map((each) => ({
        id: each.playlist_id,
        path: ['programmes', content.programmes.indexOf(each), 'playlist_id'],
      })),
    ],
    zones: zones.map(({ zone, playlistId }) => ({ id: playlistId, path: ['screens', at, 'zones', zone] })),
  };
};

const sizeErrors = (content: ContentFile, lists: RoundLists<SlideFile>): Issue[] => {
  const plain = new Set(content.playlists.filter(isPlain).map(({ id }) => id));
  const templates = new Map(
    [...content.templates, ...designs].map((each) => [each.id, Buffer.byteLength(JSON.stringify(each))]),
  );
  const places = new Map(
    content.playlists.flatMap(({ id, slides }) => slides.map((slide, index) => [slide, { id, index }] as const)),
  );
  const filled = new Map<SlideFile, { slide: number; id: number }>();
  const measure = (slide: SlideFile) => {
    const found = filled.get(slide);
    if (found !== undefined) return found;
    const { id, index } = places.get(slide) ?? { id: '', index: 0 };
    const text = JSON.stringify(fillSlide(id, slide, index, []));
    const size = {
      slide: Buffer.byteLength(text) + 1 + (templates.get(slide.template_id ?? '') ?? 0),
      id: bytesOf(slideId(id, slide, index)) + 1,
    };
    filled.set(slide, size);
    return size;
  };
  const sizes = roundSizes(lists, (slide) => measure(slide).slide);
  const ids = roundSizes(lists, (slide) => measure(slide).id);
  const seen = new Set<string>();
  return content.screens.flatMap((screen, at): Issue[] => {
    const { programmes, main, zones } = playedBy(content, screen, at);
    const isComposed = programmes.length > 0 || zones.length > 0 || main.some(({ id }) => !plain.has(id));
    const key = JSON.stringify([...main, ...zones].map(({ id }) => id));
    if (!isComposed || seen.has(key)) return [];
    seen.add(key);
    const named = new Map([...main, ...zones].map((each) => [each.id, each]));
    const most = { id: '', path: [] as Path, bytes: 0 };
    for (const { id, path } of named.values()) {
      const { slides = 0, bytes = 0 } = sizes.get(id) ?? {};
      if (slides > programmeLimits.roundSlides) {
        const count = Number.isFinite(slides) ? `${slides} slides` : 'more slides than can be counted';
        const message = `a round of the playlist ${quoted(id)} on the screen ${quoted(screen.slug)} has ${count}, and may have ${programmeLimits.roundSlides}`;
        return [{ path, message }];
      }
      if (bytes >= most.bytes) Object.assign(most, { id, path, bytes });
    }
    const mainIds = new Set(main.map(({ id }) => id));
    const sum = (values: Iterable<number>): number => [...values].reduce((total, each) => total + each, 0);
    const due = Math.max(0, ...[...mainIds].map((id) => sizes.get(id)?.bytes ?? 0));
    const zoneBytes = sum(zones.map(({ id }) => sizes.get(id)?.bytes ?? 0));
    const distinct = [...reachableFrom(mainIds, lists)].flatMap((id) =>
      (lists.get(id)?.items ?? []).map((item) =>
        'slide' in item ? measure(item.slide).slide + 2 * measure(item.slide).id + bytesOf(id) + ENTRY_BYTES : 0,
      ),
    );
    const rounds = [...mainIds].map(
      (id) => (isDaily(id, lists) ? programmeLimits.days : 1) * (ENTRY_BYTES + (ids.get(id)?.bytes ?? 0)),
    );
    const spans = programmes.map((each) => 2 * mostWindows(each) * (SPAN_BYTES + bytesOf(each.id)));
    const isPlanned = programmes.length > 0 || main.some(({ id }) => !plain.has(id));
    const bytes = due + zoneBytes + (isPlanned ? sum(distinct) + sum(rounds) + sum(spans) : 0);
    if (bytes <= programmeLimits.payloadBytes) return [];
    const message = `the playlists of the screen ${quoted(screen.slug)} need ${(bytes / 1024 ** 2).toFixed(1)} MiB for a page, and may need ${programmeLimits.payloadBytes / 1024 ** 2}; the largest is ${quoted(most.id)} with ${(most.bytes / 1024 ** 2).toFixed(1)}`;
    return [{ path: most.path, message }];
  });
};

/** Each step needs that the one before found nothing. */
export const programmeErrors = (content: ContentFile): Issue[] => {
  const references = referenceErrors(content);
  if (references.length > 0) return references;
  const lists = roundListsOf(content.playlists, (_, slide) => slide);
  const cycles = cycleErrors(content, lists);
  if (cycles.length > 0) return cycles;
  const issues = [...syncErrors(content, lists), ...zoneErrors(content, lists)];
  const isUsed =
    content.programmes.length > 0 ||
    content.playlists.some((playlist) => !isPlain(playlist)) ||
    content.screens.some(({ zones }) => zones != null);
  return isUsed && issues.length === 0 ? sizeErrors(content, lists) : issues;
};
