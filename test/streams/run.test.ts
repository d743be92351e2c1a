import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { defaultPlan } from '../../service/streams/plan.ts';
import { startRun } from '../../service/streams/run.ts';
import { parseSource } from '../../service/streams/source.ts';
import { temporaryFolder } from '../support/service.ts';
import { noSalt } from './salt.ts';
import { environment } from './server.ts';

/** What ffmpeg logs of a source that needs no other plan. */
const header = [
  "Input #0, flv, from 'rtmp://127.0.0.1/camera':",
  '  Stream #0:0: Video: h264 (High), yuv420p(tv, bt709, progressive), 1920x1080, 25 fps, 25 tbr, 1k tbn',
  '  Stream #0:1: Audio: aac (LC), 44100 Hz, stereo, fltp, 128 kb/s',
  'Stream mapping:',
  '  Stream #0:0 -> #0:0 (copy)',
  "Output #0, mpegts, to 'pipe:1':",
  '  Stream #0:0: Video: h264 (High), yuv420p, 1920x1080, q=2-31',
];

test.skipIf(process.platform === 'win32')('a run that logs for hours keeps its plan', async () => {
  const path = join(temporaryFolder(), 'ffmpeg');
  const lines = Array.from({ length: 600 }, (_, n) => `[flv @ 0x1] Packet mismatch ${n} ${'.'.repeat(120)}`);
  writeFileSync(path, `#!/bin/sh\ncat >&2 <<'END'\n${[...header, ...lines, 'the last line', ''].join('\n')}\nEND\n`);
  chmodSync(path, 0o755);
  const [misfit, exited] = [vi.fn(), vi.fn<(reason: string) => void>()];
  startRun(
    parseSource('rtmp://127.0.0.1/camera', false, noSalt),
    defaultPlan,
    {
      ffmpegPath: path,
      environment,
      deathSignalPrefix: [],
      orphans: { record: async () => undefined, forget: async () => undefined },
    },
    { segment: () => undefined, misfit, exited },
  );
  await vi.waitUntil(() => exited.mock.calls.length > 0, { timeout: 20_000 });
  expect([misfit.mock.calls, exited.mock.calls]).toEqual([[], [['the last line']]]);
});
