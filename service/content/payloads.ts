/** The payload of each screen, serialized once per change of the document or of its live data: a GET only writes bytes. */
import type { ContentFile, OpeningTime } from '../contract/content.ts';
import { type PlaylistPayload, playlistPayload, type Screen, type Slide, syncHeader } from '../contract/playlist.ts';
import type { ProgrammePlan } from '../contract/programmes.ts';
import { extendedKinds } from '../contract/slide-values.ts';
import type { HouseStyle } from '../contract/style.ts';
import { extendedFields, type Variant } from '../contract/terms.ts';
import { remember } from '../domain/collections.ts';
import { createEmitter } from '../domain/emitter.ts';
import { withoutCredentials } from '../domain/media-names.ts';
import { slideId } from '../domain/slides.ts';
import { createFollowing, type EpochMs } from '../domain/time.ts';
import type { Feeds } from '../feeds/index.ts';
import { type PreparedAnswer, prepareAnswer } from '../http/prepared.ts';
import type { ServiceContext } from '../module.ts';
import { publicOf, publicStyle } from './credentials.ts';
import {
  isRemote,
  type MediaUse,
  mediaInOrder,
  mediaNamed,
  mediaSlides,
  mediaUses,
  mediumAt,
  remoteUses,
} from './media.ts';
import { revisionOf, type ScreenDocument, shortestAgeOf, sourcesOf, textOf } from './model.ts';
import { createPlans, type Insertions, type Plans, type Played, playsAt } from './plans.ts';
import { insertedIssue } from './programme-sizes.ts';

const noPlans: Plans = { slugs: [], at: () => null };

/** A slide's stream, with the user and password of its address. */
export interface StreamOfSlide {
  slideId: string;
  address: string;
  isMuted: boolean;
}

/** A web slide whose page keeps who is signed in. */
export interface SessionPage {
  slideId: string;
  title: string | null;
  session: string;
  /** As pages get it. */
  address: string;
  signedInAt: string | null;
}

const sessionPages = ({ playlists }: ContentFile): SessionPage[] =>
  playlists.flatMap(({ id, slides }) =>
    slides.flatMap((slide, index) => {
      const { session, signed_in_at: signedInAt = null } = (slide.kind === 'web' && slide.content?.web) || {};
      if (slide.kind !== 'web' || session === undefined) return [];
      const address = withoutCredentials(slide.media_url);
      return [{ slideId: slideId(id, slide, index), title: slide.title ?? null, session, address, signedInAt }];
    }),
  );

/** One screen's answer to `GET /api/screens/{slug}/playlist`. */
export interface Payload extends PreparedAnswer {
  screen: Screen;
  /** In quotes it is the entity tag. */
  revision: string;
  /** Revision of its `programme`, by which pages play on at a boundary; absent: it has none. */
  plan?: string;
}

type FullDocument = Omit<PlaylistPayload, 'revision'> & Pick<ScreenDocument, 'sync'>;

/** Programmes with their revision, so that what screens share is serialized once. */
const plans = new WeakMap<ProgrammePlan, Map<string, ProgrammePlan>>();
const MAX_PLANS = 100;

/** The document with the revision of its programme: of all that does not change at a boundary. */
const withPlan = (document: FullDocument, leading: readonly Slide[]): FullDocument => {
  const { programme, sync: _, ...rest } = document;
  if (programme === undefined) return document;
  const revision = revisionOf({ ...rest, programme, playlist: null, slides: leading });
  const known = plans.get(programme) ?? new Map<string, ProgrammePlan>();
  const plan = known.get(revision) ?? { ...programme, revision };
  remember(known, revision, plan, MAX_PLANS);
  plans.set(programme, known);
  return { ...document, programme: plan };
};

