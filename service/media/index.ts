/** Media files: uploads, copies of remote media, and copies of peers' media. */
import { join } from 'node:path';
import type { Content } from '../content/index.ts';
import { mediaNameIn } from '../domain/media-names.ts';
import type { Feeds } from '../feeds/index.ts';
import type { Module, ServiceContext } from '../module.ts';
import { createCatalog, type MediaEntry } from './catalog.ts';
import { createCopies } from './copies/copies.ts';
import { openLedger } from './copies/ledger.ts';
import { normalAddress } from './copies/named.ts';
import { copyRoutes } from './copies/routes.ts';
import { createDownloads, type Wanted } from './downloads.ts';
import { openEvictableMedia } from './evictable.ts';
import { createFetchLimits, type FetchLimits, heldIssues } from './fetch-limits.ts';
import { createFolders, KEPT_MS } from './folders.ts';
import { createHasher } from './hasher.ts';
import { createLibrary, type OpenMedium } from './library.ts';
import { createStorageQuota } from './quota.ts';
import { mediaRoutes } from './routes.ts';
import { removeShadowedUpload } from './shadowed.ts';

export { FetchHeld, heldIssues } from './fetch-limits.ts';
export { mediaNameOf } from './routes.ts';
export { spareOf } from './space.ts';

interface Dependencies {
  content: Pick<Content, 'screens' | 'payload' | 'onChange' | 'mediaNames'>;
  feeds: Pick<Feeds, 'reach'>;
}

type Catalog = ReturnType<typeof createCatalog>;

export interface Media extends Module, Pick<Catalog, 'unread' | 'onLearn'>, Pick<FetchLimits, 'heldReason'> {
  /** All media files whose metadata is known, by name. Files put there by hand are listed after `maxAgeMs`; default: a minute. */
  list(maxAgeMs?: number): Promise<MediaEntry[]>;
  /**
   * Opens a file for reading; the caller closes it.
   * @param name that {@link mediaNameOf} has returned
   * @throws CodedError `file_not_found`
   */
  open(name: string): Promise<OpenMedium>;
  /**
   * SHA-256 of the medium at an address (`/media/NAME`, or a remote one that has a copy), hex; null: there is none, or it
   * was replaced after `time`, ms since the epoch.
   */
  digestAt(address: string, time: number): Promise<string | null>;
  /** What all media files take, and their limit, bytes. */
  usage(): Promise<{ bytes: number; quota: number }>;
  /**
   * Fetches a file of a peer into the media directory as {@link Downloads.want} does, where it takes the place of an
   * older upload. The file is evicted when space runs short and the content no longer names it.
   */
  replicate(wanted: Wanted): Promise<void>;
  /**
   * Uploads are dated later than the file that `newest` returns the modification time of: ms since the epoch, 0 for a
   * name without a file at the site. Until this is called, the clock of this box alone dates them.
   */
  dateUploadsAfter(newest: (name: string) => number): void;
  /** Calls `listener` when the hours begin in which media are fetched. */
  onFetchHours(listener: () => void): void;
  /** Sets the source of the site's time, ms since the epoch. Until this is called, the clock of this box stands for it. */
  followClock(now: () => number): void;
}

export const createMedia = async (
  { options, log, logs, dirs, get, now, keep }: ServiceContext,
  { content, feeds }: Dependencies,
): Promise<Media> => {
  const { uploads: uploadDir, media: mediaDir } = dirs;
  const { maxUploadBytes } = options;
  const served = [uploadDir, mediaDir];
  const copiesDir = join(mediaDir, 'copies');
  const folders = createFolders([...served, copiesDir]);
  const hasher = keep(createHasher());
  const catalog = keep(createCatalog({ path: join(dirs.data, 'media.json'), served, folders, hasher, log }));
  const ledger = keep(await openLedger({ path: join(dirs.data, 'copies.json'), folder: copiesDir, folders, log }));
  const evictable = keep(
    await openEvictableMedia({ path: join(dirs.data, 'mirrored.json'), mediaDir, folders, content, log }),
  );
  const storage = createStorageQuota({
    folders,
    quota: options.mediaQuotaBytes,
    evict: async (bytes) => ledger.evict(bytes - (await evictable.evict(bytes))),
  });
  const requireRoom = (wanted: number): Promise<void> => storage.require(mediaDir, wanted);
  let siteNow = now;
  const limits = createFetchLimits({
    bytesPerSecond: options.fetchBytesPerSecond,
    ...{ hours: options.fetchHours, timeZone: options.timeZone, now: () => siteNow() },
  });
  const downloads = await createDownloads({
    mediaDir,
    limit: maxUploadBytes,
    get,
    limits,
    hasher,
    requireRoom,
    folders,
    catalog,
  });
  const copies = createCopies({ content, feeds, ledger, downloads, limits, storage, hasher, logs });
  let newestAtSite = (_name: string): number => 0;
  const newest = (name: string): number => newestAtSite(name);
  const library = await createLibrary({
    ...{ uploadDir, mediaDir, maxUploadBytes, newest },
    ...{ folders, hasher, catalog, storage, log },
  });

  return {
    routes: { ...mediaRoutes(library), ...copyRoutes(copies) },
    health: () => ({
      fields: { copies: copies.status() },
      issues: { media: heldIssues(copies.held(), limits.heldReason()) },
    }),
    states: {
      medium: async (name) => {
        const files = await folders.read();
        for (const folder of served) {
          const found = files.get(folder)?.get(name);
          if (found === undefined) continue;
          return { size: found.size, sha256: catalog.hashOf(join(folder, name), found) ?? null };
        }
        return null;
      },
    },
    metrics: async () => {
      const files = await folders.read();
      const bytesIn = (folder: string): number =>
        [...(files.get(folder)?.values() ?? [])].reduce((sum, { size }) => sum + size, 0);
      return {
        signage_media_bytes: {
          uploads: bytesIn(uploadDir),
          copies: bytesIn(copiesDir),
          peers: mediaDir === uploadDir ? 0 : bytesIn(mediaDir),
        },
      };
    },
    open: library.open,
    digestAt: async (address, time) => {
      const files = await folders.read();
      const copy = ledger.get(normalAddress(address) ?? '')?.sha256;
      const name = copy ?? mediaNameIn(address) ?? '';
      for (const folder of copy === undefined ? served : [copiesDir]) {
        const found = files.get(folder)?.get(name);
        if (found === undefined) continue;
        return found.mtimeMs > time ? null : (copy ?? catalog.hashOf(join(folder, name), found) ?? null);
      }
      return null;
    },
    list: (maxAgeMs = KEPT_MS) => catalog.list(maxAgeMs),
    usage: async () => ({ bytes: await folders.bytes(), quota: storage.quota }),
    unread: catalog.unread,
    onLearn: catalog.onLearn,
    replicate: async (wanted) => {
      await evictable.add(wanted.name);
      await downloads.want(wanted);
      await removeShadowedUpload(dirs, wanted.name);
      await folders.changed(join(uploadDir, wanted.name));
    },
    dateUploadsAfter: (source) => {
      newestAtSite = source;
    },
    followClock: (source) => {
      siteNow = source;
    },
    heldReason: limits.heldReason,
    onFetchHours: limits.onOpen,
    start: () => {
      limits.start();
      copies.start();
    },
    close: async () => {
      limits.close();
      copies.close();
      await downloads.close();
    },
  };
};
