import type { StreamScheme } from '../contract/stream-schemes.ts';
import type { Plan } from './plan.ts';
import { leadPid, mapPid } from './segmenter.ts';
import type { StreamSource } from './source.ts';

/** The protocols that ffmpeg may open for each kind of source: never files, never playlists of other servers. */
const protocols: Record<StreamScheme, string> = {
  rtmp: 'rtmp,tcp',
  rtmps: 'rtmps,tls,tcp',
  rtsp: 'rtsp,rtp,udp,tcp',
  rtsps: 'rtsps,rtp,udp,tls,tcp',
  srt: 'srt',
};

/**
 * The read timeout for silent servers, in microseconds. Not `-timeout`, which makes ffmpeg listen for an rtmp source,
 * and before ffmpeg 5 for an rtsp source: rtsp relies on the timeouts of the session.
 */
const silence = ['-rw_timeout', '10000000'];
const transport: Record<StreamScheme, string[]> = {
  rtmp: ['-tcp_nodelay', '1', ...silence],
  rtmps: silence,
  rtsp: ['-rtsp_flags', 'prefer_tcp'],
  rtsps: ['-rtsp_flags', 'prefer_tcp'],
  srt: silence,
};

/**
 * How long ffmpeg probes a source, in microseconds and bytes. rtmp and rtsp send their codec parameters first; MPEG-TS
 * over srt repeats them with each keyframe, and there may be megabytes in between.
 */
const probing = (scheme: StreamScheme, probe: Plan['probe']): string[] => {
  if (probe === 'thorough') return ['-analyzeduration', '3000000'];
  return ['-fpsprobesize', '0', ...(scheme === 'srt' ? [] : ['-analyzeduration', '0', '-probesize', '200000'])];
};

const videoCodec = {
  copy: ['-c:v', 'copy'],
  encode: [
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
    ...['-force_key_frames', 'expr:gte(t,n_forced)'],
  ],
};

const audioCodec = {
  copy: ['-c:a', 'copy'],
  encode: ['-c:a', 'aac', '-b:a', '128k', '-ac', '2'],
};

const videoOutput = ({ codec, track }: Plan['video']): string[] =>
  codec === 'none' ? ['-vn'] : ['-map', `0:v:${track}?`, ...videoCodec[codec]];

const audioOutput = ({ codec, track }: Plan['audio']): string[] => ['-map', `0:a:${track}?`, ...audioCodec[codec]];

/** A second output of the keyframes as FLV, for the format watch. Only rtmp needs it: others repeat their parameters. */
const formatOutput = (scheme: StreamScheme, { video, watch }: Plan): string[] => {
  if (!scheme.startsWith('rtmp') || video.codec !== 'copy' || !watch) return [];
  return [
    ...['-map', `0:v:${video.track}?`, '-an', '-c:v', 'copy', '-bsf:v', 'noise=drop=not(key)'],
    ...['-f', 'flv', '-flvflags', 'no_duration_filesize', '-flush_packets', '1', 'pipe:3'],
  ];
};

/**
 * ffmpeg's arguments for converting a source to MPEG-TS on its standard output, flushed after each packet. No file is
 * written, and ffmpeg exits when the pipe is closed.
 * @param runId put into the command line, so that an orphaned process can be identified
 */
export const ffmpegArguments = ({ scheme, url, disableAudio }: StreamSource, plan: Plan, runId: string): string[] => [
  ...['-nostdin', '-hide_banner', '-nostats', '-loglevel', 'info'],
  ...['-protocol_whitelist', protocols[scheme], ...transport[scheme], ...probing(scheme, plan.probe), '-i', url],
  ...videoOutput(plan.video),
  ...(disableAudio ? ['-an'] : audioOutput(plan.audio)),
  ...['-max_interleave_delta', '500000', '-metadata', `run=${runId}`],
  ...['-f', 'mpegts', '-mpegts_pmt_start_pid', `${mapPid}`, '-mpegts_start_pid', `${leadPid}`],
  // The program tables are needed only once: the segmenter copies them into each segment.
  ...['-pat_period', '60', '-sdt_period', '60', '-muxdelay', '0', '-muxpreload', '0', '-flush_packets', '1'],
  'pipe:1',
  ...formatOutput(scheme, plan),
];
