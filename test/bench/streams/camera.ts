/** A camera that knows how far it is between two keyframes. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { end, ffmpegPath } from '../../streams/publishing.ts';

export const ffmpeg = ffmpegPath ?? 'ffmpeg';
const gop = 2;

export type Camera = ReturnType<typeof startCamera>;

/** A 720p camera; it knows how far it is between two keyframes. */
export const startCamera = (url: string) => {
  const child = spawn(
    ffmpeg,
    [
      ...['-nostdin', '-loglevel', 'error', '-progress', 'pipe:1', '-stats_period', '0.05', '-re'],
      ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=25', '-f', 'lavfi', '-i', 'sine=sample_rate=44100'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-b:v', '2M', '-g', `${gop * 25}`],
      ...['-sc_threshold', '0', '-c:a', 'aac', '-f', 'flv', '-tcp_nodelay', '1', url],
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  let at = { time: 0, seconds: 0 };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const microseconds = /^out_time_us=(\d+)/.exec(line)?.[1];
    if (microseconds) at = { time: performance.now(), seconds: Number(microseconds) / 1e6 };
  });
  return {
    /** Resolves when the first frame has been sent; ffmpeg reports it up to 50 ms later. */
    async started() {
      while (at.seconds === 0) await sleep(5);
    },
    /** Resolves when the camera is at this part (0 to 1) of a group of pictures. */
    async reach(part: number) {
      while (at.seconds === 0) await sleep(20);
      const now = at.seconds + (performance.now() - at.time) / 1000;
      await sleep(1000 * ((gop + gop * part - (now % gop)) % gop));
    },
    close: () => end(child),
  };
};
