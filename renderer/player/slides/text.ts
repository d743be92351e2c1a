import type { Slide } from '../../../service/contract/playlist.ts';
import { richness, textLimit } from '../../../service/domain/markup-limits.ts';
import { fontsLoaded, largestFit, overflows, watchFit } from './fit.ts';
import { hyphenate } from './hyphenation.ts';
import {
  cleanHtml,
  createAddresses,
  hideBrokenPictures,
  isHtml,
  picturesDecoded,
  requireModest,
  richnessOf,
} from './markup.ts';
import { colour, type Look, lookOf, paint } from './palette.ts';
import { createView, type SlideFactory } from './slide.ts';

/** Type sizes at t = 1 and t = 0, in hundredths of the screen's smaller side, interpolated by ratio. */
interface Scale {
  title: readonly [largest: number, smallest: number];
  body: readonly [largest: number, smallest: number];
}

/** A body without a title is set as large as a title up to this many characters. */
const STATEMENT_LENGTH = 160;
/** Except a body with paragraphs or lists. */
const PARTS = 'ul, ol, dl, table, img, h1, h2, h3, h4, h5, h6';
/** A longer body is set over a fainter background shape. */
const LONG_FROM = 480;
/** Columns are used if they make the letters larger by this factor. */
const WORTH_COLUMNS = 1.12;

const scaleOf = (title: number, body: number, isStatement: boolean): Scale => {
  // Shorter texts may become larger.
  const largestTitle = body === 0 ? 27 : Math.max(22, 34 - title);
  const largestBody = Math.max(6.4, 10 - body / 10);
  return isStatement ? { title: [1, 1], body: [21, 1.2] } : { title: [largestTitle, 1.5], body: [largestBody, 1] };
};

/** From this ratio of width to height on, the screen is a band: the body stands beside the title, and both may be larger. */
const BAND_FROM = 4;
const BAND_GROWTH = 1.8;

/** Below this t words longer than a line are broken; words with soft hyphens are broken earlier. */
const SMALL_ENOUGH = 0.3;
const SMALL_ENOUGH_TO_HYPHENATE = 0.65;

const between = ([largest, smallest]: readonly [number, number], t: number): number =>
  largest * (smallest / largest) ** (1 - t);

const block = (tag: 'h1' | 'div', name: string): HTMLElement => {
  const element = document.createElement(tag);
  element.className = name;
  element.dir = 'auto';
  return element;
};

/**
 * Styles the slide: by one of the player's looks, or by `background` and `color` of its content (CSS
 * colours) and `align` (`center`).
 */
const dress = (element: HTMLElement, { palette, form }: Look, content: Slide['content']): void => {
  const ground = colour(content?.['background']);
  const ink = colour(content?.['color']);
  element.dataset['form'] = form;
  if (ground === null) paint(element, palette);
  else element.style.setProperty('--own-ground', ground);
  element.classList.toggle('own-ground', ground !== null);
  if (ink !== null) element.style.setProperty('--own-ink', ink);
  element.classList.toggle('centred', content?.['align'] === 'center');
};

/** Title, body or both, as large as they fit. */
export const createText: SlideFactory = ({ slide, payload, media }) => {
  const view = createView('text');
  const { element } = view;
  dress(element, lookOf(slide, payload.slides, payload.style), slide.content);

  const form = document.createElement('div');
  form.className = 'form';
  const copy = document.createElement('div');
  copy.className = 'copy';
  element.append(form, copy);

  const title = block('h1', 'title');
  const body = block('div', 'body');
  let scale: Scale = { title: [1, 1], body: [1, 1] };
  let isStatement = false;
  let smallEnough = SMALL_ENOUGH;
  let growth = 1;
  const sizeOf = ([largest, smallest]: Scale['title'], t: number): number => between([largest * growth, smallest], t);

  const write = async (): Promise<void> => {
    const text = slide.body?.trim() ?? '';
    requireModest(richness(`${slide.title ?? ''}${text}`), textLimit);
    const addresses = createAddresses(media);
    title.textContent = slide.title?.trim() ?? '';
    element.classList.toggle('marked', isHtml(text));
    if (isHtml(text)) {
      await addresses.learn(text);
      const clean = cleanHtml(addresses.apply(text), 'prose');
      requireModest(richnessOf(clean), textLimit);
      body.append(...clean.childNodes);
      hideBrokenPictures(body);
    } else body.textContent = text;

    copy.append(...[title, body].filter((part) => part.hasChildNodes()));
    const { length } = body.textContent;
    isStatement = title.textContent === '' && length <= STATEMENT_LENGTH && body.querySelector(PARTS) === null;
    scale = scaleOf(title.textContent.length, length, isStatement);
    element.classList.toggle('statement', isStatement);
    element.classList.toggle('long', length > LONG_FROM);
    if (await hyphenate(copy)) smallEnough = SMALL_ENOUGH_TO_HYPHENATE;
  };

  const holds = (titleSize: number, bodySize: number): boolean => {
    copy.style.setProperty('--title', String(titleSize));
    copy.style.setProperty('--body', String(bodySize));
    return !overflows(copy);
  };
  const fits = (t: number): boolean => holds(sizeOf(scale.title, t), sizeOf(scale.body, t));
  /** The largest t that fits, approximately. Words are broken only if the longest would make all of them small. */
  const estimate = (): { t: number; isBroken: boolean } => {
    copy.classList.remove('broken');
    const t = largestFit(fits, true);
    const isBroken = t < smallEnough;
    copy.classList.toggle('broken', isBroken);
    return { t: isBroken ? largestFit(fits, true) : t, isBroken };
  };
  const refit = (): void => {
    // The columns of a long text need the whole width.
    const isBand = element.clientWidth >= BAND_FROM * element.clientHeight && !element.classList.contains('long');
    growth = isBand ? BAND_GROWTH : 1;
    element.classList.toggle('band', isBand);
    element.classList.remove('columns');
    const whole = estimate();
    if (whole.t < 1 && !isStatement) {
      element.classList.add('columns');
      const columns = estimate();
      const isWorth = sizeOf(scale.body, columns.t) >= sizeOf(scale.body, whole.t) * WORTH_COLUMNS;
      element.classList.toggle('columns', isWorth);
      if (!isWorth) copy.classList.toggle('broken', whole.isBroken);
    }
    const t = largestFit(fits);
    // If the title limited the size, the body may grow alone.
    const titleSize = sizeOf(scale.title, t);
    const bodySize = (more: number): number =>
      Math.max(sizeOf(scale.body, t), Math.min(titleSize * 0.6, sizeOf(scale.body, t + (1 - t) * more)));
    const more = largestFit((grown) => holds(titleSize, bodySize(grown)));
    holds(titleSize, bodySize(more));
  };
  const fitWatch = watchFit(element, refit);

  return {
    ...view,
    async prepare(signal) {
      await write();
      if (!copy.hasChildNodes()) throw new Error('the slide has neither title nor body');
      signal.throwIfAborted();
      await Promise.all([fontsLoaded(element), picturesDecoded(element)]);
      signal.throwIfAborted();
      refit();
      fitWatch.start();
    },
    destroy() {
      fitWatch.stop();
      view.destroy();
    },
  };
};
