/** Shows a file of the service over the player, like a slide of its kind. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { blankSlide } from '../../service/contract/slide-values.ts';
import { within } from './abort.ts';
import type { ExternalPage, Opening } from './external.ts';
import type { SlideContext, SlideFactory } from './slides/slide.ts';

const ANSWER_MS = 10_000;
const PREPARE_MS = 20_000;

/** @throws Error that says why the file can't be shown */
const kindOf = async (path: string, signal: AbortSignal): Promise<Slide['kind']> => {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  const response = await fetch(path, { method: 'HEAD', cache: 'no-cache', signal: patience });
  if (!response.ok) throw new Error(`${path} answers ${response.status}`);
  const type = response.headers.get('Content-Type') ?? '';
  if (type.startsWith('image/')) return 'image';
  if (type.startsWith('video/')) return 'video';
  if (type.startsWith('application/pdf')) return 'pdf';
  throw new Error(`${path} is ${type}: only pictures, videos and PDF documents can be shown`);
};

const slideOf = (path: string, kind: Slide['kind']): Slide => ({
  ...blankSlide,
  id: path,
  media_url: path,
  kind,
  content: { fit: 'contain' },
});

/** The part of the slide context that media use. */
export type MediumContext = Pick<SlideContext, 'timeZone' | 'now' | 'media' | 'credentials'>;

/** A playlist of this slide only, so that a video loops. */
const payloadOf = (slide: Slide): PlaylistPayload => ({
  screen: { id: '', name: '', slug: '', playlist_id: null, created_at: '', modified_at: '' },
  playlist: null,
  slides: [slide],
  rssFeeds: [],
  apiSources: [],
  timetableGroups: [],
  revision: '',
});

/** Loads a file hidden; see {@link openExternal}. */
export const openMedium = async (
  path: string,
  { parent, isSilent, onGone }: Omit<Opening, 'headers' | 'isEarly'>,
  { createSlide, context }: { createSlide: SlideFactory; context: MediumContext },
  signal: AbortSignal,
): Promise<ExternalPage> => {
  const slide = slideOf(path, await kindOf(path, signal));
  const payload = payloadOf(slide);
  const { screen } = payload;
  const view = createSlide({ ...context, slide, payload, screen, pace: null, continued: null, fail: onGone });
  parent.append(view.element);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(PREPARE_MS)]);
  await within(patience, view.prepare(patience)).catch((error: unknown) => {
    view.destroy();
    throw error;
  });
  let isOn = false;
  return {
    show: async () => {
      isOn = true;
      view.start();
      if (isSilent) view.pause();
    },
    mute: async (silent) => {
      isSilent = silent;
      if (!isOn) return;
      if (silent) view.pause();
      else view.resume();
    },
    close: view.destroy,
  };
};