export const createPayload = ({ sync, ...document }: FullDocument, variant: Variant): Payload => {
  // With `sync`, which is a header: a page must fetch the playlist where nothing else has changed.
  const revision = revisionOf({ ...document, sync });
  const bodyOf = (): Buffer => {
    if (variant === 'extended') return Buffer.from(textOf({ ...document, revision }));
    const slides = document.slides.filter(({ kind }) => !extendedKinds.includes(kind));
    const payload: Record<string, unknown> = { ...document, slides };
    for (const field of extendedFields(playlistPayload)) delete payload[field];
    return Buffer.from(JSON.stringify(payload));
  };
  const headers = ['Cache-Control', 'no-cache', ...(sync === true ? [syncHeader, '1'] : [])];
  const plan = variant === 'extended' ? document.programme?.revision : undefined;
  return Object.assign(prepareAnswer(`"${revision}"`, bodyOf, headers), {
    screen: document.screen,
    revision,
    ...(plan === undefined ? null : { plan }),
  });
};

/** Slides that come before those of the content. */
export interface LeadingSlides {
  slides(screen: { slug: string; tags: readonly string[] }): Slide[];
  onChange(listener: () => void): void;
}

/** Playlists that are above all programmes for a time. */
export interface InsertedPlaylists {
  /** The site's time, by which they begin and end. */
  now(): EpochMs;
  insertions: Insertions;
  onChange(listener: () => void): void;
}

/** The parts of a payload that name what a page loads. */
export type Shown = Pick<FullDocument, 'slides' | 'rssFeeds' | 'apiSources' | 'style'>;

/** Read access to the content. */
export type View = ReturnType<typeof createPayloads>['view'];

/** The style without these fonts. */
const styleWithout = (style: HouseStyle, refused: ReadonlySet<string>): HouseStyle => {
  const fonts = Object.entries(style.fonts ?? {});
  const left = fonts.filter(([, address]) => !refused.has(address ?? ''));
  return left.length === fonts.length ? style : { ...style, fonts: Object.fromEntries(left) };
};

const hasPlaylist = (file: ContentFile | null, id: string): boolean =>
  file?.playlists.some((playlist) => playlist.id === id) === true;

const streamsOf = (lists: Iterable<readonly Slide[]>): readonly StreamOfSlide[] => {
  const slides = [...new Set(lists)].flat();
  return slides.flatMap(({ id, kind, media_url, content }) =>
    kind === 'stream' && media_url !== null
      ? [{ slideId: id, address: media_url, isMuted: content?.['muted'] !== false }]
      : [],
  );
};

