/** What tests of real streams share. They wait a lot, so they run side by side: all that they start is their own. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test as base, describe, vi } from 'vitest';
import { findProgram } from '../support/program.ts';
import { ffmpegPath, processesWith, startRtmpServer } from './publishing.ts';
import { startStreams } from './server.ts';

/** Real processes on a busy machine: a deadline here is not a measurement. */
export const patience = { timeout: 25_000, interval: 100 };

/** Where there is no ffmpeg these are skipped by name; in CI they fail. */
export const describeStreams = describe.skipIf(ffmpegPath === undefined && process.env['CI'] !== 'true').concurrent;

interface Closable {
  close(): Promise<void>;
}

type Setup = Partial<Parameters<typeof startStreams>[0]>;
export type Streams = Awaited<ReturnType<typeof startStreams>>;

interface Fixtures {
  /** Closes a thing when the test is over, the last one first. */
  keep<Thing extends Closable>(thing: Thing): Thing;
  /** Starts stream routes over a data directory that is removed with the test. */
  start(setup?: Setup): Promise<Streams>;
  /** The address of a stream that is this test's alone, on the file's RTMP server. */
  address: string;
  rtmp: { url: string };
}

export const test = base.extend<Fixtures>({
  rtmp: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads the pattern
    async ({}, use) => {
      const server = await startRtmpServer();
      await use(server);
      await server.close();
    },
    { scope: 'file' },
  ],
  address: async ({ rtmp }, use) => use(`${rtmp.url}/${randomUUID()}`),
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads the pattern
  keep: async ({}, use) => {
    const things: Closable[] = [];
    await use((thing) => {
      things.unshift(thing);
      return thing;
    });
    for (const thing of things) await thing.close();
  },
  start: async ({ keep }, use) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'streams-'));
    await use(async (setup = {}) => keep(await startStreams({ dataDir, ...setup })));
    rmSync(dataDir, { recursive: true, force: true });
  },
});

/** The ffmpegs of the service that have a source open. */
export const ffmpegsOf = (source: string): number[] => processesWith(source, 'pipe:1');

/** Opens a session and waits until media arrives. */
export const watch = async (streams: Streams, source: string, more = '') => {
  const session = await streams.open(source, more);
  await vi.waitUntil(async () => (await streams.open(source, more)).live, patience);
  return session;
};

/** The names in a session's manifest, oldest first; none while there is no manifest. */
export const segmentsOf = async ({ get }: Streams, { playlistUrl }: { playlistUrl: string }): Promise<string[]> =>
  (await (await get(playlistUrl)).text()).match(/^\d+\.ts$/gm) ?? [];

interface Track {
  codec_type: string;
  codec_name: string;
  width?: number;
}

interface Packet {
  codec_type: string;
  /** Begins with K where it is a keyframe. */
  flags: string;
}

const execute = promisify(execFile);
const ffprobe = findProgram('ffprobe') ?? 'ffprobe';

/** What ffprobe makes of an address: its tracks by their kind, and its packets. */
export const probe = async (url: string) => {
  const words = ['-v', 'error', '-show_streams', '-show_packets', '-read_intervals', '%+1', '-of', 'json', url];
  const { streams, packets } = JSON.parse((await execute(ffprobe, words)).stdout) as {
    streams: Track[];
    packets: Packet[];
  };
  return { tracks: Object.fromEntries(streams.map((track) => [track.codec_type, track])), packets };
};
