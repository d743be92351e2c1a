import morphdom from 'morphdom';
import { designPrefix } from '../../../service/contract/design-prefix.ts';
import type { PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import { richness, templateLimit } from '../../../service/domain/markup-limits.ts';
import { dependsOnTime, type PlayerName, textsIn } from '../../../service/domain/template.ts';
import { localeOf } from '../../shared/language.ts';
import { directionOf } from '../direction.ts';
import { fontsLoaded, largestFit, overflows, watchFit } from './fit.ts';
import { compile, loadExtras, type Scope } from './liquid.ts';
import {
  cleanHtml,
  createAddresses,
  hideBrokenPictures,
  picturesDecoded,
  requireModest,
  richnessOf,
} from './markup.ts';
import { lookOf, paint } from './palette.ts';
import { visibleEntries, visibleEvents } from './private-events.ts';
import { createReach } from './reach.ts';
import { createView, type SlideContext, type SlideFactory } from './slide.ts';
import baseStyle from './template.css?inline';

/** Payloads of the baseline variant lack these records. */
const byId = <T extends { id: string }>(records: readonly T[] = []): Record<string, T> =>
  Object.fromEntries(records.map((record) => [record.id, record]));

/** The scope of a template: the values of the slide's content, overridden by the player's names. */
const scopeOf = ({ slide, screen }: SlideContext, payload: PlaylistPayload): Scope => {
  const own: Record<Exclude<PlayerName, 'now'>, unknown> = {
    content: slide.content ?? {},
    slide,
    screen,
    feeds: byId(payload.rssFeeds),
    sources: byId(payload.apiSources),
    timetables: byId(payload.timetableGroups?.map((group) => ({ ...group, entries: visibleEntries(group) }))),
    calendars: byId(payload.calendars?.map((each) => ({ ...each, events: visibleEvents(each.events, slide) }))),
  };
  return { ...slide.content, ...own };
};

/** Right to left, if the first word that people read is: dates and numbers of a design come before it. */
const directionFor = ({ template, content }: Slide): 'auto' | 'ltr' | 'rtl' => {
  if (template?.id.startsWith(designPrefix) !== true) return 'auto';
  const words = textsIn(content).filter((text) => !/^(?:\/|https?:|\d)/.test(text));
  return directionOf(words.join(' '));
};

/** Replaces the markup, changing only what differs, so that animations continue. */
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

/** HTML with Liquid, rendered with the slide's `content`; every second if it shows the time. */
export const createTemplate: SlideFactory = (context) => {
  const { slide, payload, screen, timeZone, now, media, fail } = context;
  const view = createView('template');
  const { element } = view;
  const look = lookOf(slide, payload.slides, payload.style);
  paint(element, look.palette);

  // Styles of a template must not affect the player.
  const shadow = element.attachShadow({ mode: 'open' });
  const style = document.createElement('style');
  style.textContent = baseStyle;
  const main = document.createElement('main');
  main.dir = directionFor(slide);
  // The age of its data is outside of its styles.
  shadow.append(style, main, document.createElement('slot'));
  hideBrokenPictures(shadow);

  const scope = scopeOf(context, payload);
  const reach = createReach([slide, screen, payload.timetableGroups], location.href);
  const addresses = createAddresses((url) => media(url, { isThirdParty: !reach.mayLoad(url) }));
  let render: (scope: Scope) => string = () => '';
  let tick: ReturnType<typeof setTimeout> | undefined;
  let shown = '';
  /** What it says, without numbers: by these alone a clock would change its size. */
  let fitted = '';
  const wordsShown = (): string => main.textContent.replace(/\p{Nd}+/gu, '');
  const gone = new AbortController();

  const draw = (): string => {
    const html = render({ ...scope, now: new Date(now()) });
    requireModest(richness(html), templateLimit);
    return html;
  };
  /** Shows the markup; returns the addresses that its styles load, none where it is shown already. */
  const show = (html: string): string[] => {
    const markup = addresses.apply(html);
    if (markup === shown) return [];
    const clean = cleanHtml(markup, 'page');
    requireModest(richnessOf(clean), templateLimit);
    const loaded = reach.confine(clean);
    patch(main, clean);
    shown = markup;
    return loaded;
  };

  const keepTime = async (): Promise<void> => {
    try {
      const html = draw();
      if (!addresses.know(html)) await addresses.learn(html);
      if (gone.signal.aborted) return;
      show(html);
      if (wordsShown() !== fitted) refit();
      tick = setTimeout(() => void keepTime(), 1000 - (now() % 1000));
    } catch (error) {
      fail((error as Error).message);
    }
  };

  const fits = (t: number): boolean => {
    element.style.setProperty('--fit', String(0.15 + 0.85 * t));
    return !overflows(main);
  };
  const refit = (): void => {
    fitted = wordsShown();
    // A template with fixed sizes does not become smaller.
    if (!fits(largestFit(fits))) fits(1);
  };
  const fitWatch = watchFit(element, refit);

  return {
    ...view,
    async prepare(signal) {
      if (slide.template === null) throw new Error(`there is no template ${slide.template_id ?? ''}`);
      const extras = await loadExtras(slide.template.html);
      signal.throwIfAborted();
      render = compile(slide.template.html, { timeZone, locale: localeOf(navigator) }, extras);
      const html = draw();
      await addresses.learn(html);
      signal.throwIfAborted();
      const loaded = show(html);
      await Promise.all([fontsLoaded(element), picturesDecoded(shadow, loaded)]);
      signal.throwIfAborted();
      refit();
      fitWatch.start();
    },
    start() {
      view.start();
      // Continues during a pause: a stopped clock would be wrong.
      if (dependsOnTime(slide.template?.html ?? '')) void keepTime();
    },
    destroy() {
      gone.abort();
      clearTimeout(tick);
      fitWatch.stop();
      shadow.replaceChildren();
      view.destroy();
    },
  };
};
