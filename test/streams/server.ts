/** The stream routes on a free port, over real sessions. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Router } from '@koa/router';
import Koa from 'koa';
import { pino } from 'pino';
import { type RtmpSession, rtmpSession } from '../../service/contract/streams.ts';
import { errorAnswer, toCodedError } from '../../service/http/answer.ts';
import type { Handler, RequestState } from '../../service/http/routes.ts';
import { createFfmpeg } from '../../service/platform/ffmpeg.ts';
import { createOrphans } from '../../service/streams/orphans.ts';
import { type Permission, streamRoutes } from '../../service/streams/routes.ts';
import { createSessions } from '../../service/streams/sessions.ts';
import { parseSource } from '../../service/streams/source.ts';
import { testTempo } from '../support/tempo.ts';
import { noSalt } from './salt.ts';

interface Setup {
  dataDir: string;
  maxStreams?: number;
  streamIdleSeconds?: number;
  ffmpegPath?: string | null;
}

export const environment = { PATH: process.env['PATH'] ?? '', LANG: 'C' };

export const startStreams = async ({ dataDir, ffmpegPath = null, maxStreams = 8, streamIdleSeconds = 30 }: Setup) => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) });
  const options = { dataDir, ffmpegPath, maxStreams, streamIdleSeconds, childEnvironment: environment };
  const context = { log, tempo: testTempo, options, ffmpeg: createFfmpeg(options) };
  const sessions = await createSessions(context, createOrphans(context));

  const permission: Permission = {
    sourceFor: (address, disableAudio) => parseSource(address, disableAudio, noSalt),
    mayFetch: () => true,
    choiceOf: () => 'slide',
  };
  const app = new Koa<RequestState>();
  app.silent = true;
  const router = new Router<RequestState>();
  for (const [route, handle] of Object.entries(streamRoutes(sessions, permission)) as [string, Handler][]) {
    const [method = '', path = ''] = route.split(' ');
    router.register(path, [method], handle);
  }
  app.use(async (ctx, next) => {
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
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const get = (path: string) => fetch(url + path);
  const request = (source: string, more = '') => get(`/api/rtmp/session?source=${encodeURIComponent(source)}${more}`);
  const open = async (source: string, more = ''): Promise<RtmpSession> =>
    rtmpSession.parse(await (await request(source, more)).json());

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await sessions.close();
  };

  return {
    url,
    get,
    request,
    open,
    log: () => lines.join(''),
    close: () => (closing ??= close()),
  };
};
