/** Reads a calendar that lies among the media of the box, as if it were fetched. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { mediaNameIn } from '../domain/media-names.ts';
import type { ServiceContext } from '../module.ts';
import { FetchFault, type Validators } from '../platform/outbound/answer.ts';
import type { Answer } from './fetch.ts';

export const createReadMedia =
  ({ dirs }: Pick<ServiceContext, 'dirs'>, maxBytes: number) =>
  async (path: string, { etag }: Validators): Promise<Answer> => {
    const name = mediaNameIn(path);
    if (name === null) throw new FetchFault('its name is not valid');
    for (const folder of [dirs.uploads, dirs.media]) {
      const handle = await open(join(folder, name)).catch(() => null);
      if (handle === null) continue;
      try {
        const { size, mtimeMs } = await handle.stat();
        if (size > maxBytes) throw new FetchFault(`it is larger than ${Math.round(maxBytes / 1024)} KiB`);
        const version = `${size}-${mtimeMs}`;
        if (version === etag) return { changed: false, nearness: 2 };
        const body = await handle.readFile();
        return {
          changed: true,
          nearness: 2,
          body,
          charset: null,
          base: path,
          validators: { etag: version, lastModified: null },
        };
      } finally {
        await handle.close();
      }
    }
    throw new FetchFault('the file is not on this box');
  };
