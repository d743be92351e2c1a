/** Finds and downloads a newer version, from a nearby box if possible, and verifies its signature. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { copyFile, link, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import { basename, dirname, join } from 'node:path';
import type { AppUpdater, UpdateInfo } from 'electron-updater';
import type { ElectronHttpExecutor } from 'electron-updater/out/electronHttpExecutor.js';
import generic from 'electron-updater/out/providers/GenericProvider.js';
import type { ProviderRuntimeOptions } from 'electron-updater/out/providers/Provider.js';
import type { Logger } from 'pino';
import { systemDisk } from '../../service/public.ts';

/**
 * Reads the public key of a build.
 * @param pem an Ed25519 public key (RFC 8410, SubjectPublicKeyInfo) as PEM
 * @throws Error if it is not one
 */
export const readPublicKey = (pem: string): KeyObject => {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the update key is not an Ed25519 public key');
  return key;
};

/** Verifies a detached signature (RFC 8032, base64, surrounding white space allowed). */
export const isSigned = (text: string, signature: string, key: KeyObject): boolean =>
  verify(null, Buffer.from(text), key, Buffer.from(signature.trim(), 'base64'));

/** Signed metadata, as other boxes download them from this box. */
export interface Metadata {
  /** For example `latest-linux.yml`. */
  fileName: string;
  text: string;
  /** Base64. */
  signature: string;
}

/**
 * A release folder as a provider of electron-updater. Each metadata file has a detached signature, `NAME.sig`. The metadata
 * contain the hash of the installer, so only signed installers are run.
 * @param onMetadata called with the metadata that were verified
 * @param kind what the names of the metadata end with; absent: the platform's, such as `linux`
 */
export const signedFeed = (
  url: string,
  key: KeyObject,
  onMetadata: (metadata: Metadata) => void,
  kind: string | undefined,
) => {
  class SignedProvider extends generic.GenericProvider {
    constructor(_options: unknown, updater: AppUpdater, runtime: ProviderRuntimeOptions) {
      super({ provider: 'generic', url }, updater, { ...runtime, isUseMultipleRangeRequest: false });
    }

    protected override getCustomChannelName(channel: string): string {
      return kind === undefined ? super.getCustomChannelName(channel) : `${channel}-${kind}`;
    }

    protected override async httpRequest(from: URL, headers?: OutgoingHttpHeaders | null): Promise<string | null> {
      const signatureUrl = new URL(from);
      signatureUrl.pathname += '.sig';
      const text = (await super.httpRequest(from, headers)) ?? '';
      const signature = ((await super.httpRequest(signatureUrl, headers)) ?? '').trim();
      if (!isSigned(text, signature, key)) {
        throw new Error(`${from.href} is not signed with the key of this build; nothing is installed from there`);
      }
      onMetadata({ fileName: from.pathname.slice(from.pathname.lastIndexOf('/') + 1), text, signature });
      return text;
    }
  }
  return { provider: 'custom' as const, updateProvider: SignedProvider };
};

/** Of a metadata file or its signature. */
const MAX_METADATA_BYTES = 2 ** 20;

/** What a source has to send within a deadline, so that one that trickles does not keep the others from being asked. */
const LEAST_BYTES = 2 ** 20;

/**
 * Gives the requests of an updater an end. Its own timeout needs an event of Node's that Electron's requests do not have, and a
 * download that it cancels is still read and written.
 * @returns runs work whose answers have at most some bytes each, and which ends unless {@link LEAST_BYTES} come in time
 */
