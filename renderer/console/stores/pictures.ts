/** Pictures that need a signed request: thumbnails of media, and photographs of displays. */
import { type Client, createLimiter } from '../api/client.ts';
import { isCode } from '../api/errors.ts';

export interface Photo {
  /** A blob URL. */
  url: string;
  /** ms since the epoch. */
  capturedAt: number;
}

export type Pictures = ReturnType<typeof createPictures>;

/** Requests at a time: a wall of pictures leaves room for the rest. */
const AT_ONCE = 3;
/** Thumbnails that are kept, at about 30 kB each. */
const MOST = 600;
/** A file may be replaced under its name. */
const FRESH_MS = 5 * 60_000;
const REFUSED_MS = 60_000;

export const mediaNameOf = (mediaUrl: string): string | null => {
  const [, name = ''] = /^\/media\/([^/?#]+)$/.exec(mediaUrl) ?? [];
  return name === '' ? null : name;
};

export const createPictures = (client: Client) => {
  const limit = createLimiter(AT_ONCE, 'newest');
  const thumbnails = new Map<string, { since: number; url: Promise<string | null> }>();
  /** When connections without a picture were asked: those that are no kiosk's, and displays that show no screen. */
  const refusedAt = new Map<string, number>();

  const fetchThumbnail = async (name: string): Promise<string | null> => {
    try {
      const response = await limit(() => client.request(`/console/api/media/${name}/thumbnail`, { timeout: 30_000 }));
      return URL.createObjectURL(await response.blob());
    } catch {
      // A picture less is no reason to complain, and the next look may find one: the file may be under way.
      thumbnails.delete(name);
      return null;
    }
  };

  const drop = (name: string): void => {
    const dropped = thumbnails.get(name);
    thumbnails.delete(name);
    void dropped?.url.then((url) => {
      // An element may be about to load it.
      if (url !== null) setTimeout(() => URL.revokeObjectURL(url), 60_000);
    });
  };

  return {
    /** A blob URL of the thumbnail of `/media/NAME`; null: there is none. */
    thumbnail: (mediaUrl: string): Promise<string | null> => {
      const name = mediaNameOf(mediaUrl);
      if (name === null) return Promise.resolve(null);
      const known = thumbnails.get(name);
      if (known !== undefined && performance.now() - known.since < FRESH_MS) return known.url;
      drop(name);
      const url = fetchThumbnail(name);
      thumbnails.set(name, { since: performance.now(), url });
      for (const oldest of thumbnails.keys()) {
        if (thumbnails.size <= MOST) break;
        drop(oldest);
      }
      return url;
    },
    /** A screenshot of a display; null: it is no kiosk's, shows no screen, or did not answer in time. */
    photograph: async (connectionId: string): Promise<Photo | null> => {
      if (performance.now() - (refusedAt.get(connectionId) ?? Number.NEGATIVE_INFINITY) < REFUSED_MS) return null;
      try {
        const path = `/console/api/connections/${encodeURIComponent(connectionId)}/screenshot`;
        const response = await limit(() => client.request(path));
        const capturedAt = Date.parse(response.headers.get('x-signage-captured-at') ?? '');
        return { url: URL.createObjectURL(await response.blob()), capturedAt };
      } catch (error) {
        if (isCode(error, 'screenshot_unavailable')) refusedAt.set(connectionId, performance.now());
        return null;
      }
    },
  };
};
