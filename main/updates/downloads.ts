/** Finds a newer version, wherever it is near, and brings it here. */
import type { KeyObject } from 'node:crypto';
import { copyFile, link, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { AppUpdater } from 'electron-updater';
import type { Logger } from 'pino';
import { type Metadata, signedFeed } from './feed.ts';

export interface Ready {
  version: string;
  /** The verified installer. */
  file: string;
}

interface Dependencies {
  updater: AppUpdater;
  log: Logger;
  /** What this build trusts. */
  key: KeyObject;
}

interface DownloadOptions {
  /** Where a whole release is kept for the installer and for other boxes: metadata, signature, file. */
  readyDir: string;
}

export interface Sources {
  /** The address of the release folder; null: there is none but the boxes. */
  feed: string | null;
  /** Release folders of other boxes. */
  peers: readonly string[];
  /** `latest`, or the name of a channel such as `beta`. */
  channel: string;
}

/** Other boxes that are asked at most. */
const MOST_PEERS = 3;

export interface Downloads {
  /**
   * The newest version that `feed` offers, taken from a box nearby where one has it; where the feed can't be reached,
   * what the boxes have.
   * @param wanted whether a version is to be had
   * @returns null where there is nothing newer
   * @throws Error where nothing could be asked, or a version was found and none of its sources is sound
   */
  fetch(sources: Sources, wanted: (version: string) => boolean): Promise<Ready | null>;
}

export const createDownloads = ({ updater, log, key }: Dependencies, { readyDir }: DownloadOptions): Downloads => {
  updater.autoDownload = false;
  updater.autoInstallOnAppQuit = false;
  updater.disableDifferentialDownload = true;
  updater.disableWebInstaller = true;
  updater.logger = {
    info: (message) => log.debug(String(message)),
    warn: (message) => log.warn(String(message)),
    // What fails is thrown too, and told once.
    error: (message) => log.debug(String(message)),
  };

  let metadata: Metadata | null = null;
  /** What a folder has that is newer than this build; null: nothing. */
  const look = async (url: string): Promise<string | null> => {
    updater.setFeedURL(
      signedFeed(url, key, (read) => {
        metadata = read;
      }),
    );
    const found = await updater.checkForUpdates();
    return found?.isUpdateAvailable ? found.updateInfo.version : null;
  };

  /** Downloads what was looked at last, checked by its hash, and puts it in its place as a whole release. */
  const take = async (version: string): Promise<Ready> => {
    const [downloaded] = await updater.downloadUpdate();
    if (downloaded === undefined || metadata === null) throw new Error(`nothing was downloaded for ${version}`);
    const next = `${readyDir}.next`;
    await rm(next, { recursive: true, force: true });
    await mkdir(next, { recursive: true });
    const name = basename(downloaded);
    await link(downloaded, join(next, name)).catch(() => copyFile(downloaded, join(next, name)));
    await writeFile(join(next, metadata.fileName), metadata.text);
    await writeFile(join(next, `${metadata.fileName}.sig`), `${metadata.signature}\n`);
    await rm(readyDir, { recursive: true, force: true });
    await rename(next, readyDir);
    return { version, file: join(readyDir, name) };
  };

  return {
    fetch: async ({ feed, peers, channel }, wanted) => {
      updater.channel = channel;
      // Naming a channel allows it.
      updater.allowDowngrade = false;
      const errors: unknown[] = [];
      const attempt = async <Result>(work: () => Promise<Result>): Promise<Result | null> => {
        try {
          return await work();
        } catch (error) {
          errors.push(error);
          log.info({ err: error }, 'a source of updates was of no use');
          return null;
        }
      };
      const offered = feed === null ? null : await attempt(() => look(feed));
      const isFeedSilent = feed === null || errors.length > 0;
      if (!isFeedSilent && (offered === null || !wanted(offered))) return null;

      for (const url of [...peers.slice(0, MOST_PEERS), ...(offered === null || feed === null ? [] : [feed])]) {
        const ready = await attempt(async () => {
          const version = await look(url);
          const isRight = version !== null && (offered === null ? wanted(version) : version === offered);
          return isRight ? await take(version) : null;
        });
        if (ready !== null) return ready;
      }
      if (errors.length > 0) throw errors[0];
      return null;
    },
  };
};