const boundRequests = (executor: ElectronHttpExecutor) => {
  let most = 0;
  let received = 0;
  let { signal } = new AbortController();
  let end = (_reason: Error): void => {};
  const createRequest = executor.createRequest.bind(executor);
  executor.createRequest = (options, answer) => {
    const request = createRequest(options, answer);
    const current = signal;
    const stop = (): void => {
      request.abort();
      // Not every request tells that it was aborted.
      request.emit('error', current.reason);
    };
    if (current.aborted) process.nextTick(stop);
    else current.addEventListener('abort', stop, { once: true });
    request.on('response', (response) => {
      let bytes = 0;
      // The file that is written stays open until its source ends, and keeps its space though it was removed.
      const close = () => response.emit('end');
      current.addEventListener('abort', close, { once: true });
      response.on('data', (chunk) => {
        bytes += chunk.length;
        received += chunk.length;
        if (bytes > most) end(new Error('it sends more than the size of the release'));
      });
      response.on('end', () => {
        for (const listener of [stop, close]) current.removeEventListener('abort', listener);
      });
    });
    return request;
  };

  return async <Result>(mostBytes: number, ms: number, work: () => Promise<Result>): Promise<Result> => {
    const controller = new AbortController();
    signal = controller.signal;
    end = (reason) => controller.abort(reason);
    most = mostBytes;
    received = 0;
    const timer = setInterval(() => {
      if (received < LEAST_BYTES) end(new Error('it does not answer, or too slowly'));
      received = 0;
    }, ms);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      end(new Error('it is not needed any more'));
    }
  };
};

export interface ReadyUpdate {
  version: string;
  /** The path of the verified installer. */
  file: string;
}

interface Dependencies {
  updater: AppUpdater;
  log: Logger;
  /** The public key that releases are signed with. */
  key: KeyObject;
  /** Tells the free bytes where a folder is; absent: the machine's. */
  disk?: Pick<typeof systemDisk, 'free'>;
}

interface DownloadOptions {
  /** The folder of the downloaded release, for the installer and for other boxes: metadata, signature, package. */
  readyDir: string;
  /** As that of {@link signedFeed}. */
  kind?: string | undefined;
  /** How long a source may take for its metadata, and for each MiB of a release, in ms. */
  patience?: { check: number; download: number };
}

const PATIENCE = { check: 60_000, download: 300_000 };

export interface Sources {
  /** The URL of the release folder; null: other boxes are the only sources. */
  feed: string | null;
  /** The URLs of the release folders of other boxes. */
  peers: readonly string[];
  /** `latest`, or the name of a channel such as `beta`. */
  channel: string;
}

/**
 * Whether a version may come by a channel: plain releases by all, prereleases by that of their first word alone. The signature
 * covers neither the channel nor the name of the metadata file, which another box or a forged feed may choose.
 */
const isOfChannel = (version: string, channel: string): boolean => {
  const prerelease = /^[^+-]+-([a-z]*)/.exec(version)?.[1];
  return prerelease === undefined || (prerelease === channel && channel !== 'latest');
};

/** The first line of what went wrong: electron-updater adds headers and stacks to it. */
export const reasonOf = (error: unknown): string => (error as Error).message.split('\n', 1)[0] ?? '';

/** What electron-updater keeps to itself. */
interface Caching {
  getOrCreateDownloadHelper(): Promise<{ cacheDirForPendingUpdate: string }>;
}

/** A release does not fit on the disk, whichever source it comes from. */
export class NoRoom extends Error {}

/** How many other boxes are asked. */
const MAX_PEERS = 3;

