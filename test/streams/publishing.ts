/** Real sources: an RTMP server, and ffmpeg as the camera. Nothing here depends on the test runner. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, untilListening } from '../support/ports.ts';
import { findProgram } from '../support/program.ts';

export const ffmpegPath = findProgram('ffmpeg');

/** Ends a process and waits for its end. */
export const end = async (child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
};

const rtmpServer = `
const Server = require(process.argv[1]);
new Server({ bind: '127.0.0.1', rtmp: { port: Number(process.argv[2]) }, record: { auto: false } }).run();
`;

/** node-media-server, in a process and a folder of its own. It keeps viewers when a publisher leaves. */
export const startRtmpServer = async (port?: number) => {
  const chosen = port ?? (await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'rtmp-'));
  const main = createRequire(import.meta.url).resolve('node-media-server');
  const child = spawn(process.execPath, ['-e', rtmpServer, main, `${chosen}`], { cwd: folder, stdio: 'ignore' });
  await untilListening(chosen);
  return {
    port: chosen,
    url: `rtmp://127.0.0.1:${chosen}/live`,
    async close() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const videoCodecs = {
  h264: ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-sc_threshold', '0'],
  flv1: ['-c:v', 'flv1', '-q:v', '5'],
  none: ['-vn'],
};

interface Picture {
  /** Instead of the moving test picture. */
  colour?: string;
  size?: string;
  /** Seconds from keyframe to keyframe. */
  gop?: number;
  video?: keyof typeof videoCodecs;
  audio?: 'aac' | 'libmp3lame';
}

const rate = 25;

/** ffmpeg as a camera: a moving test picture and a tone, sent to an address in real time. */
export const publish = (
  url: string,
  { colour, size = '320x180', gop = 1, video = 'h264', audio = 'aac' }: Picture = {},
) => {
  const picture = `${colour ? `color=${colour}:` : 'testsrc2='}size=${size}:rate=${rate}`;
  const container = url.startsWith('srt') ? ['-f', 'mpegts'] : ['-f', 'flv', '-tcp_nodelay', '1'];
  const child = spawn(
    ffmpegPath ?? 'ffmpeg',
    [
      ...['-nostdin', '-loglevel', 'error', '-re'],
      ...['-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', 'sine=sample_rate=44100'],
      ...[...videoCodecs[video], '-g', `${gop * rate}`, '-c:a', audio, ...container, url],
    ],
    { stdio: 'ignore' },
  );
  return { close: () => end(child) };
};

/** A TCP server that treats each client in the same way; it counts them. */
export const startTcpServer = async (greet: (socket: Socket) => void) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    greet(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    clients: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

/** The processes that have all of these words in their command lines (Linux). */
export const processesWith = (...words: string[]): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return words.every((word) => line.includes(word));
      } catch {
        return false;
      }
    })
    .map(Number);
