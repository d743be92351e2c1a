/** What the pages get: a payload for each screen, made once for each change of the document, or of its live data. */

import type { Screen, Slide } from '../contract/playlist.ts';
import type { Variant } from '../contract/terms.ts';
import type { Feeds } from '../feeds/feeds.ts';
import type { ContentFile, OpeningTime } from './file.ts';
import { type MediaUse, mediaNamed, mediaUses } from './media.ts';
import { type Programme, sourcesOf } from './model.ts';
import { createPayload, type Payload } from './payload.ts';

interface Dependencies {
  /** The live data that payloads carry beside the operator's document. */
  feeds: Pick<Feeds, 'follow' | 'fill' | 'onChange'>;
}

/** What there is to see of the content. */
export interface View {
  screens(): Screen[];
  payload(slug: string): Payload | undefined;
  /** A slide of a screen, without its live data. */
  slide(slug: string, slideId: string): Slide | undefined;
  /** When a screen's display is on; null: always. */
  hours(slug: string): readonly OpeningTime[] | null;
  /** The names of the box's own media that what plays refers to. */
  mediaNames(): ReadonlySet<string>;
  /** Where what plays names one of them first. */
  mediaUse(name: string): MediaUse | undefined;
  /** Whether what plays has a web slide with this address. */
  namesPage(url: string): boolean;
  /** The addresses of the streams that play; another set where they change. */
  streams(): ReadonlySet<string>;
  /** Calls back with the slugs whose payload is new, changed or gone. */
  onChange(listener: (slugs: string[]) => void): void;
}

interface Shown {
  view: View;
  /**
   * Shows these programmes, by slug, and tells of it; answers whether anything else is shown than before.
   * @param content that they were made from; null: that is not known any more
   */
  show(programmes: ReadonlyMap<string, Programme>, content: ContentFile | null): boolean;
}

const streamsOf = (programmes: ReadonlyMap<string, Programme>): ReadonlySet<string> => {
  const slides = [...programmes.values()].flatMap(({ slides }) => slides);
  return new Set(slides.flatMap(({ kind, media_url }) => (kind === 'stream' && media_url !== null ? [media_url] : [])));
};

export const createShown = ({ feeds }: Dependencies, { variant }: { variant: Variant }): Shown => {
  const listeners: ((slugs: string[]) => void)[] = [];
  let programmes: ReadonlyMap<string, Programme> = new Map();
  let payloads: ReadonlyMap<string, Payload> = new Map();
  let file: ContentFile | null = null;
  let streams: ReadonlySet<string> = new Set();

  const publish = (): boolean => {
    const before = payloads;
    payloads = new Map(
      [...programmes].map(([slug, programme]) => [
        slug,
        createPayload({ ...programme, ...feeds.fill(programme) }, variant),
      ]),
    );
    const changed = [...new Set([...before.keys(), ...payloads.keys()])].filter(
      (slug) => before.get(slug)?.revision !== payloads.get(slug)?.revision,
    );
    if (changed.length > 0) for (const listener of listeners) listener(changed);
    return changed.length > 0;
  };
  feeds.onChange(publish);

  return {
    show: (next, content) => {
      programmes = next;
      file = content;
      streams = streamsOf(next);
      // The baseline variant has no fields for live data.
      if (content !== null) feeds.follow(variant === 'extended' ? sourcesOf(content) : []);
      return publish();
    },
    view: {
      screens: () => [...payloads.values()].map(({ screen }) => screen),
      payload: (slug) => payloads.get(slug),
      slide: (slug, slideId) => programmes.get(slug)?.slides.find(({ id }) => id === slideId),
      hours: (slug) => file?.screens.find((screen) => screen.slug === slug)?.hours ?? null,
      mediaNames: () => (file === null ? new Set() : mediaNamed(file)),
      mediaUse: (name) => (file === null ? undefined : mediaUses(file).get(name)),
      namesPage: (url) =>
        file?.playlists.some(({ slides }) =>
          slides.some(({ kind, media_url }) => kind === 'web' && media_url === url),
        ) === true,
      streams: () => streams,
      onChange: (listener) => {
        listeners.push(listener);
      },
    },
  };
};
