/** The house style as the page has it: custom properties, fonts and the logo, which the style sheets use. */
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import type { HouseStyle } from '../../service/contract/style.ts';
import { type Palette, paletteOf } from '../../service/domain/house-style.ts';
import type { MediaCache } from './media-cache.ts';

export interface HouseStylePage {
  /** The address that the logo has been loaded from; empty: none shows. */
  readonly logo: string;
  load(payload: Pick<PlaylistPayload, 'style'> | null): void;
  /** Loads what was not available before, and what has been replaced under its name, which browsers do not ask for again. */
  onMedia(): void;
}

const families = { display: 'House Display', text: 'House Text' } as const;
type Use = keyof typeof families;
const uses = Object.keys(families) as Use[];

/** Until the font is there the text is invisible, for up to three seconds: a text that changes its letters is worse. */
const faceOf = (use: Use, url: string): string => {
  const weights = 'font-weight: 1 1000';
  return `@font-face { font-family: "${families[use]}"; src: url("${url}"); font-display: block; ${weights} }`;
};

const addressOf = (path: string, attempt: number): string =>
  `${path.replaceAll(/["\\\n]/g, encodeURIComponent)}${attempt === 0 ? '' : `?again=${attempt}`}`;

const TAG_MS = 10_000;

/** Entity tag of a file of the service; null: it is not there, or the service does not answer. */
const tagOf = (path: string): Promise<string | null> =>
  fetch(path, { method: 'HEAD', cache: 'no-cache', signal: AbortSignal.timeout(TAG_MS) }).then(
    ({ headers }) => headers.get('ETag'),
    () => null,
  );

/** Of a logo. */
const MOST_PIXELS = 25e6;

export const createHouseStyle = (root: HTMLElement, { resolve }: Pick<MediaCache, 'resolve'>): HouseStylePage => {
  const sheet = document.createElement('style');
  document.head.append(sheet);
  let style: HouseStyle | undefined;
  let known = '';
  let attempt = 0;
  /** Entity tags of the fonts as they were loaded. */
  let fontTags: Promise<(string | null)[]> = Promise.resolve([]);
  let logo = '';

  const set = (name: string, value: string | null): void => {
    if (value === null) root.style.removeProperty(name);
    else root.style.setProperty(name, value);
  };

  const paint = (palette: Palette | null): void => {
    for (const part of ['ground', 'ink', 'form', 'accent'] as const) set(`--house-${part}`, palette?.[part] ?? null);
    root.toggleAttribute('data-colours', palette !== null);
  };

  const readTags = (): Promise<(string | null)[]> =>
    Promise.all(uses.flatMap((use) => style?.fonts?.[use] ?? []).map(tagOf));

  const preload = (): void => {
    for (const link of document.head.querySelectorAll('link[data-house]')) link.remove();
    const fonts = uses.flatMap((use) => {
      const path = style?.fonts?.[use];
      return path === undefined ? [] : [{ use, url: addressOf(path, attempt) }];
    });
    sheet.textContent = fonts.map(({ use, url }) => faceOf(use, url)).join('\n');
    for (const use of uses) {
      set(`--house-${use}`, fonts.some((font) => font.use === use) ? `"${families[use]}"` : null);
    }
    for (const { use, url } of fonts) {
      const link = Object.assign(document.createElement('link'), { rel: 'preload', as: 'font', href: url });
      link.crossOrigin = 'anonymous';
      link.dataset['house'] = use;
      document.head.append(link);
      // A font loads when it is used; the first slide that uses it must not wait.
      document.fonts.load(`1em "${families[use]}"`).catch(() => {});
    }
  };

  /** Decoded before it is set, so that it does not appear after the slide. */
  const loadLogo = async (url: string): Promise<void> => {
    const address = await resolve(url);
    if (address === logo) return;
    const picture = new Image();
    await new Promise((loaded, failed) => Object.assign(picture, { onload: loaded, onerror: failed, src: address }));
    // Decoded, it takes more memory than a small box has; a smaller one is made of it.
    const isDrawn = /\.svg$/i.test(new URL(address, location.href).pathname);
    if (!isDrawn && picture.naturalWidth * picture.naturalHeight > MOST_PIXELS)
      throw new Error('the logo is too large');
    await picture.decode();
    if (style?.logo_url !== url) return;
    logo = address;
    set('--house-logo', `url("${address.replaceAll(/["\\\n]/g, encodeURIComponent)}")`);
    root.toggleAttribute('data-logo', true);
  };

  const refreshLogo = (): void => {
    const url = style?.logo_url;
    if (url !== undefined) return void loadLogo(url).catch(() => {});
    logo = '';
    set('--house-logo', null);
    root.toggleAttribute('data-logo', false);
  };

  const hasFailed = (): boolean =>
    [...document.fonts].some(({ family, status }) => /^"?House /.test(family) && status === 'error');

  const refreshFonts = async (): Promise<void> => {
    const of = style;
    const [before, now] = await Promise.all([fontTags, readTags()]);
    if (style !== of) return;
    // One that is not answered for stays: text in another font is worse than text in an older one.
    const tags = now.map((tag, index) => tag ?? before[index] ?? null);
    fontTags = Promise.resolve(tags);
    if (tags.every((tag, index) => tag === before[index]) && !hasFailed()) return;
    attempt += 1;
    preload();
  };

  return {
    get logo() {
      return logo;
    },
    load: (payload) => {
      // A page whose screen was removed keeps the look of the house.
      if (payload === null || JSON.stringify(payload.style ?? null) === known) return;
      known = JSON.stringify(payload.style ?? null);
      style = payload.style;
      paint(paletteOf(style));
      set('--house-corner', style?.corner === undefined ? null : `min(${style.corner}px, 6cqmin)`);
      // Asked for first: of a font that is replaced meanwhile this is the older tag.
      fontTags = readTags();
      preload();
      refreshLogo();
    },
    onMedia: () => {
      void refreshFonts();
      refreshLogo();
    },
  };
};
