/** RTMP to HLS: one session, and one ffmpeg, per source. */
import type { Content } from '../content/index.ts';
import { countBy } from '../domain/counts.ts';
import type { Module, ServiceContext } from '../module.ts';
import { createFfmpeg, type Ffmpeg } from './ffmpeg.ts';
import { createOrphans } from './orphans.ts';
import { createPermission } from './permission.ts';
import { streamRoutes } from './routes.ts';
import { createSessions, type Sessions } from './sessions.ts';

interface Dependencies {
  content: Pick<Content, 'streams'>;
}

export interface Streams extends Module, Pick<Sessions, 'list'> {
  /** Finds the ffmpeg of this box. */
  ffmpeg: Ffmpeg;
}

export const createStreams = async ({ options, log }: ServiceContext, { content }: Dependencies): Promise<Streams> => {
  const environment = options.childEnvironment;
  const ffmpeg = createFfmpeg({ environment }, options);
  const orphans = createOrphans({ log, environment }, options);
  const sessions = await createSessions({ log, ffmpeg, orphans, environment }, options);
  const permit = createPermission({ named: content.streams, hasSecret: options.sharedSecret !== null });
  return {
    ffmpeg,
    list: sessions.list,
    routes: streamRoutes(sessions, permit),
    health: async () => {
      const program = await ffmpeg.find();
      return {
        fields: { ffmpeg: program },
        issues: { streams: program === null ? ['ffmpeg is missing, so there are no streams.'] : [] },
      };
    },
    metrics: () => ({
      signage_stream_sessions: countBy(sessions.phases()),
      signage_stream_restarts_total: sessions.restarts(),
    }),
    close: sessions.close,
  };
};
