/** How external pages look: their size, a style sheet, and how fast they move, as their slides say. */
import type { WebContents } from 'electron';
import { originOf } from '../../service/domain/page-address.ts';
import type { PageLook } from '../../service/public.ts';

/** How long a page rests at its ends, in ms. */
const REST_MS = 3_000;

const zoomCss = (zoom: number): string => `body { zoom: ${zoom} !important; }`;

/** Scrolls a page, and starts again from the other end. @param speed pixels a second; negative: upwards */
const scrollScript = (speed: number): string => `{
  const speed = ${speed}, rest = ${REST_MS};
  const root = document.scrollingElement ?? document.documentElement;
  const reach = () => root.scrollHeight - innerHeight;
  let at = speed > 0 ? 0 : reach();
  let before = performance.now();
  let restsUntil = before + rest;
  const step = (now) => {
    if (now >= restsUntil) {
      const end = speed > 0 ? at >= reach() : at <= 0;
      at = end ? (speed > 0 ? 0 : reach()) : at + speed * Math.min(100, now - before) / 1000;
      const isDone = speed > 0 ? at >= reach() : at <= 0;
      if (end || isDone) restsUntil = now + rest;
      scrollTo({ top: at, behavior: 'instant' });
    }
    before = now;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}`;

/** Dresses each page of the address's origin that the web contents load. */
export const dressPage = (contents: WebContents, address: string, { zoom = 1, scroll = 0, css }: PageLook): void => {
  const styles = [...(zoom === 1 ? [] : [zoomCss(zoom)]), ...(css === undefined ? [] : [css])];
  if (styles.length === 0 && scroll === 0) return;
  contents.on('dom-ready', () => {
    if (originOf(contents.getURL()) !== originOf(address)) return;
    // Each fails if the page was closed in the meantime.
    for (const style of styles) contents.insertCSS(style).catch(() => {});
    if (scroll !== 0) contents.mainFrame.executeJavaScript(scrollScript(scroll)).catch(() => {});
  });
};
