/** The media of this box, as a person chooses among them. */
import type { Content } from '../content/content.ts';
import type { MediaList } from '../contract/console/media.ts';
import type { Routes } from '../http/routes.ts';
import type { createCatalog } from '../media/catalog.ts';
import type { Folders } from '../media/folders.ts';

export interface MediaDependencies {
  content: Pick<Content, 'mediaSlides'>;
  catalog: Pick<ReturnType<typeof createCatalog>, 'list'>;
  folders: Pick<Folders, 'bytes'>;
  /** Limit of uploads, copies of remote media and peers' media together, bytes. */
  quota: number;
}

/** Files that are put into the folders by hand are listed within this time. Uploads are listed at once. */
const LISTING_MS = 2_000;

export const mediaRoutes = ({ content, catalog, folders, quota }: MediaDependencies): Routes => ({
  'GET /console/api/media': async (ctx) => {
    const slides = content.mediaSlides();
    const entries = await catalog.list(LISTING_MS);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      media: entries.map(({ name, mediaType, duration, modifiedAt, ...rest }) => ({
        filename: name,
        url: `/media/${encodeURIComponent(name)}`,
        ...rest,
        media_type: mediaType,
        duration_seconds: duration,
        modified_at: modifiedAt,
        used_by: [...(slides.get(name) ?? [])],
      })),
      used_bytes: await folders.bytes(),
      quota_bytes: quota,
    } satisfies MediaList;
  },
});
