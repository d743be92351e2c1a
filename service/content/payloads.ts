/** The payload of each screen, serialized once per change of the document or of its live data: a GET only writes bytes. */

import type { ContentFile, OpeningTime } from '../contract/content.ts';
import { playlistPayload, type Screen, type Slide, syncHeader } from '../contract/playlist.ts';
import { extendedFields, type Variant } from '../contract/terms.ts';
import { createEmitter } from '../domain/emitter.ts';
import { mediaNameIn, withoutCredentials } from '../domain/media-names.ts';
import type { Feeds } from '../feeds/index.ts';
import { type PreparedAnswer, prepareAnswer } from '../http/prepared.ts';
import type { ServiceContext } from '../module.ts';
import { type MediaUse, mediaNamed, mediaSlides, mediaUses } from './media.ts';
import { revisionOf, type ScreenDocument, sourcesOf, textOf } from './model.ts';

/** A slide's stream, with the user and password of its address. */
export interface StreamOfSlide {
  slideId: string;
  address: string;
}

/** Slides without the user and password of their media. The same list gives the same result. */
const publicSlides = new WeakMap<readonly Slide[], Slide[]>();
const publicOf = (slides: Slide[]): Slide[] => {
  const known = publicSlides.get(slides);
  if (known !== undefined) return known;
  const hidden = slides.map((slide) => {
    const media_url = slide.media_url && withoutCredentials(slide.media_url);
    const fallback = slide.content?.['fallback_media_url'];
    const fallback_media_url = typeof fallback === 'string' ? withoutCredentials(fallback) : fallback;
    if (media_url === slide.media_url && fallback_media_url === fallback) return slide;
    const content = fallback === undefined ? slide.content : { ...slide.content, fallback_media_url };
    return { ...slide, media_url, content };
  });
  const same = hidden.every((slide, index) => slide === slides[index]);
  const result = same ? slides : hidden;
  publicSlides.set(slides, result);
  return result;
};

/** One screen's answer to `GET /api/screens/{slug}/playlist`. */
export interface Payload extends PreparedAnswer {
  screen: Screen;
  /** In quotes it is the entity tag. */
  revision: string;
}

export const createPayload = ({ sync, ...document }: ScreenDocument, variant: Variant): Payload => {
  // With `sync`, which is a header: a page must fetch the playlist where nothing else has changed.
  const revision = revisionOf({ ...document, sync });
  const bodyOf = (): Buffer => {
    if (variant === 'extended') return Buffer.from(textOf({ ...document, revision }));
    const payload: Record<string, unknown> = { ...document };
    for (const field of extendedFields(playlistPayload)) delete payload[field];
    return Buffer.from(JSON.stringify(payload));
  };
  const headers = ['Cache-Control', 'no-cache', ...(sync === true ? [syncHeader, '1'] : [])];
  return Object.assign(prepareAnswer(`"${revision}"`, bodyOf, headers), { screen: document.screen, revision });
};

/** Slides that come before those of the content. */
export interface LeadingSlides {
  /** Those of a screen. */
  slides(screen: { slug: string; tags: readonly string[] }): Slide[];
  onChange(listener: () => void): void;
}

/** The parts of a payload that name what a page loads. */
export type Shown = Pick<ScreenDocument, 'slides' | 'rssFeeds' | 'apiSources'>;

/** Read access to the content. */
export interface View {
  screens(): Screen[];
  payload(slug: string): Payload | undefined;
  /** The slides of a screen, without their live data. */
  slides(slug: string): readonly Slide[];
  /** A slide of a screen, without its live data. */
  slide(slug: string, slideId: string): Slide | undefined;
  /** What screens show, live data included; those that show the same are one entry. */
  shown(): readonly Shown[];
  /** When a screen's display is on, in local time of the site; null: always. */
  hours(slug: string): readonly OpeningTime[] | null;
  /** Names of the files under `/media/` that the playing content refers to. */
  mediaNames(): ReadonlySet<string>;
  /** The first place in the playing content that names each file of {@link mediaNames}. */
  mediaUses(): ReadonlyMap<string, MediaUse>;
  /** The ids of the slides that use each file of {@link mediaNames}. */
  mediaSlides(): ReadonlyMap<string, ReadonlySet<string>>;
  /** Tags of a screen; none for an unknown one. */
  tags(slug: string): readonly string[];
  /** Whether the playing content has a web slide with this URL. */
  namesPage(url: string): boolean;
  /** URLs of the stream slides; a new set object after each change. */
  streams(): readonly StreamOfSlide[];
  /** Calls `listener` with the slugs whose payload was added, changed or removed. */
  onChange(listener: (slugs: string[]) => void): void;
}

