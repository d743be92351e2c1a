/** `npm run bench [name ...]`: figures of this machine; only ratios within one run mean anything. */
import { benchFanOut } from './fanout.ts';
import { benchHttp } from './http.ts';
import { benchKiosk } from './kiosk.ts';
import { benchPeers } from './peers.ts';
import { benchPlaying, benchSwaps } from './playing.ts';
import { benchStreams } from './streams.ts';
import { benchSync } from './sync.ts';
import { benchUploads } from './uploads.ts';

const benches: Record<string, () => Promise<void>> = {
  http: benchHttp,
  fanout: benchFanOut,
  streams: benchStreams,
  uploads: benchUploads,
  swaps: benchSwaps,
  playing: benchPlaying,
  peers: benchPeers,
  sync: benchSync,
  kiosk: benchKiosk,
};

const wanted = process.argv.slice(2);
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length === 0 || wanted.includes(name)) await bench();
}
process.exit(0);
