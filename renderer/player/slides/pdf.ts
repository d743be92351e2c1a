import { paletteOf } from '../../../service/domain/house-style.ts';
import type { PagedDocument } from './document.ts';
import { frame, framing, paperOf } from './frame.ts';
import { createPages, spread, withPages } from './pages.ts';
import { colour } from './palette.ts';
import { createView, mediaUrl, type SlideFactory } from './slide.ts';

/** How long a page is on if the slide has no duration, and the shortest time for a page. */
const PAGE_TIME = { usualMs: 10_000, leastMs: 1_000 };

/**
 * A PDF document, page by page. The whole page is shown on the colour of its edge or on `content.background`, unless
 * `content.fit` is `cover`. The slide's duration is divided among the pages; without one each is on for 10 s. Only the
 * current page and its neighbours are kept as pictures.
 */
export const createPdf: SlideFactory = ({ slide, payload, media, fail }) => {
  const view = createView('pdf');
  const { element } = view;
  const how = framing({ fit: 'contain', ...slide.content });
  const life = new AbortController();
  const painted = new Map<number, Promise<HTMLCanvasElement>>();
  let pdf: PagedDocument | null = null;
  let current = 0;
  let size = '';
  let length: number | null = null;

  const drop = (index: number): void => {
    void painted.get(index)?.then(
      (canvas) => {
        canvas.remove();
        // Frees its memory immediately instead of at the next garbage collection.
        canvas.width = 0;
      },
      () => {},
    );
    painted.delete(index);
  };

  const paint = (index: number): Promise<HTMLCanvasElement> => {
    if (pdf === null) return Promise.reject(new Error('it is not open'));
    const width = element.clientWidth * devicePixelRatio;
    const height = element.clientHeight * devicePixelRatio;
    if (size !== `${width} ${height}`) {
      // The one on the screen stays until its successor is there.
      for (const held of [...painted.keys()]) if (held !== current) drop(held);
      painted.clear();
    }
    size = `${width} ${height}`;
    const picture = painted.get(index) ?? pdf.paint(index, { width, height, fit: how.fit });
    painted.set(index, picture);
    return picture;
  };

  /** Shows a page once it is painted, if it is still the wanted one; the previous page stays until then. */
  const put = async (index: number): Promise<void> => {
    current = index;
    const canvas = await paint(index);
    if (current !== index || life.signal.aborted) return;
    canvas.className = 'picture';
    frame(canvas, how);
    element.style.background =
      colour(slide.content?.['background']) ?? paletteOf(payload.style)?.ground ?? paperOf(canvas);
    const before = element.querySelector('.picture');
    if (before === null) element.append(canvas);
    else before.replaceWith(canvas);
    for (const held of [...painted.keys()]) if (Math.abs(held - index) > 1) drop(held);
  };

  /** Paints the pages that can be shown next. */
  const lookAhead = async (): Promise<void> => {
    for (const near of [current + 1, current - 1]) {
      if (near >= 0 && near < (pdf?.count ?? 0)) await paint(near);
    }
  };

  const pages = createPages((index) => {
    put(index)
      .then(lookAhead)
      .catch((error: Error) => {
        if (!life.signal.aborted) fail(`a page cannot be painted: ${error.message}`);
      });
  });
  const paged = withPages(view, pages);
  const resized = new ResizeObserver(() => void put(current).catch(() => {}));

  return {
    ...paged,
    get length() {
      return length;
    },
    async prepare(signal) {
      signal.addEventListener('abort', () => life.abort(signal.reason), { once: true });
      const url = mediaUrl(slide);
      const address = await media(url);
      const { openDocument } = await import('./document.ts');
      signal.throwIfAborted();
      pdf = await openDocument(address, life.signal).catch((error: Error) => {
        throw signal.aborted ? error : new Error(`${url} ${error.message}`);
      });
      signal.throwIfAborted();
      const share = spread(slide, pdf.count, PAGE_TIME);
      length = share.length;
      await paint(0).catch((error: Error) => {
        throw signal.aborted ? error : new Error(`${url} cannot be painted: ${error.message}`);
      });
      pages.open(share.count, share.pageMs);
      await put(0);
      signal.throwIfAborted();
      void lookAhead().catch(() => {});
      resized.observe(element);
    },
    destroy() {
      life.abort(new Error('the slide is gone'));
      resized.disconnect();
      for (const index of [...painted.keys()]) drop(index);
      paged.destroy();
    },
  };
};
