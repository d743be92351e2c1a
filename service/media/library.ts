import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { checkBody } from '../auth/signatures.ts';
import { CodedError } from '../contract/errors.ts';
import type { UploadResult } from '../contract/media.ts';
import type { MediaDeletion } from '../contract/peers.ts';
import { isMediaName } from '../domain/media-names.ts';
import { isPlausibleTime } from '../domain/merge.ts';
import type { EpochMs } from '../domain/time.ts';
import { areMet, type Conditions } from '../http/conditions.ts';
import type { Options } from '../platform/options/index.ts';
import { createQueue } from '../platform/queue.ts';
import { codeOf, isFull, systemDisk } from '../platform/store/disk.ts';
import { type Adoption, createAdoption } from './adoption.ts';
import type { Catalog } from './catalog.ts';
import type { MediaContext } from './context.ts';
import { type Deletions, lastRenaming } from './deletions.ts';
import { dateOf, fingerprint } from './folders.ts';
import { inspect } from './inspect.ts';
import type { LostUploads } from './lost.ts';
import { createNames, isOneFile, isRespelled } from './names.ts';
import { endReplacements, placeFile } from './place.ts';
import type { StorageQuota } from './quota.ts';
import { receive } from './receive.ts';
import { createOpener, fileAt } from './serve.ts';

interface Context extends Pick<MediaContext, 'dirs' | 'folders' | 'hasher' | 'now' | 'log' | 'release'> {
  options: Pick<Options, 'maxUploadBytes'>;
}

interface Dependencies {
  catalog: Pick<Catalog, 'record' | 'hashOf' | 'again'>;
  storage: Pick<StorageQuota, 'require'>;
  /** The modification time of the newest file of a name, here or on a peer; 0: there is none. */
  newest(name: string): EpochMs;
  deletions: Pick<Deletions, 'add' | 'get'>;
  lost: Pick<LostUploads, 'keep'>;
  /** Copies of peers' media in the media directory. */
  copies: {
    has(name: string): boolean;
    add(name: string, write: () => Promise<unknown>): Promise<void>;
    remove(name: string): Promise<void>;
    forget(name: string): Promise<void>;
  };
  /** Whether another box has a file of that name. @param mayAsk default: true; otherwise only the lists of the boxes tell */
  isElsewhere(name: string, mayAsk?: boolean): Promise<boolean>;
}

interface Upload {
  /** The Content-Length; null if the client sends none. */
  expectedLength: number | null;
  /** The SHA-256 (hex) in the request's signature; null for an unsigned request. */
  bodySha256: string | null;
  conditions: Conditions;
  /** Whether the client may write the name: before the body arrives, and after that, as the file takes its place. @throws CodedError */
  checkPermission(moment: 'before' | 'after'): Promise<void>;
}

/** An upload that is synced to disk. */
interface Written {
  result: UploadResult;
  /** Whether no box served anything under this name before, as far as is known here. */
  isNew: boolean;
  /** The RFC 9110 entity tag that the file is served with, without the quotes. */
  etag: string;
}

export type Library = Awaited<ReturnType<typeof createLibrary>>;

const LEFTOVER = /^\.(upload|restore)-[0-9a-f-]{36}$/;

const isSameFile = (a: Stats, b: Stats): boolean => a.ino !== 0 && a.ino === b.ino && a.dev === b.dev;

/** Converts a file system error into an API error where the client can act on it. */
const toCodedError = (error: unknown): unknown => {
  if (isFull(error)) return new CodedError('insufficient_storage', undefined, { cause: error });
  if (!['EISDIR', 'ENAMETOOLONG'].includes(codeOf(error) ?? '')) return error;
  const message = 'The file system does not accept this file name.';
  return new CodedError('invalid_field', message, { field: 'filename', cause: error });
};

/**
 * The media files of this box: the upload directory, which clients write to, and the media directory, which holds
 * copies of remote media. Both must exist. Ends interrupted uploads at the start. Every `name` must have passed `mediaName`.
 */