export const createDownloads = (
  { updater, log, key, disk = systemDisk }: Dependencies,
  { readyDir, kind, patience = PATIENCE }: DownloadOptions,
) => {
  updater.autoDownload = false;
  updater.autoInstallOnAppQuit = false;
  updater.disableDifferentialDownload = true;
  updater.disableWebInstaller = true;
  updater.logger = {
    info: (message) => log.debug(String(message)),
    warn: (message) => log.warn(String(message)),
    // Errors are also thrown, and logged by the caller.
    error: (message) => log.debug(String(message)),
  };

  const bounded = boundRequests((updater as unknown as { httpExecutor: ElectronHttpExecutor }).httpExecutor);

  let metadata: Metadata | null = null;
  /** The newer version of the channel in a release folder; null: none. */
  const check = async (url: string, channel: string): Promise<UpdateInfo | null> => {
    updater.setFeedURL(
      signedFeed(
        url,
        key,
        (read) => {
          metadata = read;
        },
        kind,
      ),
    );
    const found = await bounded(MAX_METADATA_BYTES, patience.check, () => updater.checkForUpdates());
    if (!found?.isUpdateAvailable) return null;
    const { version } = found.updateInfo;
    if (isOfChannel(version, channel)) return found.updateInfo;
    log.warn({ host: new URL(url).host, version, channel }, 'a prerelease of another channel is not installed');
    return null;
  };

  /** Where there is no room for a release, removes the one that it would replace. @throws NoRoom */
  const makeRoom = async (version: string, size: number): Promise<void> => {
    await mkdir(dirname(readyDir), { recursive: true });
    const free = (): Promise<number> => disk.free(dirname(readyDir));
    if (size <= (await free())) return;
    const names = await readdir(readyDir).catch(() => []);
    // electron-updater has the same file under another name, which it removes before it downloads another one.
    const kept = await Promise.all(names.map(async (name) => (await stat(join(readyDir, name))).size));
    const missingNow = async (): Promise<number> => kept.reduce((left, bytes) => left - bytes, size - (await free()));
    let missing = await missingNow();
    if (missing > 0) {
      // And parts of downloads that a power cut has broken off.
      const { cacheDirForPendingUpdate } = await (updater as unknown as Caching).getOrCreateDownloadHelper();
      await rm(cacheDirForPendingUpdate, { recursive: true, force: true });
      missing = await missingNow();
    }
    if (missing > 0) {
      throw new NoRoom(`version ${version} needs ${Math.ceil(missing / 1e6)} MB more than the disk has free`);
    }
    await rm(readyDir, { recursive: true, force: true });
  };

  /** Downloads the version that was checked last, verifies its hash, and stores it as a whole release. */
  const download = async ({ version, files }: UpdateInfo): Promise<ReadyUpdate> => {
    const size = Math.max(...files.map((file) => file.size ?? 0));
    await makeRoom(version, size);
    const [downloaded] = await bounded(size, patience.download, () => updater.downloadUpdate());
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
    /**
     * Downloads the newest version of the feed, from another box that has it if possible. If the feed is not reachable, the
     * newest version of the other boxes.
     * @param isWanted whether a version may be installed
     * @returns null if there is no newer version
     * @throws Error if no source is reachable, no source has a valid copy of the version that was found, or the disk has no room
     */
    fetch: async ({ feed, peers, channel }: Sources, isWanted: (version: string) => boolean) => {
      updater.channel = channel;
      // Setting a channel allows downgrades.
      updater.allowDowngrade = false;
      const errors: unknown[] = [];
      const attempt = async <Result>(url: string, work: () => Promise<Result>): Promise<Result | null> => {
        try {
          return await work();
        } catch (error) {
          if (error instanceof NoRoom) throw error;
          errors.push(error);
          log.info({ host: new URL(url).host, reason: reasonOf(error) }, 'a source of updates failed');
          return null;
        }
      };
      const offered = feed === null ? null : ((await attempt(feed, () => check(feed, channel)))?.version ?? null);
      const isFeedUnreachable = feed === null || errors.length > 0;
      if (!isFeedUnreachable && (offered === null || !isWanted(offered))) return null;

      for (const url of [...peers.slice(0, MAX_PEERS), ...(offered === null || feed === null ? [] : [feed])]) {
        const ready = await attempt(url, async () => {
          const found = await check(url, channel);
          if (found === null) return null;
          const isMatch = offered === null ? isWanted(found.version) : found.version === offered;
          return isMatch ? await download(found) : null;
        });
        if (ready !== null) return ready;
      }
      if (errors.length > 0) throw errors[0];
      return null;
    },
  };
};

export type Downloads = ReturnType<typeof createDownloads>;
