/** From the operator's file to what screens are sent: everything filled in, the same way every time. */
import { createHash } from 'node:crypto';
import type { PlaylistPayload, Screen, Slide } from '../contract/playlist.ts';
import { mediaTypeOf } from '../domain/media-types.ts';
import type { SourceSettings } from '../feeds/source.ts';
import type { ContentFile, SlideFile } from './file.ts';
import { slideId } from './labels.ts';

const DEFAULT_REFRESH_SECONDS = 900;

/** When what a screen shows was first seen and last changed, and the digest that tells a change. */
export interface Stamp {
  created_at: string;
  modified_at: string;
  digest: string;
}

/** By slug. */
export type Stamps = ReadonlyMap<string, Stamp>;

/** Everything of one screen's payload but its revision, and what pages learn beside it. */
export type Programme = Omit<PlaylistPayload, 'revision'> & {
  /** The playlist is shown at the same time everywhere. */
  sync?: true;
};

export interface Model {
  /** The operator's document: feeds and sources are still without their data. */
  programmes: ReadonlyMap<string, Programme>;
  stamps: Stamps;
}

/** SHA-256 over the JSON, short enough for a header, long enough never to meet its like. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

const mediumOf = (slide: SlideFile): string | null => {
  if (slide.media_type != null) return slide.media_type;
  if (slide.media_url == null) return null;
  if (slide.kind === 'web') return 'text/html';
  return mediaTypeOf(slide.media_url);
};

const fillSlide = (playlistId: string, slide: SlideFile, index: number, templates: ContentFile['templates']): Slide => {
  const template = templates.find(({ id }) => id === slide.template_id);
  return {
    id: slideId(playlistId, slide, index),
    title: slide.title ?? null,
    body: slide.body ?? null,
    duration_seconds: slide.duration_seconds ?? null,
    schedule_mode: slide.schedule_mode ?? 'always',
    schedule_start_datetime: slide.schedule_start_datetime ?? null,
    schedule_end_datetime: slide.schedule_end_datetime ?? null,
    schedule_start_time: slide.schedule_start_time ?? null,
    schedule_end_time: slide.schedule_end_time ?? null,
    schedule_days_json: slide.schedule_days_json ?? null,
    media_url: slide.media_url ?? null,
    media_type: mediumOf(slide),
    kind: slide.kind,
    template_id: slide.template_id ?? null,
    template:
      template === undefined ? null : { id: template.id, name: template.name ?? template.id, html: template.html },
    content: slide.content ?? null,
  };
};

/** Payloads are public, and a password in an address is for the fetch alone. */
const withoutCredentials = (address: string): string => {
  const url = new URL(address);
  if (url.username === '' && url.password === '') return address;
  url.username = '';
  url.password = '';
  return url.href;
};

/** The feeds and API sources, as they are to be fetched. */
export const sourcesOf = ({ rssFeeds, apiSources }: ContentFile): SourceSettings[] => {
  const common = ({ id, url, refresh_seconds }: ContentFile['rssFeeds'][number]) => ({
    id,
    url,
    refreshSeconds: refresh_seconds ?? DEFAULT_REFRESH_SECONDS,
  });
  return [
    ...rssFeeds.map((feed) => ({ kind: 'rss' as const, ...common(feed), select: null })),
    ...apiSources.map((source) => ({ kind: 'api' as const, ...common(source), select: source.select ?? null })),
  ];
};

/** What every screen of the site has in common. */
const fillShared = (content: ContentFile): Pick<Programme, 'rssFeeds' | 'apiSources' | 'timetableGroups'> => {
  const fillSource = ({ id, name, url, refresh_seconds }: ContentFile['rssFeeds'][number]) => ({
    id,
    name: name ?? id,
    url: withoutCredentials(url),
    refresh_seconds: refresh_seconds ?? DEFAULT_REFRESH_SECONDS,
    status: 'pending' as const,
    fetched_at: null,
  });
  return {
    rssFeeds: content.rssFeeds.map((feed) => ({ ...fillSource(feed), items: [] })),
    apiSources: content.apiSources.map((source) => ({ ...fillSource(source), data: null })),
    timetableGroups: content.timetableGroups.map(({ id, name, entries }) => ({
      id,
      name: name ?? id,
      entries: entries.map((entry, index) => ({
        id: entry.id ?? `${id}-${index + 1}`,
        time: entry.time,
        title: entry.title,
        detail: entry.detail ?? null,
        location: entry.location ?? null,
        days_json: entry.days_json ?? null,
      })),
    })),
  };
};

/**
 * Fills in the file. A screen whose programme is the same as under `before` keeps its times; a changed one is
 * modified at `changedAt` (ISO 8601), a new one created then. Times that the file itself gives win.
 */
export const buildModel = (content: ContentFile, before: Stamps, changedAt: string): Model => {
  const shared = fillShared(content);
  const filled = new Map(
    content.playlists.map((playlist) => [
      playlist.id,
      {
        playlist: {
          id: playlist.id,
          name: playlist.name ?? playlist.id,
          fade_between_slides: playlist.fade_between_slides ?? true,
        },
        slides: playlist.slides.map((slide, index) => fillSlide(playlist.id, slide, index, content.templates)),
        ...(playlist.sync ? { sync: true as const } : null),
      },
    ]),
  );

  const programmes = new Map<string, Programme>();
  const stamps = new Map<string, Stamp>();
  for (const { id, name, slug, playlist_id, created_at, modified_at } of content.screens) {
    const identity = { id: id ?? slug, name, slug, playlist_id: playlist_id ?? null };
    const shown = { ...(filled.get(playlist_id ?? '') ?? { playlist: null, slides: [] }), ...shared };
    const digest = digestOf([identity, shown]);
    const known = before.get(slug);
    const stamp: Stamp = {
      created_at: utc(created_at) ?? known?.created_at ?? changedAt,
      modified_at: utc(modified_at) ?? (known?.digest === digest ? known.modified_at : changedAt),
      digest,
    };
    const screen: Screen = { ...identity, created_at: stamp.created_at, modified_at: stamp.modified_at };
    stamps.set(slug, stamp);
    programmes.set(slug, { screen, ...shown });
  }
  return { programmes, stamps };
};

const utc = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();
