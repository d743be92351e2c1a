/** Errors of programmes, rounds and zones that the schema allows. */
import type { ContentFile } from '../contract/content.ts';
import type { ZoneName } from '../contract/programmes.ts';
import { kindsWithOwnLength } from '../contract/slide-values.ts';
import type { SlideFile, SlideKind } from '../contract/slides.ts';
import { cycleOf, type RoundLists, reachableFrom } from '../domain/rounds.ts';
import { type Issue, type Path, quoted } from './labels.ts';
import { sizeErrors, tooLong } from './programme-sizes.ts';
import { isNested, isPlain, roundListsOf, zonesOf } from './round-lists.ts';
import { type CountSteps, createSteps } from './steps.ts';

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

const syncErrors = (content: ContentFile, lists: RoundLists<SlideFile>, count: CountSteps): Issue[] =>
  content.playlists.flatMap((playlist, at) => {
    if (!playlist.sync || isPlain(playlist)) return [];
    const others = [...reachableFrom([playlist.id], lists, count)].filter((id) => id !== playlist.id);
    count(others.reduce((slides, id) => slides + (lists.get(id)?.items.length ?? 0), 0));
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

const zoneErrors = (content: ContentFile, lists: RoundLists<SlideFile>, count: CountSteps): Issue[] =>
  content.screens.flatMap((screen, at) =>
    zonesOf(screen).flatMap(({ zone, playlistId }): Issue[] => {
      for (const id of reachableFrom([playlistId], lists, count)) {
        for (const item of lists.get(id)?.items ?? []) {
          count(1);
          if ('slide' in item && !isAllowed[zone](item.slide.kind)) {
            const message = `the playlist ${quoted(id)} has a ${item.slide.kind} slide: ${allowed[zone]}`;
            return [{ path: ['screens', at, 'zones', zone], message }];
          }
        }
      }
      return [];
    }),
  );

/** Each step needs that the one before found nothing. */
export const programmeErrors = (content: ContentFile): Issue[] => {
  const references = referenceErrors(content);
  if (references.length > 0) return references;
  const lists = roundListsOf(content.playlists, (_, slide) => slide);
  const cycles = cycleErrors(content, lists);
  if (cycles.length > 0) return cycles;
  const steps = createSteps();
  const isUsed =
    content.programmes.length > 0 ||
    content.calendars.length > 0 ||
    content.playlists.some((playlist) => !isPlain(playlist)) ||
    content.screens.some(({ zones }) => zones != null);
  return steps.within(
    () => {
      const issues = [...syncErrors(content, lists, steps.count), ...zoneErrors(content, lists, steps.count)];
      return isUsed && issues.length === 0 ? sizeErrors(content, lists, steps.count) : issues;
    },
    (message) => [{ path: ['playlists'], message, code: tooLong }],
  );
};
