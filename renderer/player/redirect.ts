/** What covers the player by a command: an external page, or a file of the service, shown like a slide of its kind. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { blankSlide } from '../../service/contract/slide-values.ts';
import { make } from '../shared/elements.ts';
import { within } from './abort.ts';
import { type ExternalPage, type Opening, openExternal } from './external.ts';
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
type MediumContext = Pick<SlideContext, 'timeZone' | 'now' | 'media' | 'credentials' | 'refused' | 'countFrames'>;

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
const openMedium = async (
  path: string,
  { parent, isSilent, onGone }: Omit<Opening, 'headers' | 'isEarly'>,
  { createSlide, context }: { createSlide: SlideFactory; context: MediumContext },
  signal: AbortSignal,
): Promise<ExternalPage> => {
  const slide = slideOf(path, await kindOf(path, signal));
  const payload = payloadOf(slide);
  const { screen } = payload;
  const own = { slide, payload, screen, current: () => payload, pace: null, continued: null, fail: onGone };
  const view = createSlide({ ...context, ...own });
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

/** An external page or a file over the player, which keeps running underneath. */
export type Redirect = ReturnType<typeof createRedirect>;

interface Dependencies {
  parent: HTMLElement;
  createSlide: SlideFactory;
  /** Context for the slide that shows a file. */
  context: MediumContext;
  /** Called when the page has closed on its own; the player is visible again. */
  onEnd(reason: string): void;
}

export const createRedirect = ({ parent, createSlide, context, onEnd }: Dependencies) => {
  let shown: { url: string; place: HTMLElement; page: ExternalPage } | null = null;
  let loading = new AbortController();
  let isSilent = false;

  const close = (): void => {
    shown?.page.close();
    shown?.place.remove();
    shown = null;
  };

  const open = (url: string, opening: Omit<Opening, 'headers'>, signal: AbortSignal): Promise<ExternalPage> =>
    url.startsWith('/')
      ? openMedium(url, opening, { createSlide, context }, signal)
      : openExternal(url, { ...opening, headers: context.credentials() }, signal);

  return {
    /** The address that is shown; null: no redirect is shown. */
    get url(): string | null {
      return shown?.url ?? null;
    },
    /**
     * Loads an http(s) address, or the path of a file of the service, and then shows it full screen in place of the previous
     * one. Resolves to false if another address was requested meanwhile. Rejects with a reason if it can't be shown.
     */
    show: async (url: string): Promise<boolean> => {
      loading.abort(new Error('another page was requested'));
      const mine = new AbortController();
      loading = mine;
      const place = make('div', 'redirect');
      parent.append(place);
      try {
        const wasSilent = isSilent;
        const onGone = (reason: string): void => {
          if (shown?.place !== place) return;
          close();
          onEnd(reason);
        };
        const page = await open(url, { parent: place, isSilent, isEarly: false, onGone }, mine.signal);
        if (isSilent !== wasSilent) void page.mute(isSilent);
        place.classList.add('on');
        void page.show();
        close();
        shown = { url, place, page };
        return true;
      } catch (error) {
        place.remove();
        if (mine.signal.aborted) return false;
        throw error;
      }
    },
    /**
     * Mutes or unmutes the page for a blackout; while muted it is also hidden. Resolves once it has a picture again, or
     * after a time limit.
     */
    mute: (silent: boolean): Promise<void> | undefined => {
      if (silent === isSilent) return;
      isSilent = silent;
      return shown?.page.mute(silent);
    },
  };
};
