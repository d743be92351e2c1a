/** Media files: uploads, copies of remote media, copies of peers' media, and renditions of them. */
import { extname, join } from 'node:path';
import type { Signer } from '../auth/person-keys.ts';
import { type Content, mediaUses, remoteUses } from '../content/index.ts';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { CodedError } from '../contract/errors.ts';
import type { UploadResult } from '../contract/media.ts';
import type { MediaDeletion } from '../contract/peers.ts';
import { validDeletions } from '../domain/deletions.ts';
import { createEmitter } from '../domain/emitter.ts';
import { mediaNameIn } from '../domain/media-names.ts';
import { mediaTypeOf } from '../domain/media-types.ts';
import { type SiteTime, unconfirmed } from '../domain/time.ts';
import type { Feeds } from '../feeds/index.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Shared } from '../shared/index.ts';
import { createCatalog, type MediaEntry } from './catalog.ts';
import type { MediaContext } from './context.ts';
import { createCopies, type SiteCopy } from './copies/copies.ts';
import { copiesFolderOf, openLedger } from './copies/ledger.ts';
import { createRemoval, openDeletions } from './deletions.ts';
import { createDownloads, type Wanted } from './downloads.ts';
import { openEvictableMedia } from './evictable.ts';
import { createFetchLimits, heldIssues } from './fetch-limits.ts';
import { createFolders, dateOf, KEPT_MS } from './folders.ts';
import { createHasher } from './hasher.ts';
import { createProbe } from './inspect.ts';
import { createLibrary } from './library.ts';
import { createLostUploads } from './lost.ts';
import { openMediaPermission } from './permission.ts';
import { placeFile } from './place.ts';
import { createStorageQuota, readVolume, spareOf } from './quota.ts';
import { createBoundedProbe, createRenditions, type OpenRendition } from './renditions/index.ts';
import { openRenditionStore, renditionsFolderOf } from './renditions/store.ts';
import type { SiteRenditions } from './renditions/work.ts';
import { copyRoutes, mediaRoutes } from './routes.ts';
import type { OpenMedium } from './serve.ts';

export type { MediaEntry } from './catalog.ts';
export type { SiteCopy } from './copies/copies.ts';
export { FetchHeld, heldIssues } from './fetch-limits.ts';
export { spareOf } from './quota.ts';
export type { SiteRenditions } from './renditions/work.ts';
export { mediaNameOf } from './routes.ts';

interface Dependencies {
  content: Pick<Content, 'shown' | 'onChange' | 'mediaInOrder' | 'mediaNames' | 'mediaUses' | 'remoteUses'>;
  feeds: Pick<Feeds, 'reach' | 'reread'>;
  shared: Pick<Shared, 'open'>;
}

/** The media of the site, from the lists of all boxes. */
interface SiteMedia {
  /** Modification time of the newest file of a name, after which uploads are dated, ms since the epoch; 0: there is none. */
  newest(name: string): number;
  /** Whether another box has a file of that name. @param mayAsk default: true; otherwise only the lists of the boxes tell */
  isElsewhere(name: string, mayAsk?: boolean): Promise<boolean>;
  /** Resolves when a file that the content has just started to name has arrived from another box, or after a time limit. */
  arrival(name: string): Promise<void>;
  /** The copy of a remote file at the box that downloads it for the site. */
  copyOf(url: string): Promise<SiteCopy>;
  /** What the other boxes have of the renditions of originals; never rejects. */
  renditionsOf(originals: readonly string[]): Promise<SiteRenditions>;
}

export type Media = Awaited<ReturnType<typeof createMedia>>;