interface Payloads {
  view: View;
  /**
   * Builds the payloads of these documents, by slug, and notifies the listeners.
   * @param content the file that the documents were built from; null: not available
   * @returns whether any payload changed
   */
  show(screenDocuments: ReadonlyMap<string, ScreenDocument>, content: ContentFile | null): boolean;
}

const streamsOf = (screenDocuments: ReadonlyMap<string, ScreenDocument>): readonly StreamOfSlide[] => {
  const playlists = new Set([...screenDocuments.values()].map(({ slides }) => slides));
  const slides = [...playlists].flat();
  return slides.flatMap(({ id, kind, media_url }) =>
    kind === 'stream' && media_url !== null ? [{ slideId: id, address: media_url }] : [],
  );
};

export const createPayloads = (
  { options: { variant } }: Pick<ServiceContext, 'options'>,
  { feeds, leading }: { feeds: Pick<Feeds, 'follow' | 'fill' | 'onChange'>; leading: LeadingSlides },
): Payloads => {
  const changes = createEmitter<[string[]]>();
  let screenDocuments: ReadonlyMap<string, ScreenDocument> = new Map();
  let payloads: ReadonlyMap<string, Payload> = new Map();
  let shown: readonly Shown[] = [];
  let file: ContentFile | null = null;
  /** Those of the file, by slug. */
  let screens: ReadonlyMap<string, ContentFile['screens'][number]> = new Map();
  /** By slug; those before the slides of the content included. */
  let slides: ReadonlyMap<string, Slide[]> = new Map();
  /** Names of the files under `/media/` that leading slides show. */
  let leadingMedia: readonly string[] = [];
  let streams: readonly StreamOfSlide[] = [];

  const tags = (slug: string): readonly string[] => screens.get(slug)?.tags ?? [];
  const publish = (): boolean => {
    const before = payloads;
    const led = new Map([...screenDocuments.keys()].map((slug) => [slug, leading.slides({ slug, tags: tags(slug) })]));
    leadingMedia = [...led.values()].flat().flatMap(({ media_url }) => mediaNameIn(media_url ?? '') ?? []);
    // Screens that show the same share the arrays, which are then serialized once.
    slides = new Map(
      [...screenDocuments].map(([slug, document]) => {
        const [first, ...others] = led.get(slug) ?? [];
        return [slug, first === undefined ? document.slides : [first, ...others, ...document.slides]];
      }),
    );
    const filled = new Map<unknown, ReturnType<typeof feeds.fill>>();
    const fill = (document: ScreenDocument) => {
      const live = filled.get(document.rssFeeds) ?? feeds.fill(document);
      filled.set(document.rssFeeds, live);
      return live;
    };
    const full = [...screenDocuments].map(([slug, document]): [string, ScreenDocument] => [
      slug,
      { ...document, slides: slides.get(slug) ?? document.slides, ...fill(document) },
    ]);
    shown = [...new Map(full.map(([, document]) => [document.slides, document])).values()];
    payloads = new Map(
      full.map(([slug, document]) => [
        slug,
        createPayload({ ...document, slides: publicOf(document.slides) }, variant),
      ]),
    );
    const changed = [...new Set([...before.keys(), ...payloads.keys()])].filter(
      (slug) => before.get(slug)?.revision !== payloads.get(slug)?.revision,
    );
    if (changed.length > 0) changes.emit(changed);
    return changed.length > 0;
  };
  feeds.onChange(publish);
  leading.onChange(publish);

  return {
    show: (next, content) => {
      screenDocuments = next;
      file = content;
      screens = new Map(content?.screens.map((screen) => [screen.slug, screen]));
      streams = streamsOf(next);
      // The baseline variant has no fields for live data.
      if (content !== null) feeds.follow(variant === 'extended' ? sourcesOf(content) : []);
      return publish();
    },
    view: {
      screens: () => [...payloads.values()].map(({ screen }) => screen),
      payload: (slug) => payloads.get(slug),
      tags,
      slides: (slug) => slides.get(slug) ?? [],
      shown: () => shown,
      slide: (slug, slideId) => slides.get(slug)?.find(({ id }) => id === slideId),
      hours: (slug) => screens.get(slug)?.hours ?? null,
      mediaNames: () => new Set([...(file === null ? [] : mediaNamed(file)), ...leadingMedia]),
      mediaUses: () => (file === null ? new Map() : mediaUses(file)),
      mediaSlides: () => (file === null ? new Map() : mediaSlides(file)),
      namesPage: (url) =>
        file?.playlists.some(({ slides }) =>
          slides.some(({ kind, media_url }) => kind === 'web' && media_url === url),
        ) === true,
      streams: () => streams,
      onChange: changes.on,
    },
  };
};