export const createLibrary = async (
  { options, dirs, folders, hasher, now, log, release }: Context,
  { catalog, storage, newest, deletions, lost, copies, isElsewhere }: Dependencies,
) => {
  const { maxUploadBytes } = options;
  const { uploads: uploadDir, media: mediaDir } = dirs;
  for (const folder of new Set([uploadDir, mediaDir])) {
    const found = await readdir(folder);
    await endReplacements(folder, found, log);
    for (const name of found) {
      if (!LEFTOVER.test(name)) continue;
      await rm(join(folder, name), { recursive: true, force: true }).then(
        () => log.info({ name }, 'deleted the temporary file of an interrupted upload'),
        (error: unknown) => log.warn({ err: error, name }, 'the temporary file of an upload could not be deleted'),
      );
    }
  }

  const names = createNames({ folders }, { catalog, storage });

  /** Serializes changes, so that the file that a condition was checked against is the one that is changed. */
  const enqueue = createQueue();

  /** The `stat` of the file that `/media/{name}` serves; null: there is none. */
  const current = async (name: string): Promise<Stats | null> => {
    for (const folder of [uploadDir, mediaDir]) {
      const stats = await fileAt(folder, name);
      if (stats !== null) return stats;
    }
    return null;
  };

  /** @throws `precondition_failed` */
  const checkConditions = async (name: string, conditions: Conditions, mayAsk = false): Promise<void> => {
    const stats = await current(name);
    const isTaken = stats === null && conditions.noneMatch === '*' && (await isElsewhere(name, mayAsk));
    if (isTaken || !areMet(conditions, stats && `"${fingerprint(stats)}"`)) throw new CodedError('precondition_failed');
  };

  /** Puts an upload in its place. */
  const place = async (temporary: string, name: string): Promise<void> => {
    if (uploadDir === mediaDir) await copies.forget(name);
    await placeFile(temporary, join(uploadDir, name), release);
  };

  const removeFile = async (folder: string, name: string): Promise<void> => {
    await rm(join(folder, name), { force: true });
    await systemDisk.syncFolder(folder);
    await folders.changed(join(folder, name));
  };

  /** Removes an upload, or moves it to `.lost` if its bytes are not those of `sha256`. */
  const discardUpload = async (name: string, upload: Stats, sha256: string | null | undefined): Promise<void> => {
    // What reads it may hold it, as for `placeFile`.
    await release(join(uploadDir, name));
    const isSame = sha256 != null && catalog.hashOf(join(uploadDir, name), upload) === sha256;
    const reason = 'an upload lost to a newer file or deletion of its name';
    await (isSame ? removeFile(uploadDir, name) : lost.keep(join(uploadDir, name), reason));
  };

  const hashOf = async (path: string, stats: Stats): Promise<string> =>
    catalog.hashOf(path, stats) ?? (await hasher.hashFile(path).digest(stats.size));

  /** Follows a renaming by another box: what has its bytes gets the new name, unless a newer file or deletion has it. */
  const followRenaming = async (folder: string, stats: Stats, deletion: MediaDeletion): Promise<void> => {
    const { name, sha256 } = deletion;
    const renamed = lastRenaming(deletions, deletion);
    if (renamed === undefined || !isMediaName(renamed.to)) return;
    const { to, modifiedAt } = renamed;
    const path = join(folder, name);
    if ((await hashOf(path, stats)) !== sha256) return;
    if (newest(to) > Date.parse(modifiedAt)) return;
    if (to === name) {
      await utimes(path, new Date(modifiedAt), new Date(modifiedAt));
      const dated = await stat(path);
      await folders.changed(path);
      catalog.again(path, stats, path, dated);
      return;
    }
    const isUpload = folder !== uploadDir && (await fileAt(uploadDir, to)) !== null;
    const isOne = !isUpload && (await isOneFile(folder, name, to));
    if (!isOne && (await current(to)) !== null) return;
    // The old name would not be covered by its deletion any more, and come back.
    const isApart = modifiedAt > deletion.deletedAt;
    const date = new Date(modifiedAt);
    const add = (): Promise<void> =>
      isOne
        ? names.respell(folder, name, to, date)
        : names.addName(path, stats, join(folder, to), { modifiedAt: date, isApart });
    await (folder === mediaDir && copies.has(name) ? copies.add(to, add) : add());
  };

  const removeDeleted = async (name: string): Promise<void> => {
    const deletion = deletions.get(name);
    const { deletedAt, sha256 } = deletion ?? { deletedAt: '', sha256: null };
    const isCovered = (stats: Stats | null): stats is Stats => stats !== null && dateOf(stats) <= Date.parse(deletedAt);
    if (deletion?.renamed !== undefined) {
      for (const folder of [uploadDir, mediaDir]) {
        const stats = await fileAt(folder, name);
        if (isCovered(stats)) await followRenaming(folder, stats, deletion);
      }
      // It has come back to its name.
      if (lastRenaming(deletions, deletion)?.to === name && !isCovered(await current(name))) return;
    }
    const to = deletion?.renamed?.to ?? name;
    const ownAt = async (folder: string) => ((await isRespelled(folder, name, to)) ? null : fileAt(folder, name));
    if (await isRespelled(mediaDir, name, to)) await copies.forget(name);
    // The name may share a date with its new one since.
    const [upload, copy] = [await ownAt(uploadDir), await ownAt(mediaDir)];
    if (isCovered(upload)) await discardUpload(name, upload, sha256);
    if (isCovered(copy)) await copies.remove(name);
  };

  /** Of a file that is here. */
  const resultOf = async (name: string): Promise<UploadResult> => {
    const path = join((await fileAt(uploadDir, name)) === null ? mediaDir : uploadDir, name);
    const { mediaType, size } = await inspect(path, name);
    const sha256 = await hashOf(path, await stat(path));
    return { filename: name, size, sha256, url: `/media/${encodeURIComponent(name)}`, media_type: mediaType };
  };

  const isPutByHand = (name: string, copy: Stats | null): boolean =>
    copy !== null && mediaDir !== uploadDir && !copies.has(name);

  const remove = async (
    name: string,
    conditions: Conditions,
    renaming?: Pick<MediaDeletion, 'renamed' | 'sha256'>,
  ): Promise<void> => {
    const [upload, copy] = [await fileAt(uploadDir, name), await fileAt(mediaDir, name)];
    const isByHand = isPutByHand(name, copy);
    if (upload === null && (isByHand || (copy === null && !(await isElsewhere(name))))) {
      throw new CodedError('file_not_found');
    }
    await checkConditions(name, conditions);
    // A folder that takes no writes would go on serving what is deleted.
    if (upload !== null) await access(uploadDir, constants.W_OK);
    const newestHere = Math.ceil(Math.max(upload?.mtimeMs ?? 0, copy?.mtimeMs ?? 0));
    const at = new Date(Math.max(now(), newest(name) + 1, newestHere + 1));
    if (isByHand) {
      await utimes(join(mediaDir, name), at, at);
      await removeFile(uploadDir, name);
      return;
    }
    const [path, stats] = upload === null ? [join(mediaDir, name), copy] : [join(uploadDir, name), upload];
    const sha256 = stats === null ? null : (catalog.hashOf(path, stats) ?? null);
    await deletions.add([{ name, deletedAt: at.toISOString(), sha256, ...renaming }]);
    const isGone = upload === null || (await isRespelled(uploadDir, name, renaming?.renamed?.to ?? name));
    await (isGone ? Promise.resolve() : removeFile(uploadDir, name))
      .then(() => removeDeleted(name))
      .catch((error: unknown) => log.warn({ err: error, name }, 'a deleted medium could not be removed at once'));
  };

  const adoption = createAdoption({ dirs, folders, now }, { catalog, newest, lost, place, enqueue });

  return {
    folders: { uploadDir, mediaDir },

    /** Whether there is a file of that name, here or on another box. */
    exists: async (name: string): Promise<boolean> => (await current(name)) !== null || isElsewhere(name),

    /**
     * Writes a file atomically and resolves once it would survive a power cut. Of two concurrent writes to one name, the
     * one that finishes last wins.
     *
     * @throws `payload_too_large`, `insufficient_storage`, `request_timeout`, `signature_invalid`, `invalid_request`,
     *   `precondition_failed`, and as `checkPermission`
     */
    async write(name: string, stream: Readable, upload: Upload): Promise<Written> {
      const { expectedLength, bodySha256, conditions, checkPermission } = upload;
      const check = async (moment: 'before' | 'after'): Promise<void> => {
        // A file that replaces nothing needs no right to replace; the sender hears that the name is taken.
        const isOnlyNew = conditions.noneMatch === '*';
        if (!isOnlyNew) await checkPermission(moment);
        await checkConditions(name, conditions, moment === 'before');
        if (isOnlyNew) await checkPermission(moment);
      };
      if (expectedLength !== null && expectedLength > maxUploadBytes) {
        throw new CodedError('payload_too_large', `The file is larger than ${maxUploadBytes} bytes.`);
      }
      await check('before');
      const temporary = join(uploadDir, `.upload-${randomUUID()}`);
      const path = join(uploadDir, name);
      const { size: replaced } = await systemDisk.stat(path).catch(() => ({ size: 0 }));
      const requireRoom = async (): Promise<void> => {
        await folders.changed(temporary);
        await storage.require(uploadDir, 0, replaced);
      };
      try {
        await storage.require(uploadDir, expectedLength ?? 0, replaced);
        const { size, sha256 } = await receive(stream, temporary, {
          limit: maxUploadBytes,
          hashFile: hasher.hashFile,
          requireRoom,
        });
        checkBody(sha256, bodySha256);
        // Concurrent uploads may each have been promised the same free space.
        await requireRoom();
        // A later upload counts as newer, also if a clock was set back.
        const time = new Date(Math.max(now(), newest(name) + 1));
        await utimes(temporary, time, time);
        const facts = await inspect(temporary, name);
        const isNew = await enqueue(async () => {
          // The name may have been taken while the body arrived.
          await check('after');
          const before = await current(name);
          await place(temporary, name);
          return before === null && !(await isElsewhere(name, false));
        });
        await systemDisk.syncFolder(uploadDir);
        await folders.changed(temporary, path);
        catalog.record(path, { ...facts, sha256 });
        const url = `/media/${encodeURIComponent(name)}`;
        const result = { filename: name, size, sha256, url, media_type: facts.mediaType };
        return { result, isNew, etag: facts.fingerprint };
      } catch (error) {
        await rm(temporary, { force: true });
        await folders.changed(temporary);
        throw toCodedError(error);
      }
    },

    /**
     * Deletes a medium at the whole site: an upload, or a file that another box has. A file that was put into the media
     * directory by hand is not deleted, and replaces an upload of its name. What can't be removed at once stays due.
     * @throws `file_not_found`, `precondition_failed`
     */
    remove: (name: string, conditions: Conditions): Promise<void> => enqueue(() => remove(name, conditions)),

    /**
     * Gives a file of this box another name at the whole site. The old one goes on to stand for it, as
     * {@link Deletions.renamedTo} tells. A file that has that name since it was renamed is left as it is.
     * @throws `file_not_found`, `name_taken`, `invalid_field`, `insufficient_storage`
     */
    async rename(name: string, to: string): Promise<UploadResult> {
      // Asks the other boxes, and so is not done while uploads wait.
      const isTaken = await isElsewhere(to);
      return enqueue(async () => {
        const [upload, copy] = [await fileAt(uploadDir, name), await fileAt(mediaDir, name)];
        const [folder, stats] = upload === null ? [mediaDir, copy] : [uploadDir, upload];
        if (stats === null && deletions.get(name)?.renamed?.to === to && (await current(to)) !== null)
          return resultOf(to);
        if (stats === null) {
          const message = 'This box has no file with this name. Another box has it: rename it there.';
          throw new CodedError('file_not_found', (await isElsewhere(name)) ? message : undefined);
        }
        if (isPutByHand(name, copy)) {
          throw new CodedError('file_not_found', 'The file was put into the media folder by hand; rename it there.');
        }
        const taken = await fileAt(uploadDir, to);
        const isOne = await isOneFile(folder, name, to);
        // A second name of the file, which an interrupted renaming has left.
        if (taken !== null && isSameFile(taken, stats) && !isTaken && !isOne) await removeFile(uploadDir, to);
        if (isTaken || (!isOne && (await current(to)) !== null)) {
          throw new CodedError('name_taken', undefined, { field: 'to' });
        }
        const path = join(folder, name);
        const target = join(uploadDir, to);
        const sha256 = await hashOf(path, stats);
        const modifiedAt = new Date(Math.max(dateOf(stats), newest(to) + 1));
        const isRespelling = isOne && folder === uploadDir;
        try {
          if (isRespelling) await names.respell(folder, name, to, modifiedAt);
          else await names.addName(path, stats, target, { modifiedAt });
          const renamed = { to, modifiedAt: modifiedAt.toISOString() };
          await remove(name, { match: '', noneMatch: '' }, { sha256, renamed });
        } catch (error) {
          if (isRespelling) await names.respell(folder, to, name, new Date(dateOf(stats)));
          else if (codeOf(error) !== 'EEXIST') await removeFile(uploadDir, to);
          throw error;
        }
        return resultOf(to);
      }).catch((error: unknown) => {
        if (codeOf(error) === 'EEXIST') throw new CodedError('name_taken', undefined, { field: 'to' });
        throw toCodedError(error);
      });
    },

    /**
     * As {@link Adoption.adopt}.
     * @throws `insufficient_storage`, `invalid_field`
     */
    adopt: (...given: Parameters<Adoption['adopt']>) =>
      adoption.adopt(...given).catch((error: unknown) => {
        throw toCodedError(error);
      }),
    endAdoption: adoption.endAdoption,

    /** Removes the files here that a deletion by any box covers. @throws the system's error */
    removeDeleted: (name: string): Promise<void> => enqueue(() => removeDeleted(name)),

    /** Removes an upload of which the media directory has a copy at least as new; if its bytes differ, moves it to `.lost`. */
    async giveWay(name: string): Promise<void> {
      await enqueue(async () => {
        const [upload, copy] = [await fileAt(uploadDir, name), await fileAt(mediaDir, name)];
        if (upload === null || copy === null || dateOf(copy) < dateOf(upload)) return;
        // One folder may be for both.
        if (uploadDir === mediaDir || isSameFile(upload, copy)) return;
        await discardUpload(name, upload, catalog.hashOf(join(mediaDir, name), copy));
      });
    },

    /**
     * Moves the file that `/media/{name}` serves to `.lost`, if it is the one of the hash.
     * @returns whether it is
     * @throws the system's error; then the file is where it was
     */
    async setAside(name: string, sha256: string): Promise<boolean> {
      return enqueue(async () => {
        for (const folder of [uploadDir, mediaDir]) {
          const stats = await fileAt(folder, name);
          if (stats === null) continue;
          const path = join(folder, name);
          if (catalog.hashOf(path, stats) !== sha256) return false;
          await lost.keep(path, 'a medium that the site does not have was older than the absence of this box');
          if (folder === mediaDir) await copies.remove(name);
          return true;
        }
        return false;
      });
    },

    /** Dates a file to now, if its date is implausible, or not after the deletion of its name; one that was here before that goes. */
    async redate(name: string): Promise<void> {
      await enqueue(async () => {
        const deletion = deletions.get(name);
        const deletedAt = Date.parse(deletion?.deletedAt ?? '') || 0;
        const isKept = (stats: Stats): boolean => dateOf(stats) > deletedAt && isPlausibleTime(dateOf(stats), now());
        const time = new Date(Math.max(now(), newest(name) + 1));
        for (const folder of [uploadDir, mediaDir]) {
          const stats = await fileAt(folder, name);
          if (stats === null || isKept(stats)) continue;
          const isCopy = folder === mediaDir && copies.has(name);
          // What was put there since may have an old date, but its inode has changed.
          const cameAt = now() - (Date.now() - stats.ctimeMs);
          const isGone = (isCopy || (cameAt <= deletedAt && deletedAt <= now())) && dateOf(stats) <= deletedAt;
          const path = join(folder, name);
          // Not all file systems tell when an inode changed.
          const isDoubtful = folder === mediaDir && !isCopy && !deletion?.renamed;
          if (isGone) await (isDoubtful ? lost.keep(path, 'it was deleted before') : removeDeleted(name));
          else {
            await utimes(path, time, time);
            await folders.changed(path);
          }
        }
      });
    },

    open: createOpener([uploadDir, mediaDir], catalog),
  };
};
