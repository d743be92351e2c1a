/** The media of this box, as a person chooses among them. */
import type { Content } from '../content/index.ts';
import { takeoverSlideId } from '../contract/console/takeover-levels.ts';
import type { MediaList } from '../contract/media.ts';
import { mediaNameIn } from '../domain/media-names.ts';
import { mediaIn } from '../domain/renamed-media.ts';
import type { Drafts } from '../drafts/index.ts';
import { matchesWeakly } from '../http/conditions.ts';
import type { Routes } from '../http/routes.ts';
import { type Media, mediaNameOf } from '../media/index.ts';
import type { Takeovers } from '../takeovers/index.ts';
import type { Thumbnails } from './thumbnails.ts';

interface Dependencies {
  content: Pick<Content, 'mediaSlides'>;
  media: Pick<Media, 'list' | 'usage' | 'renditionOf' | 'currentName'>;
  drafts: Pick<Drafts, 'list' | 'get'>;
  takeovers: Pick<Takeovers, 'open'>;
  thumbnails: Pick<Thumbnails, 'get'>;
}

/** Files that are put into the folders by hand are listed within this time. Uploads are listed immediately. */
const LISTING_MS = 2_000;

/** By what each file is used. A document of before a renaming uses the file by its old name. */
const usesOf = (media: Pick<Media, 'currentName'>, uses: Iterable<readonly [name: string, by: Iterable<string>]>) => {
  const all = new Map<string, string[]>();
  for (const [name, by] of uses) {
    const current = media.currentName(name);
    all.set(current, [...new Set([...(all.get(current) ?? []), ...by])]);
  }
  return all;
};

/** The names that each draft has. A draft is read again once it has changed. */
const createDraftNames = (drafts: Pick<Drafts, 'list' | 'get'>) => {
  let byEtag: ReadonlyMap<string, readonly string[]> = new Map();
  return async (): Promise<{ title: string; names: readonly string[] }[]> => {
    const found = await Promise.all(
      drafts.list().map(async ({ id, etag, title }) => {
        const names = byEtag.get(etag) ?? [...new Set(mediaIn((await drafts.get(id))?.content))];
        return { etag, title, names };
      }),
    );
    byEtag = new Map(found.map(({ etag, names }) => [etag, names]));
    return found;
  };
};

export const mediaRoutes = ({ content, media, drafts, takeovers, thumbnails }: Dependencies): Routes => {
  const draftNames = createDraftNames(drafts);
  return {
    'GET /console/api/media': async (ctx) => {
      const slides = usesOf(media, [
        ...content.mediaSlides(),
        ...takeovers.open().flatMap(({ id, media_url }) => {
          const name = mediaNameIn(media_url ?? '');
          return name === null ? [] : [[name, [takeoverSlideId(id)]] as const];
        }),
      ]);
      const titles = usesOf(
        media,
        (await draftNames()).flatMap(({ title, names }) => names.map((name) => [name, [title]] as const)),
      );
      const entries = await media.list(LISTING_MS);
      const { bytes, quota } = await media.usage();
      ctx.body = {
        media: await Promise.all(
          entries.map(async (entry) => ({
            filename: entry.name,
            url: `/media/${encodeURIComponent(entry.name)}`,
            size: entry.size,
            sha256: entry.sha256,
            media_type: entry.mediaType,
            width: entry.width,
            height: entry.height,
            duration_seconds: entry.duration,
            codec: entry.codec,
            codec_profile: entry.codecProfile,
            frame_rate: entry.frameRate,
            loudness: entry.loudness?.integrated ?? null,
            peak: entry.loudness?.peak ?? null,
            rendition: await media.renditionOf(entry),
            modified_at: entry.modifiedAt,
            used_by: slides.get(entry.name) ?? [],
            in_drafts: titles.get(entry.name),
          })),
        ),
        used_bytes: bytes,
        quota_bytes: quota,
      } satisfies MediaList;
    },

    'GET /console/api/media/:filename/thumbnail': async (ctx) => {
      const left = new AbortController();
      ctx.res.on('close', () => left.abort());
      const { bytes, tag } = await thumbnails.get(mediaNameOf(ctx), left.signal);
      ctx.set({ ETag: `"${tag}"`, 'Cache-Control': 'no-cache' });
      if (matchesWeakly(ctx.get('If-None-Match'), `"${tag}"`)) {
        ctx.status = 304;
        return;
      }
      ctx.type = 'image/jpeg';
      ctx.body = bytes;
    },
  };
};
