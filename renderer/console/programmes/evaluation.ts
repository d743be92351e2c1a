/** What a screen or the screens of a tag would play by a draft, by the rules of the service; pure. */
import {
  createPlayable,
  type Due,
  dueAt,
  mergedSpans,
  type Period,
  periodFrom,
  programmesOf,
  type Stretch,
  timelineOf,
} from '../../../service/domain/programmes.ts';
import type { Span } from '../../../service/domain/wall-time.ts';
import type { ContentDocument, PlaylistDraft, ProgrammeDraft } from '../model/document.ts';
import { fillDraft } from '../model/payload.ts';
import { spansOfSlide } from '../model/week.ts';

/** A screen, or a tag as a screen that has that tag alone. */
export interface Subject {
  slug: string;
  tags: readonly string[];
  /** Null: none. */
  playlist_id: string | null;
  /** Whether the screens of the tag have different playlists of their own. */
  differs: boolean;
}

const TAG = 'tag:';
/** As the service knows ahead. */
const DAYS = 8;

/** @param target `all`, `tag:NAME`, or the slug of a screen */
export const subjectOf = ({ screens }: ContentDocument, target: string): Subject => {
  const screen = screens.find(({ slug }) => slug === target);
  if (screen !== undefined) {
    return { slug: target, tags: screen.tags ?? [], playlist_id: screen.playlist_id ?? null, differs: false };
  }
  const tag = target.startsWith(TAG) ? target.slice(TAG.length) : null;
  const those = screens.filter(({ tags }) => tag === null || tags?.includes(tag));
  const own = new Set(those.map(({ playlist_id }) => playlist_id ?? null));
  const differs = own.size > 1;
  return { slug: '', tags: tag === null ? [] : [tag], playlist_id: differs ? null : ([...own][0] ?? null), differs };
};

/** When a playlist, with those that it nests and inserts, has something to show. */
const available = (document: ContentDocument, period: Period) => {
  const known = new Map<string, Span[]>();
  const spansOf = (id: string): Span[] => {
    const found = known.get(id);
    if (found !== undefined) return found;
    // A cycle, which the check reports, ends here.
    known.set(id, []);
    const playlist = document.playlists?.find((each) => each.id === id);
    const spans = playlist === undefined ? [] : mergedSpans(partsOfPlaylist(playlist));
    known.set(id, spans);
    return spans;
  };
  const partsOfPlaylist = ({ id, slides, insert }: PlaylistDraft): Span[] => [
    ...slides.flatMap((slide, index) => {
      if (slide.kind === 'playlist') return spansOf(String(slide['playlist_id']));
      return spansOfSlide(fillDraft(id, slide, index), [period.start, period.end], period.timeZone) ?? [];
    }),
    ...(slides.length > 0 && insert != null ? spansOf(insert.playlist_id) : []),
  ];
  return spansOf;
};

export interface Explained extends Due<ProgrammeDraft> {
  /** The next in rank that is due; null: none. */
  second: ProgrammeDraft | null;
}

export interface Evaluation {
  /** The programmes that are for the subject. */
  programmes: readonly ProgrammeDraft[];
  /** What plays from a midnight on, for a number of days. Null: a programme has errors. */
  stretches(midnight: number, days: number): Stretch<ProgrammeDraft>[] | null;
  /** What plays at a moment, and why. Null: a programme has errors. */
  at(moment: number): Explained | null;
}

export const createEvaluation = (document: ContentDocument, subject: Subject, timeZone: string): Evaluation => {
  const all = document.programmes ?? [];
  const ranked = programmesOf(all, subject);
  const playable = (period: Period) => createPlayable<ProgrammeDraft>(available(document, period), period);
  let day: { period: Period; spansOf: ReturnType<typeof playable> } | null = null;
  return {
    programmes: ranked,
    stretches: (midnight, days) => {
      try {
        const period = periodFrom(midnight, days, timeZone);
        return timelineOf(ranked, playable(period), period);
      } catch {
        // A time is incomplete while it is being typed.
        return null;
      }
    },
    at: (moment) => {
      try {
        const period = periodFrom(moment, DAYS, timeZone);
        if (day?.period.start !== period.start) day = { period, spansOf: playable(period) };
        const { spansOf } = day;
        const isDue = (each: ProgrammeDraft) => spansOf(each).some(({ start, end }) => start <= moment && moment < end);
        return { ...dueAt(all, subject, moment, period, spansOf), second: ranked.filter(isDue)[1] ?? null };
      } catch {
        return null;
      }
    },
  };
};