export const createPayloads = (
  { options: { variant, timeZone }, now: ownNow, tempo }: Pick<ServiceContext, 'options' | 'now' | 'tempo'>,
  {
    feeds,
    leading,
    inserted,
  }: { feeds: Pick<Feeds, 'follow' | 'fill' | 'onChange'>; leading: LeadingSlides; inserted: InsertedPlaylists },
) => {
  const { now, follow: followClock } = createFollowing(ownNow);
  const changes = createEmitter<[string[], 'content' | 'time']>();
  let screenDocuments: ReadonlyMap<string, ScreenDocument> = new Map();
  let payloads: ReadonlyMap<string, Payload> = new Map();
  let shown: readonly Shown[] = [];
  let file: ContentFile | null = null;
  /** Those of the file, by slug. */
  let screens: ReadonlyMap<string, ContentFile['screens'][number]> = new Map();
  /** By slug; those before the slides of the content included. */
  let slides: ReadonlyMap<string, Slide[]> = new Map();
  /** Names of the files under `/media/`, and remote addresses, that leading slides show. */
  let leadingMedia: readonly string[] = [];
  let streams: readonly StreamOfSlide[] = [];

  let refusedFonts: ReadonlySet<string> = new Set();

  let plans: Plans = noPlans;
  /** What the screens of the plans play, by slug. */
  let played: ReadonlyMap<string, Played> = new Map();
  /** As long as the time lies within, the payloads are right. */
  let valid = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

  const tags = (slug: string): readonly string[] => screens.get(slug)?.tags ?? [];
  const evaluate = (): void => {
    const at = now();
    const before = played;
    played = new Map(
      plans.slugs.flatMap((slug) => {
        const each = plans.at(slug, at, inserted.now());
        return each === null ? [] : [[slug, each] as const];
      }),
    );
    valid = {
      from: Math.max(...[...played.values()].map(({ from }) => from), Number.NEGATIVE_INFINITY),
      until: Math.min(...[...played.values()].map(({ until }) => until), Number.POSITIVE_INFINITY),
    };
    const isSame = [...played].every(([slug, { all }]) => before.get(slug)?.all === all);
    if (!isSame) streams = streamsOf([...screenDocuments.keys()].map(allSlides));
  };

  const documentOf = (slug: string, document: ScreenDocument): ScreenDocument => {
    const { screen, style } = document;
    const due = played.get(slug)?.document;
    return due === undefined ? document : { screen, ...due, ...(style && { style }) };
  };
  const allSlides = (slug: string): readonly Slide[] =>
    played.get(slug)?.all ?? screenDocuments.get(slug)?.slides ?? [];

  const publish = (cause: 'content' | 'time'): boolean => {
    const before = payloads;
    evaluate();
    const led = new Map([...screenDocuments.keys()].map((slug) => [slug, leading.slides({ slug, tags: tags(slug) })]));
    leadingMedia = [...led.values()].flat().flatMap(({ media_url }) => mediumAt(media_url ?? '') ?? []);
    // Screens share the style, which is then serialized once.
    const styles = new Map<HouseStyle, HouseStyle>();
    const styled = (document: ScreenDocument): ScreenDocument => {
      const { style } = document;
      if (style === undefined) return document;
      const left = styles.get(style) ?? styleWithout(style, refusedFonts);
      styles.set(style, left);
      return { ...document, style: left };
    };
    const due = new Map([...screenDocuments].map(([slug, document]) => [slug, styled(documentOf(slug, document))]));
    // Screens that show the same share the arrays, which are then serialized once.
    slides = new Map(
      [...due].map(([slug, document]) => {
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
    const full = [...due].map(([slug, { calendars, ...document }]): [string, FullDocument] => {
      const own = slides.get(slug) ?? document.slides;
      const live = fill({ ...document, ...(calendars && { calendars }) });
      return [slug, withPlan({ ...document, slides: own, ...live }, led.get(slug) ?? [])];
    });
    shown = [
      ...new Map(
        full.map(([slug, document]) => {
          const all = played.get(slug)?.all;
          return [all ?? document.slides, all === undefined ? document : { ...document, slides: [...all] }];
        }),
      ).values(),
    ];
    payloads = new Map(
      full.map(([slug, document]) => {
        const style = document.style && { style: publicStyle(document.style) };
        return [slug, createPayload({ ...document, slides: publicOf(document.slides), ...style }, variant)];
      }),
    );
    const changed = [...new Set([...before.keys(), ...payloads.keys()])].filter(
      (slug) => before.get(slug)?.revision !== payloads.get(slug)?.revision,
    );
    if (changed.length > 0) changes.emit(changed, cause);
    return changed.length > 0;
  };
  /** The clock may have passed a boundary, or have been set back over one. */
  const follow = (): void => {
    const at = now();
    if (at < valid.from || at >= valid.until) publish('time');
  };
  const follower = setInterval(follow, tempo.content.boundary);
  follower.unref();
  feeds.onChange(() => publish('content'));
  leading.onChange(() => publish('content'));
  const plan = (): void => {
    plans = file === null ? noPlans : createPlans(file, timeZone, inserted.insertions);
  };
  inserted.onChange(() => {
    plan();
    publish('content');
  });

  return {
    /**
     * Builds the payloads of these documents, by slug, and notifies the listeners.
     * @param content the file that the documents were built from; null: not available
     * @returns whether any payload changed
     */
    show: (next: ReadonlyMap<string, ScreenDocument>, content: ContentFile | null): boolean => {
      screenDocuments = next;
      file = content;
      screens = new Map(content?.screens.map((screen) => [screen.slug, screen]));
      plan();
      streams = streamsOf([...next.values()].map(({ slides: own }) => own));
      // The baseline variant has no fields for live data.
      if (content !== null) feeds.follow(variant === 'extended' ? sourcesOf(content) : [], shortestAgeOf(content));
      return publish('content');
    },
    /** Addresses of fonts that pages must not load: they are left out of the style. */
    refuseFonts: (addresses: ReadonlySet<string>): void => {
      const isSame = addresses.size === refusedFonts.size && [...addresses].every((each) => refusedFonts.has(each));
      if (isSame) return;
      refusedFonts = addresses;
      publish('content');
    },
    close: (): void => clearInterval(follower),
    view: {
      screens: (): Screen[] => [...payloads.values()].map(({ screen }) => screen),
      payload: (slug: string): Payload | undefined => {
        follow();
        return payloads.get(slug);
      },
      /** Tags of a screen; none for an unknown one. */
      tags,
      /** The slides that a screen plays now, without their live data. */
      slides: (slug: string): readonly Slide[] => slides.get(slug) ?? [],
      /** What screens show, live data included; those that show the same are one entry. */
      shown: (): readonly Shown[] => shown,
      /** A slide that a screen plays now or within days, without its live data. */
      slide: (slug: string, slideId: string): Slide | undefined =>
        slides.get(slug)?.find(({ id }) => id === slideId) ?? played.get(slug)?.all.find(({ id }) => id === slideId),
      /** When a screen's display is on, in local time of the site; null: always. */
      hours: (slug: string): readonly OpeningTime[] | null => screens.get(slug)?.hours ?? null,
      /** Names of the files under `/media/` that the playing content refers to. */
      mediaNames: (): ReadonlySet<string> =>
        new Set([...(file === null ? [] : mediaNamed(file)), ...leadingMedia.filter((medium) => !isRemote(medium))]),
      /** The same, and the addresses of remote media: what takeovers show, then in the order of the slides. */
      mediaInOrder: (): ReadonlySet<string> => new Set([...leadingMedia, ...(file === null ? [] : mediaInOrder(file))]),
      /** The first place in the playing content that names each remote address of {@link mediaInOrder}. */
      remoteUses: (): ReadonlyMap<string, MediaUse> => (file === null ? new Map() : remoteUses(file)),
      /** The first place in the playing content that names each file of {@link mediaNames}. */
      mediaUses: (): ReadonlyMap<string, MediaUse> => (file === null ? new Map() : mediaUses(file)),
      /** The ids of the slides that use each file of {@link mediaNames}. */
      mediaSlides: (): ReadonlyMap<string, ReadonlySet<string>> => (file === null ? new Map() : mediaSlides(file)),
      /** Whether the playing content has a web slide with this URL. */
      namesPage: (url: string): boolean =>
        file?.playlists.some(({ slides }) =>
          slides.some((slide) => slide.kind === 'web' && slide.media_url === url),
        ) === true,
      /** The web slides of the playing content that name a session. */
      sessionPages: (): SessionPage[] => (file === null ? [] : sessionPages(file)),
      /** URLs of the stream slides; a new set object after each change. */
      streams: (): readonly StreamOfSlide[] => streams,
      /** What time it is for a screen: the site's, as far as it is known; with a playlist of a trigger in any case, which lasts by it. */
      timeOf: (slug: string): EpochMs =>
        inserted.insertions({ slug, tags: tags(slug) }).length > 0 ? inserted.now() : now(),
      /** Programmes are due by the site's clock. Until this is called, the clock of this box stands for it. */
      followClock,
      /** What a screen plays at any moment, and why; null: there is no such screen. */
      playsAt: (slug: string, at: EpochMs): ReturnType<typeof playsAt> =>
        file === null ? null : playsAt(file, slug, at, timeZone, inserted.insertions),
      /** A saved message of the playing content. */
      message: (id: string): ContentFile['messages'][number] | undefined =>
        file?.messages.find((message) => message.id === id),
      /** Whether the playing content has a playlist. */
      hasPlaylist: (id: string): boolean => hasPlaylist(file, id),
      /** Why a trigger cannot put a playlist above what the screens of these targets play; null: it can. */
      playlistIssue: (id: string, targets: readonly string[]): string | null => {
        const content = file;
        if (content === null) return null;
        const on = (screen: ContentFile['screens'][number]) =>
          inserted
            .insertions({ slug: screen.slug, tags: screen.tags ?? [] })
            .map(({ playlist_id }) => playlist_id)
            .filter((each) => hasPlaylist(content, each));
        return insertedIssue(content, targets, (screen) => [...new Set([id, ...on(screen)])].sort());
      },
      /**
       * Calls `listener` with the slugs whose payload was added, changed or removed.
       * @param cause `time`: nothing but what is due has changed
       */
      onChange: changes.on,
    },
  };
};
