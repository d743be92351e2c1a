/** The media routes on a free port, over folders of their own. */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { Router } from '@koa/router';
import Koa from 'koa';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { errorAnswer, toCodedError } from '../../service/http/answer.ts';
import type { Handler, RequestState } from '../../service/http/routes.ts';
import { createCatalog } from '../../service/media/catalog.ts';
import { openDeletions } from '../../service/media/deletions.ts';
import { createLibrary } from '../../service/media/library.ts';
import { createLostUploads } from '../../service/media/lost.ts';
import type { Volume } from '../../service/media/quota.ts';
import { createStorageQuota } from '../../service/media/quota.ts';
import { mediaRoutes } from '../../service/media/routes.ts';
import { systemDisk } from '../../service/platform/store/disk.ts';
import { createReserve } from '../../service/platform/store/reserve.ts';
import { temporaryFolder } from '../support/service.ts';
import { mediaContext } from './context.ts';

const log = pino({ level: 'silent' });

interface Setup {
  dataDir?: string;
  uploadDir?: string;
  maxUploadBytes?: number;
  quota?: number;
  evict?: (bytes: number) => Promise<void>;
  statfs?: (path: string) => Promise<Volume>;
  /** A monotonic clock, in ms. */
  now?: () => number;
}

/** The smallest PNG: one pixel. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export const startMedia = async (setup: Setup = {}) => {
  const { dataDir = temporaryFolder(), maxUploadBytes = 2 ** 31, quota = 2 ** 40, evict = async () => {} } = setup;
  const context = mediaContext(dataDir, {
    ...(setup.uploadDir !== undefined && { uploads: setup.uploadDir }),
    ...(setup.now !== undefined && { now: setup.now }),
    options: { maxUploadBytes, mediaQuotaBytes: quota },
  });
  const { uploads: uploadDir, media: mediaDir } = context.dirs;
  const reserve = createReserve({ path: join(dataDir, 'state.reserve'), disk: systemDisk, log });
  if (setup.statfs !== undefined) reserve.hold();
  const catalog = createCatalog(context, async () => null);
  const deletions = await openDeletions({ ...context, reserve });
  const library = await createLibrary(context, {
    catalog,
    storage: createStorageQuota(context, evict, setup.statfs),
    newest: () => 0,
    deletions,
    lost: createLostUploads(context),
    // There are no other boxes, so that everything in the media directory was put there by hand.
    copies: {
      has: () => false,
      add: async (_, write) => void (await write()),
      remove: async () => {},
      forget: async () => {},
    },
    isElsewhere: async () => false,
  });

  const app = new Koa<RequestState>();
  app.silent = true;
  const router = new Router<RequestState>();
  for (const [route, handle] of Object.entries(
    mediaRoutes(
      library,
      { find: async () => ({ made: null, loudness: null }) },
      { checkUpload: async () => {}, checkDelete: () => {}, noteUpload: async () => {}, noteDelete: async () => {} },
    ),
  ) as [string, Handler][]) {
    const [method = '', path = ''] = route.split(' ');
    router.register(path, [method], handle);
  }
  app.use(async (ctx, next) => {
    ctx.state = {
      clientIp: '',
      log,
      bodySha256: ctx.get('x-test-body-sha256') || null,
      signResponse: null,
      seal: null,
      boundSignature: null,
      isRelayed: false,
      signer: null,
      isPage: false,
      isSecure: false,
      isLocal: false,
      isSealed: false,
    };
    try {
      await next();
    } catch (error) {
      const { status, headers, body } = errorAnswer(ctx.url, toCodedError(error, log));
      ctx.status = status;
      ctx.body = body;
      ctx.set(headers as Record<string, string>);
    }
  });
  app.use(router.routes());
  const server = createServer({ requestTimeout: 0 }, app.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await catalog.close();
    await deletions.close();
  });

  const request = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);
  return {
    port,
    dataDir,
    uploadDir,
    mediaDir,
    catalog,
    request,
    put: (name: string, body?: string | Buffer, headers: Record<string, string> = {}) =>
      request(`/api/media/${name}`, {
        method: 'PUT',
        headers,
        ...(body !== undefined && { body: new Uint8Array(Buffer.from(body)) }),
      }),
    /** Everything in the upload folder, unfinished files too. */
    uploads: () => readdirSync(uploadDir).toSorted(),
    /** A socket, for what no HTTP client would send. */
    socket: async (text: string) => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.on('error', () => undefined);
      let received = '';
      socket.on('data', (data) => {
        received += data.toString('latin1');
      });
      socket.write(text);
      return { socket, received: () => received };
    },
  };
};

export const errorOf = async (response: Response): Promise<{ code: string; field?: string }> =>
  ((await response.json()) as { error: { code: string; field?: string } }).error;