export const createMedia = async (service: ServiceContext, { content: written, feeds, shared }: Dependencies) => {
  const { log, dirs, now, keep, tempo } = service;
  const { uploads: uploadDir, media: mediaDir } = dirs;
  const served = [uploadDir, mediaDir];
  const copiesDir = copiesFolderOf(mediaDir);
  const renditionsDir = renditionsFolderOf(mediaDir);
  let siteTime = unconfirmed(now);
  let site: SiteMedia = {
    newest: () => 0,
    isElsewhere: async () => false,
    arrival: async () => {},
    copyOf: async () => null,
    renditionsOf: async () => ({ holders: [] }),
  };
  const deleted = createEmitter();
  const release = (path: string): Promise<void> => renditions.release(path);
  // `.lost` is kept beside the quota: nobody can delete its files to make room.
  const counted = [...served, copiesDir, renditionsDir];
  const folders = createFolders(counted, undefined, (from, to) => placeFile(from, to, release));
  const hasher = keep(createHasher());
  const context: MediaContext = { ...service, now: () => siteTime.now(), folders, hasher, release };
  const lost = createLostUploads(context);
  const deletions = keep(await openDeletions(context));
  // What is named by an old name is kept, fetched and converted as what it is called now.
  const content = {
    ...written,
    mediaNames: () => deletions.withRenamed(written.mediaNames()),
    mediaInOrder: () => deletions.withRenamed(written.mediaInOrder()),
    mediaUses: () => deletions.withRenamedKeys(written.mediaUses()),
  };
  const probe = createBoundedProbe(createProbe(service));
  const catalog = keep(createCatalog(context, probe));
  catalog.onLearn(feeds.reread);
  const ledger = keep(await openLedger(context));
  const evictable = keep(await openEvictableMedia(context, content));
  const store = keep(await openRenditionStore(context));
  const storage = createStorageQuota(context, async (bytes) => {
    let left = bytes - (await renditions.evict(bytes));
    if (left > 0) left -= await evictable.evict(left);
    if (left > 0) left -= await ledger.evict(left);
    if (left > 0) await downloads.sweep(0, left);
  });
  const limits = createFetchLimits(context);
  const requireRoom = (wanted: number): Promise<void> => storage.require(mediaDir, wanted);
  const downloads = await createDownloads(context, { limits, requireRoom, catalog });
  const siteCopy = (url: string): Promise<SiteCopy> => site.copyOf(url);
  const copies = createCopies(context, { content, feeds, ledger, downloads, limits, storage, siteCopy });
  const library = await createLibrary(context, {
    newest: (name) => Math.max(site.newest(name), deletions.at(name)),
    catalog,
    storage,
    deletions,
    lost,
    copies: evictable,
    isElsewhere: (name, mayAsk) => site.isElsewhere(name, mayAsk),
  });
  const permission = await openMediaPermission(service, {
    shared,
    exists: library.exists,
    isUsed: (name) => content.mediaNames().has(name),
  });
  /** Renditions that nothing shows are made only where there is room beside everything else. */
  const requireRenditionRoom = async (bytes: number, mayEvict: boolean, written = 0): Promise<void> => {
    const spare = Math.min(spareOf(await readVolume(context, mediaDir)) + written, await storage.left());
    if (mayEvict) await storage.require(mediaDir, bytes - written, -written);
    else if (spare < bytes) throw new CodedError('insufficient_storage');
  };
  const renditions = createRenditions(
    { ...service, ...context },
    {
      store,
      catalog,
      ledger,
      downloads,
      content,
      probe,
      isPeerCopy: evictable.has,
      deleted: () => {
        const since = service.now() - tempo.media.absent;
        const recent = deletions.list().filter((each) => !each.renamed && Date.parse(each.deletedAt) > since);
        return new Set(recent.flatMap(({ sha256 }) => sha256 ?? []));
      },
      requireRoom: requireRenditionRoom,
      askSite: (originals) => site.renditionsOf(originals),
    },
  );
  const removeDeleted = async (name: string): Promise<void> => {
    await library.removeDeleted(name);
    renditions.look();
  };
  const removal = createRemoval(context, deletions, removeDeleted);

  const remove: typeof library.remove = async (name, conditions) => {
    await library.remove(name, conditions);
    renditions.look();
    deleted.emit();
    void removal.run();
  };

  /** What a name stands for since its file was renamed; undefined: nothing, or a box has a newer file of that name. */
  const aliasOf = (name: string): string | undefined =>
    site.newest(name) > deletions.at(name) ? undefined : deletions.renamedTo(name);

  /** Known files of this box are not asked for by what they were once called. */
  const currentName = (name: string): string => {
    const to = aliasOf(name);
    return to === undefined || served.some((folder) => folders.has(join(folder, name))) ? name : to;
  };

  const openOr = async (name: string, otherwise: () => ReturnType<typeof library.open>) =>
    library.open(name).catch((error: unknown) => {
      if (error instanceof CodedError && error.code === 'file_not_found') return otherwise();
      throw error;
    });
  const openSoon: typeof library.open = (name) =>
    openOr(name, () => {
      const to = aliasOf(name) ?? name;
      return openOr(to, async () => {
        await site.arrival(to);
        return library.open(to);
      });
    });

  const rename = async (signer: Signer | null, name: string, to: string): Promise<UploadResult> => {
    permission.checkRename(signer, name, to);
    if (mediaTypeOf(to) !== mediaTypeOf(name)) {
      const message = `The new name must end as the old one does: ${extname(name) || 'without a dot'}.`;
      throw new CodedError('invalid_field', message, { field: 'to' });
    }
    const result = await library.rename(name, to);
    await permission.noteRename(name, to);
    renditions.look();
    deleted.emit();
    return result;
  };

  const prune = async (): Promise<void> => {
    await removal.run();
    await downloads.sweep();
    if (!siteTime.isConfirmed()) return;
    await deletions.prune();
    await lost.prune();
  };
  const pruneOrLog = (): void => {
    prune().catch((error: unknown) =>
      log.warn({ err: error }, 'old records, lost uploads and partial files could not be deleted'),
    );
  };
  let pruneTimer: NodeJS.Timeout | undefined;

  return {
    routes: {
      ...mediaRoutes({ ...library, remove, open: openSoon }, renditions, permission),
      ...copyRoutes(context, copies, renditions),
    },
    health: async () => ({
      contentWarnings: await renditions.warnings({ uses: content.mediaUses(), remoteUses: content.remoteUses() }),
      fields: { copies: copies.status() },
      issues: { media: heldIssues(copies.held(), limits.heldReason()) },
      notes: service.confined.notes(),
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
          renditions: bytesIn(renditionsDir),
        },
        signage_conversions_total: renditions.counts().results,
        signage_renditions: renditions.counts().states,
      };
    },
    /**
     * Opens a file for reading; the caller closes it.
     * @param name that {@link mediaNameOf} has returned
     * @throws CodedError `file_not_found`
     */
    open: library.open,
    /** The rendition that is ready for an open file; null: there is none. */
    openRendition: (name: string, medium: OpenMedium): Promise<OpenRendition | null> =>
      renditions.find(name, medium).then(
        ({ made }) => made,
        () => null,
      ),
    /** The state of the rendition of a listed file. */
    renditionOf: renditions.statusOf,
    /** Calls `listener` when a rendition has become ready or has failed. */
    onRendition: renditions.onReady,
    /** One warning for each medium of a content that cannot be shown, at its first mention. */
    failedIn: (file: ContentFile): Promise<ContentIssue[]> =>
      renditions.warnings({ uses: deletions.withRenamedKeys(mediaUses(file)), remoteUses: remoteUses(file) }),
    /**
     * SHA-256 of the medium at an address (`/media/NAME`, or a remote one that has a copy), hex; null: there is none, or it
     * was replaced after `time`, ms since the epoch.
     */
    digestAt: async (address: string, time: number): Promise<string | null> => {
      const files = await folders.read();
      const copy = copies.digestOf(address);
      const name = copy ?? currentName(mediaNameIn(address) ?? '');
      for (const folder of copy === undefined ? served : [copiesDir]) {
        const found = files.get(folder)?.get(name);
        if (found === undefined) continue;
        return found.mtimeMs > time ? null : (copy ?? catalog.hashOf(join(folder, name), found) ?? null);
      }
      return null;
    },
    /** All media files whose metadata is known, by name. Files put there by hand are listed after `maxAgeMs`; default: a minute. */
    list: (maxAgeMs = KEPT_MS): Promise<MediaEntry[]> => catalog.list(maxAgeMs),
    /** Disk usage of all media files, and its limit, bytes. */
    usage: async (): Promise<{ bytes: number; quota: number }> => ({
      bytes: await folders.bytes(),
      quota: storage.quota,
    }),
    unread: catalog.unread,
    onLearn: catalog.onLearn,
    /**
     * Fetches a file of a peer into the media directory as {@link Downloads.want} does, where it replaces an
     * older upload. The file is evicted when space runs short and the content no longer names it.
     */
    replicate: async (wanted: Wanted): Promise<void> => {
      await evictable.add(wanted.name, () => downloads.want(wanted));
      await library.giveWay(wanted.name);
      // It may have been deleted meanwhile.
      await library.removeDeleted(wanted.name);
      // Until here there may have been an older upload, which is served before copies.
      feeds.reread(wanted.name);
    },
    /** The media that were deleted, at the whole site. */
    deletions: {
      list: deletions.list,
      /** The record of a name. */
      get: deletions.get,
      /** The names, and those that their files have since they were renamed. */
      withRenamed: deletions.withRenamed,
      /** When a medium was deleted, ms since the epoch; 0: it was not. */
      at: deletions.at,
      /** Stores the newer records of another box; the files here are removed soon. @returns whether any was new */
      merge: async (theirs: readonly MediaDeletion[]): Promise<boolean> => {
        const files = await folders.read();
        const isCovered = ({ name, deletedAt }: MediaDeletion): boolean =>
          served.some((folder) => {
            const file = files.get(folder)?.get(name);
            return file !== undefined && dateOf(file) <= Date.parse(deletedAt);
          });
        const added = await deletions.add(validDeletions(theirs), isCovered);
        // The files that are renamed have their new names when this resolves.
        const removing = removal.run();
        if (added.some(({ renamed }) => renamed !== undefined)) await removing;
        return added.length > 0;
      },
      /**
       * Sets the date of a file to now, if it is implausible or not after the deletion of its name.
       * @returns false where the file is to be removed instead
       */
      redate: async (name: string): Promise<boolean> => {
        if (deletions.isDue(name)) return false;
        await library.redate(name);
        return true;
      },
      /** SHA-256 (hex) of all records. */
      digest: deletions.digest,
      /** Calls `listener` when a medium was deleted here. */
      onDelete: deleted.on,
    },
    /**
     * Gives a file of this box another name; boxes follow by {@link deletions}, and its old name goes on to stand for it. Can
     * be done again.
     * @throws CodedError `role_required`, `out_of_scope`, `file_not_found`, `name_taken`, `invalid_field`, `insufficient_storage`
     */
    rename,
    /** What a medium is called now, if it was renamed and no file has its old name; else `name`. */
    currentName,
    /** Where a file must lie to be adopted: on the disk of the uploads. */
    spoolFolder: uploadDir,
    /** @throws CodedError `insufficient_storage` if the disk of {@link spoolFolder} has no room for the bytes */
    requireSpool: (bytes: number): Promise<void> => storage.requireDisk(uploadDir, bytes),
    /** @throws CodedError `insufficient_storage` if files below {@link spoolFolder} do not fit where those of their names give way */
    requireAdoption: async (files: readonly { name: string; size: number; sha256: string }[]): Promise<void> => {
      const found = (await folders.read()).get(uploadDir);
      const sum = (sizes: readonly number[]): number => sizes.reduce((bytes, size) => bytes + size, 0);
      // On the disk each lies once, whatever its names.
      const spooled = sum([...new Map(files.map(({ sha256, size }) => [sha256, size])).values()]);
      const replaced = sum(files.map(({ name }) => found?.get(name)?.size ?? 0));
      await storage.require(uploadDir, sum(files.map(({ size }) => size)) - spooled, replaced - spooled);
    },
    /**
     * Makes files below {@link spoolFolder} uploads of now, all of them or none.
     * @param folder for what they replace, until they are all there
     * @returns puts back what was there before
     */
    adopt: library.adopt,
    /**
     * Puts back what an interrupted {@link adopt} has replaced, from the folder that it was given.
     * @param names of its files, in their order; what was replaced under a name that is not there goes to `.lost`
     */
    endAdoption: library.endAdoption,
    /**
     * Moves a file that the site does not have to `.lost`, if it is the one of the hash.
     * @returns whether it is
     * @throws the system's error; then the file is where it was
     */
    setAside: library.setAside,
    /** Names of the uploads that lost against a file of another box and are kept. */
    lost: lost.list,
    /** Sets the source of the media of other boxes. Until this is called, there are none. */
    followSite: (source: SiteMedia): void => {
      site = source;
    },
    /** Sets the source of the site's time. Until this is called, the clock of this box is used. */
    followClock: (source: SiteTime): void => {
      siteTime = source;
    },
    heldReason: limits.heldReason,
    /** Calls `listener` when the hours begin in which media are fetched. */
    onFetchHours: limits.onOpen,
    start: () => {
      limits.start();
      copies.start();
      void removal.run();
      renditions.look();
      // Nothing at the start, when the clock may still be wrong.
      pruneTimer = setInterval(pruneOrLog, tempo.media.prune).unref();
    },
    close: async () => {
      clearInterval(pruneTimer);
      limits.close();
      copies.close();
      await removal.close();
      // The renditions that are being fetched end with the downloads.
      await Promise.all([renditions.close(), downloads.close()]);
    },
  } satisfies Module & Record<string, unknown>;
};
