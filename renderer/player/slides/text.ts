import type { Slide } from '../../../service/wire.ts';
import { fontsLoaded, largestFit, overflows } from './fit.ts';
import { cleanHtml, hideBrokenPictures, isHtml, picturesDecoded } from './markup.ts';
import { lookOf, paint } from './palette.ts';
import type { SlideFactory } from './slide.ts';
import { createView } from './view.ts';

/** Type sizes at t = 1 and t = 0, in hundredths of the screen's smaller side. Between them they go by ratio. */
interface Scale {
  title: readonly [largest: number, smallest: number];
  body: readonly [largest: number, smallest: number];
}

/** A body of up to this many characters that stands alone is set as large as a title. */
const statementLength = 160;
/** A body of more than this may run in two columns, over a fainter form. */
const longFrom = 480;

const scaleOf = (title: string, body: string, isStatement: boolean): Scale => {
  // The fewer the words, the larger they may grow.
  const largest = body === '' ? 24 : Math.max(19, 32 - title.length);
  return isStatement ? { title: [1, 1], body: [18, 1.2] } : { title: [largest, 1.5], body: [6, 1] };
};

/** Below this t a word that is longer than a line is broken. */
const smallEnough = 0.3;

const between = ([largest, smallest]: readonly [number, number], t: number): number =>
  largest * (smallest / largest) ** (1 - t);

const block = (tag: 'h1' | 'div', name: string): HTMLElement => {
  const element = document.createElement(tag);
  element.className = name;
  element.dir = 'auto';
  return element;
};

const bodyBlock = (body: string): HTMLElement => {
  const element = block('div', 'body');
  if (isHtml(body)) element.append(...cleanHtml(body, 'prose').childNodes);
  else element.textContent = body;
  element.classList.toggle('plain', !isHtml(body));
  hideBrokenPictures(element);
  return element;
};

const colour = (value: unknown): string | null =>
  typeof value === 'string' && CSS.supports('color', value) ? value : null;

/** The look of the slide's own: `content.background` and `content.color` (CSS colours), `content.align` (`center`). */
const dress = (element: HTMLElement, content: Slide['content']): void => {
  const ground = colour(content?.['background']);
  const ink = colour(content?.['color']);
  element.classList.toggle('own-ground', ground !== null);
  if (ground !== null) element.style.setProperty('--ground', ground);
  if (ink !== null) element.style.setProperty('--own-ink', ink);
  if (content?.['align'] === 'center') element.classList.add('centred');
};

/** Title, body or both, as large as they go. */
export const createText: SlideFactory = ({ slide, payload }) => {
  const view = createView('text');
  const { element } = view;
  const look = lookOf(slide, payload.slides);
  paint(element, look.palette);
  element.dataset['form'] = look.form;
  dress(element, slide.content);

  const form = document.createElement('div');
  form.className = 'form';
  const copy = document.createElement('div');
  copy.className = 'copy';
  const title = block('h1', 'title');
  title.textContent = slide.title?.trim() ?? '';
  const body = bodyBlock(slide.body?.trim() ?? '');
  const parts = [title, body].filter((part) => part.hasChildNodes());
  copy.append(...parts);
  element.append(form, copy);

  const bodyText = body.textContent;
  const isStatement = title.textContent === '' && bodyText.length <= statementLength;
  const scale = scaleOf(title.textContent, bodyText, isStatement);
  element.classList.toggle('statement', isStatement);
  element.classList.toggle('long', bodyText.length > longFrom);

  const fits = (t: number): boolean => {
    copy.style.setProperty('--title-size', `${between(scale.title, t)}cqmin`);
    copy.style.setProperty('--body-size', `${between(scale.body, t)}cqmin`);
    return !overflows(copy);
  };
  const refit = (): void => {
    copy.classList.remove('broken');
    const t = largestFit(fits);
    // Words are kept whole unless the longest would make all of them small.
    copy.classList.toggle('broken', t < smallEnough);
    fits(t < smallEnough ? largestFit(fits) : t);
  };
  const resized = new ResizeObserver(refit);

  return {
    ...view,
    async prepare(signal) {
      if (parts.length === 0) throw new Error('the slide has neither title nor body');
      await Promise.all([fontsLoaded(element), picturesDecoded(element)]);
      signal.throwIfAborted();
      refit();
      resized.observe(element);
    },
    destroy() {
      resized.disconnect();
      view.destroy();
    },
  };
};
