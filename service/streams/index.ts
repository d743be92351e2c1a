/** RTMP to HLS: one session, and one ffmpeg, per source. */
import { hkdfSync } from 'node:crypto';
import type { Content } from '../content/index.ts';
import { countBy } from '../domain/collections.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Options } from '../platform/options/index.ts';
import { openSealKey } from '../platform/store/sealing.ts';
import { createOrphans } from './orphans.ts';
import { createPermission, streamRoutes } from './routes.ts';
import { createSessions, type Sessions } from './sessions.ts';

export { publicUrlOf } from './source.ts';

export interface Streams extends Module, Pick<Sessions, 'list'> {}

/** What a box without a working ffmpeg says, and what to do. */
const missing = ({ ffmpegPath }: Pick<Options, 'ffmpegPath'>): string => {
  const remedy = process.platform === 'linux' ? 'run: sudo apt install ffmpeg' : 'install ffmpeg on the PATH.';
  return ffmpegPath === null
    ? `ffmpeg is missing, so there are no streams; ${remedy}`
    : `ffmpeg is missing at ${ffmpegPath}, so there are no streams; correct SIGNAGE_FFMPEG_PATH, or remove it and ${remedy}`;
};

export const createStreams = async (
  context: ServiceContext,
  { content }: { content: Pick<Content, 'streams'> },
): Promise<Streams> => {
  const { options, ffmpeg } = context;
  const sessions = await createSessions(context, createOrphans(context));
  const salt = Buffer.from(hkdfSync('sha256', await openSealKey(context), '', 'signage-stream-key-v1', 32));
  const permission = createPermission({ named: content.streams, hasSecret: options.sharedSecret !== null, salt });
  return {
    list: sessions.list,
    routes: streamRoutes(sessions, permission),
    health: async () => {
      const program = await ffmpeg.find();
      return {
        fields: { ffmpeg: program },
        // The baseline variant has no streams.
        issues: {
          streams: program === null && options.variant === 'extended' ? [missing(options)] : sessions.issues(),
        },
      };
    },
    metrics: () => ({
      signage_stream_sessions: countBy(sessions.phases()),
      signage_stream_restarts_total: sessions.restarts(),
    }),
    close: sessions.close,
  };
};
