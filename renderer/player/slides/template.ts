import morphdom from 'morphdom';
import type { PlaylistPayload } from '../../../service/wire.ts';
import { fontsLoaded, largestFit, overflows } from './fit.ts';
import { compile, type Scope } from './liquid.ts';
import { cleanHtml, hideBrokenPictures, mediaIn, picturesDecoded, withMedia } from './markup.ts';
import { lookOf, paint } from './palette.ts';
import type { SlideContext, SlideFactory } from './slide.ts';
import baseStyle from './template.css?inline';
import { createView } from './view.ts';

/** The baseline variant of the interface has no records of these kinds at all. */
const byId = <T extends { id: string }>(records: readonly T[] = []): Record<string, T> =>
  Object.fromEntries(records.map((record) => [record.id, record]));

const scopeOf = ({ slide, screen }: SlideContext, payload: PlaylistPayload): Scope => ({
  content: slide.content ?? {},
  slide,
  screen,
  feeds: byId(payload.rssFeeds),
  sources: byId(payload.apiSources),
  timetables: byId(payload.timetableGroups),
});

/** Puts new markup in place of the old and touches only what differs, so that what moves keeps moving. */
const patch = (root: HTMLElement, markup: HTMLElement): void => {
  morphdom(root, markup, {
    childrenOnly: true,
    onBeforeElUpdated(from, to) {
      if (from.isEqualNode(to)) return false;
      if (from instanceof HTMLImageElement && from.getAttribute('src') === to.getAttribute('src'))
        to.style.visibility = from.style.visibility;
      return true;
    },
  });
};

/** HTML with Liquid, rendered with the slide's `content` and, where it tells the time, anew each second. */
export const createTemplate: SlideFactory = (context) => {
  const { slide, payload, timeZone, now, media, fail } = context;
  const view = createView('template');
  const { element } = view;
  const look = lookOf(slide, payload.slides);
  paint(element, look.palette);

  // What a template styles must not leak into the player.
  const shadow = element.attachShadow({ mode: 'open' });
  const style = document.createElement('style');
  style.textContent = baseStyle;
  const main = document.createElement('main');
  main.dir = 'auto';
  shadow.append(style, main);
  hideBrokenPictures(shadow);

  const scope = scopeOf(context, payload);
  const addresses = new Map<string, string>();
  let render: (scope: Scope) => string = () => '';
  let tick: ReturnType<typeof setTimeout> | undefined;
  const gone = new AbortController();

  const localise = async (urls: readonly string[]): Promise<void> => {
    // A medium that can't be had leaves a gap; the rest of the page is still worth showing.
    await Promise.all(urls.map(async (url) => addresses.set(url, await media(url).catch(() => url))));
  };
  const show = (html: string): void => patch(main, cleanHtml(withMedia(html, addresses), 'page'));

  const refresh = (): void => {
    const html = render({ ...scope, now: new Date(now()) });
    const missing = mediaIn(html).filter((url) => !addresses.has(url));
    if (missing.length === 0) show(html);
    else void localise(missing).then(() => gone.signal.aborted || show(html));
  };
  const keepTime = (): void => {
    try {
      refresh();
      tick = setTimeout(keepTime, 1000 - (now() % 1000));
    } catch (error) {
      fail(`the template failed: ${(error as Error).message}`);
    }
  };

  const fits = (t: number): boolean => {
    element.style.setProperty('--fit', String(0.25 + 0.75 * t));
    return !overflows(main);
  };
  const refit = (): void => {
    // A template that sets its own sizes isn't helped by smaller ones.
    if (!fits(largestFit(fits))) fits(1);
  };
  const resized = new ResizeObserver(refit);

  return {
    ...view,
    async prepare(signal) {
      if (slide.template === null) throw new Error(`there is no template ${slide.template_id ?? ''}`);
      render = compile(slide.template.html, { timeZone, locale: navigator.language });
      const html = render({ ...scope, now: new Date(now()) });
      await localise(mediaIn(html));
      signal.throwIfAborted();
      show(html);
      await Promise.all([fontsLoaded(element), picturesDecoded(shadow, withMedia(html, addresses))]);
      signal.throwIfAborted();
      refit();
      resized.observe(element);
    },
    start() {
      view.start();
      if (/\bnow\b/.test(slide.template?.html ?? '')) keepTime();
    },
    destroy() {
      gone.abort();
      clearTimeout(tick);
      resized.disconnect();
      shadow.replaceChildren();
      view.destroy();
    },
  };
};
