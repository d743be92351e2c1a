/** Editing for the console and the command line: the content, its versions and the media, under `/console/api`. */
import { join } from 'node:path';
import type { Content } from '../content/index.ts';
import type { Media } from '../media/index.ts';
import type { Module, ServiceContext } from '../module.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { type ContentDependencies, contentRoutes } from './content.ts';
import { type MediaDependencies, mediaRoutes } from './media.ts';
import { createThumbnailCache } from './thumbnail-cache.ts';
import { createThumbnails } from './thumbnails.ts';
import { createVersionStore } from './version-store.ts';
import { versionRoutes } from './versions.ts';

export interface Dependencies extends ContentDependencies, Omit<MediaDependencies, 'thumbnails'> {
  media: MediaDependencies['media'] & Pick<Media, 'open'>;
  content: ContentDependencies['content'] & MediaDependencies['content'] & Pick<Content, 'onPlay'>;
}

export const createEditing = (
  { options, dirs, log, ffmpeg, confined, keep }: ServiceContext,
  dependencies: Dependencies,
): Module => {
  if (!options.console || options.variant === 'baseline') return {};
  const { content } = dependencies;
  const versions = keep(createVersionStore({ folder: join(dirs.data, 'versions'), disk: systemDisk, log }));
  const playing = content.playing();
  if (playing !== null) void versions.record(playing);
  content.onPlay((document) => void versions.record(document));
  const thumbnails = createThumbnails({
    media: dependencies.media,
    ffmpeg,
    confined,
    log,
    cache: createThumbnailCache(join(dirs.data, 'thumbnails'), systemDisk),
  });
  return {
    routes: {
      ...contentRoutes(dependencies),
      ...versionRoutes(versions),
      ...mediaRoutes({ ...dependencies, thumbnails }),
    },
    close: thumbnails.close,
  };
};
