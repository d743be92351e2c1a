/** Which screens can go to a slide at once; pure. */
import { isOn } from '../../../service/domain/slide-schedule.ts';
import { slideId } from '../../../service/domain/slides.ts';
import type { ContentDocument } from '../model/document.ts';
import { fillDraft } from '../model/payload.ts';
import { playablePlaylists, withParts } from '../model/playable.ts';
import { createEvaluation, subjectOf } from '../programmes/evaluation.ts';

interface Question {
  content: ContentDocument;
  playlistId: string;
  slideId: string;
  /** ms since the epoch. */
  at: number;
  timeZone: string;
  /** The ids of the slides that the displays of a screen show: a trigger may have put another playlist there. */
  shownOn(slug: string): readonly (string | null)[];
}

/** Whether a slide of the content is on schedule: displays do not go to one that is not. */
export const isOnSchedule = ({
  content,
  playlistId,
  slideId: wanted,
  at,
  timeZone,
}: Omit<Question, 'shownOn'>): boolean =>
  content.playlists?.some(({ id, slides }) =>
    slides.some(
      (slide, index) =>
        id === playlistId && slideId(id, slide, index) === wanted && isOn(fillDraft(id, slide, index), at, timeZone),
    ),
  ) === true;

/** The slugs of the screens whose round has the slide: by what is due there, with what that nests and inserts. */
export const screensThatCanShow = ({
  content,
  playlistId,
  slideId: wanted,
  at,
  timeZone,
  shownOn,
}: Question): string[] => {
  const playlist = content.playlists?.find(({ id }) => id === playlistId);
  const slides = (playlist?.slides ?? []).flatMap((slide, index) =>
    slide.kind === 'playlist' ? [] : slideId(playlistId, slide, index),
  );
  if (playlist === undefined || !slides.includes(wanted)) return [];
  const due = new Map<string, boolean>();
  const isDue = (slug: string): boolean => {
    const subject = subjectOf(content, slug);
    const evaluation = createEvaluation(content, subject, timeZone);
    const key = JSON.stringify([subject.playlist_id, evaluation.programmes.map(({ id }) => id)]);
    const id = due.has(key) ? null : (evaluation.at(at)?.playlist_id ?? null);
    const found = due.get(key) ?? (id !== null && withParts(content, id).includes(playlist));
    due.set(key, found);
    return found;
  };
  return content.screens.flatMap(({ slug }) => {
    const isPlayed = playablePlaylists(content, slug).includes(playlist) && isDue(slug);
    return isPlayed || shownOn(slug).some((id) => id !== null && slides.includes(id)) ? slug : [];
  });
};
