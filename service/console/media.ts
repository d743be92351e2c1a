/** The media of this box, as a person chooses among them. */
import type { Content } from '../content/index.ts';
import type { MediaList } from '../contract/media.ts';
import { matchesWeakly } from '../http/conditions.ts';
import type { Routes } from '../http/routes.ts';
import { type Media, mediaNameOf } from '../media/index.ts';
import type { Thumbnails } from './thumbnails.ts';

export interface MediaDependencies {
  content: Pick<Content, 'mediaSlides'>;
  media: Pick<Media, 'list' | 'usage' | 'renditionOf' | 'currentName'>;
  thumbnails: Pick<Thumbnails, 'get'>;
}

/** Files that are put into the folders by hand are listed within this time. Uploads are listed immediately. */
const LISTING_MS = 2_000;

export const mediaRoutes = ({ content, media, thumbnails }: MediaDependencies): Routes => ({
  'GET /console/api/media': async (ctx) => {
    const slides = new Map<string, string[]>();
    for (const [name, ids] of content.mediaSlides()) {
      // A document of before a renaming uses the file by its old name.
      const current = media.currentName(name);
      slides.set(current, [...new Set([...(slides.get(current) ?? []), ...ids])]);
    }
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
          used_by: [...(slides.get(entry.name) ?? [])],
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
});
