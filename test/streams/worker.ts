/** A service with one stream, to be killed: data directory, source, and whether its ffmpeg is tied to it. */
import { pino } from 'pino';
import { createFfmpeg } from '../../service/platform/ffmpeg.ts';
import { createOrphans } from '../../service/streams/orphans.ts';
import { createSessions } from '../../service/streams/sessions.ts';
import { parseSource } from '../../service/streams/source.ts';
import { testTempo } from '../support/tempo.ts';
import { noSalt } from './salt.ts';
import { environment } from './server.ts';

const [dataDir = '', source = '', mode] = process.argv.slice(2);
const log = pino({ level: 'silent' });
const options = { dataDir, ffmpegPath: null, maxStreams: 8, streamIdleSeconds: 3600, childEnvironment: environment };
const tied = createOrphans({ log, options });
const orphans = mode === 'death signal' ? tied : { ...tied, deathSignalPrefix: async () => [] };
const sessions = await createSessions({ log, tempo: testTempo, options, ffmpeg: createFfmpeg(options) }, orphans);
const session = await sessions.open(parseSource(source, false, noSalt), () => 'slide');
const timer = setInterval(() => {
  if (!session.status().live) return;
  clearInterval(timer);
  console.log('live');
  setInterval(() => undefined, 1_000_000);
}, 50);
