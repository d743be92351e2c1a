/** A small RTSP camera (RFC 2326): ffmpeg's RTP packets, passed on inside the RTSP connection. */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { end, ffmpegPath, startTcpServer } from './publishing.ts';

export const startRtspCamera = async () => {
  const rtp = createSocket('udp4').bind(0, '127.0.0.1');
  await once(rtp, 'listening');
  const camera = spawn(
    ffmpegPath ?? 'ffmpeg',
    [
      ...['-nostdin', '-loglevel', 'error', '-re', '-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=25'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-g', '25'],
      ...['-f', 'rtp', `rtp://127.0.0.1:${rtp.address().port}`],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  // ffmpeg prints the session's description (SDP) once it knows it.
  const [sdp] = (await once(camera.stdout, 'data')) as [Buffer];
  const description = `${sdp}`.replace(/^SDP:\s*/, '').replace(/^m=video \d+/m, 'm=video 0');

  const playing = new Set<Socket>();
  rtp.on('message', (packet) => {
    const head = Buffer.from([0x24, 0, packet.length >> 8, packet.length & 0xff]);
    for (const socket of playing) socket.write(Buffer.concat([head, packet]));
  });

  const answer = (socket: Socket, request: string): void => {
    const [method = ''] = request.split(' ');
    const sequence = /^CSeq: *(\d+)/im.exec(request)?.[1] ?? '0';
    const lines: Record<string, string> = {
      OPTIONS: 'Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n\r\n',
      DESCRIBE: `Content-Type: application/sdp\r\nContent-Length: ${description.length}\r\n\r\n${description}`,
      SETUP: 'Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n\r\n',
      PLAY: 'Session: 1\r\n\r\n',
    };
    socket.write(`RTSP/1.0 200 OK\r\nCSeq: ${sequence}\r\n${lines[method] ?? '\r\n'}`);
    if (method === 'PLAY') playing.add(socket);
  };

  const server = await startTcpServer((socket) => {
    socket.on('data', (bytes) => {
      // What begins otherwise is a report on the packets.
      if (/^[A-Z_]+ rtsp:/.test(`${bytes}`)) answer(socket, `${bytes}`);
    });
    socket.on('close', () => playing.delete(socket));
  });

  return {
    url: `rtsp://127.0.0.1:${server.port}/camera`,
    async close() {
      await end(camera);
      await server.close();
      rtp.close();
    },
  };
};
