/** Slides as the operator writes them, and as pages get them; pure. The console previews drafts by the same rules. */
import type { ContentFile } from '../contract/content.ts';
import type { PlaylistPayload, Slide } from '../contract/playlist.ts';
import { blankSlide } from '../contract/slide-values.ts';
import type { SlideFile } from '../contract/slides.ts';
import { withDefaults } from './form-values.ts';
import { mediaTypeOf } from './media-types.ts';

/** The slide's own id, else one made from its position, counted from 1. */
export const slideId = (playlistId: string, slide: { id?: string | undefined }, index: number): string =>
  slide.id ?? `${playlistId}-${index + 1}`;

const MAX_LABEL = 60;

/** A slide's title, else its id, in quotes. */
export const slideLabel = (title: string | null | undefined, id: string): string => {
  const text = title?.trim() || id;
  return JSON.stringify(text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL - 1)}…` : text);
};

const mediaTypeOfSlide = (slide: SlideFile): string | null => {
  if (slide.media_url == null) return null;
  if (slide.media_type != null) return slide.media_type;
  if (slide.kind === 'web') return 'text/html';
  return mediaTypeOf(slide.media_url);
};

/** The longest name or title that is shown whole, in characters; a longer one is a warning. */
export const mostNameCharacters = 200;

export const shownName = <Name extends string | null>(name: Name): Name => {
  if (name === null || name.length <= mostNameCharacters) return name;
  const characters = Array.from(name.slice(0, 2 * mostNameCharacters + 1));
  if (characters.length <= mostNameCharacters) return name;
  return `${characters.slice(0, mostNameCharacters - 1).join('')}…` as Name;
};

const slideFields = Object.keys(blankSlide);

/** A template of the content, or a design. */
export type NamedTemplate = Pick<ContentFile['templates'][number], 'id' | 'name' | 'html' | 'schema'>;

/** Fills in all defaults. @param index position in the playlist, from 0 */
export const fillSlide = (
  playlistId: string,
  slide: SlideFile,
  index: number,
  templates: readonly NamedTemplate[],
): Slide => {
  const template = templates.find(({ id }) => id === slide.template_id);
  const filled: Record<string, unknown> = { ...blankSlide };
  for (const name of slideFields) filled[name] = slide[name as keyof SlideFile] ?? filled[name];
  filled['id'] = slideId(playlistId, slide, index);
  filled['title'] = shownName(slide.title ?? null);
  filled['media_type'] = mediaTypeOfSlide(slide);
  if (template?.schema !== undefined) {
    filled['content'] = withDefaults(template.schema, filled['content'] as Slide['content']);
  }
  filled['template'] =
    template === undefined
      ? null
      : { id: template.id, name: shownName(template.name ?? template.id), html: template.html };
  return filled as Slide;
};

export const fillTimetable = ({
  id,
  name,
  entries = [],
}: ContentFile['timetableGroups'][number]): PlaylistPayload['timetableGroups'][number] => ({
  id,
  name: shownName(name ?? id),
  entries: entries.map((entry, index) => ({
    id: entry.id ?? `${id}-${index + 1}`,
    time: entry.time,
    title: shownName(entry.title),
    detail: entry.detail ?? null,
    location: entry.location ?? null,
    days_json: entry.days_json ?? null,
  })),
});
