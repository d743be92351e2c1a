/** Release folders as electron-builder and the release workflow leave them, served to a real electron-updater. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import electronUpdater, { type AppUpdater } from 'electron-updater';
import { expect, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../support/service.ts';

export const { publicKey, privateKey } = generateKeyPairSync('ed25519');

interface Release {
  version: string;
  /** Bytes of the installer. */
  bytes?: Buffer;
  /** What the metadata say its hash is; absent: the right one. */
  sha512?: string;
  signedWith?: KeyObject;
  /** Further lines of the metadata. */
  more?: string;
  /** What it is for; absent: the package of this platform. */
  kind?: 'image';
  /** Under whose name it is served; absent: `latest`. */
  channel?: string;
}

const suffix = process.arch === 'x64' ? '' : `-${process.arch}`;

/** Writes a whole release into a folder. */
export const writeRelease = (folder: string, release: Release): void => {
  const { version, bytes = Buffer.from(`the program ${version}`), signedWith = privateKey, more = '' } = release;
  const { kind, channel = 'latest' } = release;
  const isImage = kind === 'image';
  const name = `signage-player-${version}-amd64.${isImage ? 'raucb' : 'deb'}`;
  const metadataFile = `${channel}-${isImage ? 'image' : `linux${suffix}`}.yml`;
  const sha512 = release.sha512 ?? createHash('sha512').update(bytes).digest('base64');
  const metadata = [
    `version: ${version}`,
    'files:',
    `  - url: ${name}`,
    `    sha512: ${sha512}`,
    `    size: ${bytes.length}`,
    `path: ${name}`,
    `sha512: ${sha512}`,
    `releaseDate: '2026-11-20T00:00:00.000Z'`,
    more,
  ].join('\n');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), bytes);
  writeFileSync(join(folder, metadataFile), metadata);
  writeFileSync(join(folder, `${metadataFile}.sig`), sign(null, Buffer.from(metadata), signedWith).toString('base64'));
};

export interface Feed {
  url: string;
  folder: string;
  /** What was asked for. */
  asked: string[];
  /** Cuts the next answers off after this many bytes; null: no longer. */
  cutAfter(bytes: number | null): void;
  /** What the next answers with a package do after its bytes: nothing more at all, or send without an end. */
  goOn(how: 'silently' | 'endlessly'): void;
  /** Resolves when all clients have disconnected. */
  isLeft(): Promise<void>;
}

/** Serves a release folder on this machine. */
export const serveFeed = async (...releases: Release[]): Promise<Feed> => {
  const folder = temporaryFolder();
  for (const release of releases) writeRelease(folder, release);
  const asked: string[] = [];
  let most: number | null = null;
  let going: 'silently' | 'endlessly' | null = null;
  const answer = (path: string, response: ServerResponse): void => {
    const file = join(folder, path);
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) return void response.writeHead(404).end();
    const isMetadata = path.endsWith('.yml') || path.endsWith('.sig');
    if (going !== null && !isMetadata) {
      createReadStream(file).pipe(response, { end: false });
      const more = () => going === 'endlessly' && response.write(Buffer.alloc(2 ** 16));
      const timer = setInterval(more, 1);
      return void response.on('close', () => clearInterval(timer));
    }
    response.writeHead(200, { 'Content-Length': size });
    if (most === null || isMetadata) return void createReadStream(file).pipe(response);
    const part = createReadStream(file, { end: most - 1 });
    part.pipe(response, { end: false });
    part.on('end', () => response.socket?.end());
  };
  const server = createServer(({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://feed');
    asked.push(pathname);
    answer(pathname, response);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    folder,
    asked,
    cutAfter: (bytes) => {
      most = bytes;
    },
    goOn: (how) => {
      going = how;
    },
    isLeft: () =>
      vi.waitFor(async () => {
        const count = promisify(server.getConnections.bind(server));
        expect(await count()).toBe(0);
      }, 5000),
  };
};

/** An address where every connection is accepted, and no request answered. */
export const serveSilence = async (): Promise<string> => {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

/** An address where every connection is cut. */
export const serveNobody = async (): Promise<string> => {
  const server = createServer(({ socket }) => socket.destroy()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

/** What electron-updater is built on; it brings its own. */
const runtime = createRequire(createRequire(import.meta.url).resolve('electron-updater'))('builder-util-runtime');

/** A real updater that needs no Electron. */
export const nodeUpdater = (version: string, userDataPath: string): AppUpdater => {
  const config = join(userDataPath, 'app-update.yml');
  writeFileSync(config, 'provider: generic\nurl: http://127.0.0.1:9/\nupdaterCacheDirName: updater\n');
  const updater = new electronUpdater.DebUpdater(null, {
    version,
    name: 'signage-player',
    isPackaged: true,
    appUpdateConfigPath: config,
    userDataPath,
    baseCachePath: join(userDataPath, 'cache'),
    whenReady: async () => {},
    relaunch: () => {},
    quit: () => {},
    onQuit: () => {},
  });
  const { request } = createRequire(import.meta.url)('node:http');
  class NodeExecutor extends runtime.HttpExecutor {
    createRequest(options: object, answer: (response: unknown) => void) {
      return request({ ...options, agent: false }, answer);
    }
    download(url: URL, destination: string, options: { headers?: object; cancellationToken: never }) {
      const { cancellationToken } = options as { cancellationToken: { createPromise(work: unknown): Promise<string> } };
      return cancellationToken.createPromise(
        (resolve: (path: string) => void, reject: (error: Error) => void, onCancel: unknown) => {
          const target = { headers: options.headers, redirect: 'manual' };
          runtime.configureRequestUrl(url, target);
          runtime.configureRequestOptions(target);
          const callback = (error?: Error) => (error ? reject(error) : resolve(destination));
          (this as never as { doDownload(...all: unknown[]): void }).doDownload(
            target,
            { destination, options, onCancel, callback, responseHandler: null },
            0,
          );
        },
      );
    }
  }
  (updater as never as { httpExecutor: unknown }).httpExecutor = new NodeExecutor();
  return updater;
};
