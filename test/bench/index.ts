/** `npm run bench [name ...]`: figures of this machine; only ratios within one run mean anything. */
import { benchCli } from './cli.ts';
import { benchFanOut } from './fanout.ts';
import { benchHttp } from './http.ts';
import { benchKiosk } from './kiosk.ts';
import { benchMedia } from './media.ts';
import { benchMemory } from './memory.ts';
import { benchPeers } from './peers.ts';
import { benchPlaying, benchSwaps } from './playing.ts';
import { benchStreams } from './streams.ts';
import { benchSync } from './sync.ts';
import { benchUploads } from './uploads.ts';

const benches: Record<string, () => Promise<void>> = {
  http: benchHttp,
  fanout: benchFanOut,
  memory: benchMemory,
  streams: benchStreams,
  uploads: benchUploads,
  media: benchMedia,
  swaps: benchSwaps,
  playing: benchPlaying,
  peers: benchPeers,
  sync: benchSync,
  kiosk: benchKiosk,
  cli: benchCli,
};

/** Takes over an hour, so it has to be asked for. */
const longest = 'playing';

const named = process.argv.slice(2);
const wanted = named.length > 0 ? named : Object.keys(benches).filter((name) => name !== longest);
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`there is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}`);
  process.exit(1);
}
for (const name of wanted) await benches[name]?.();
process.exit(0);
