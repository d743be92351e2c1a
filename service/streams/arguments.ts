import type { Plan } from './plan.ts';
import { leadPid, mapPid } from './segmenter.ts';
import type { Scheme, Source } from './source.ts';

/** What each kind of source may make ffmpeg open: never a file, never another server's playlist. */
const protocols: Record<Scheme, string> = {
  rtmp: 'rtmp,tcp',
  rtmps: 'rtmps,tls,tcp',
  rtsp: 'rtsp,rtp,udp,tcp',
  rtsps: 'rtsps,rtp,udp,tls,tcp',
  srt: 'srt',
};

/**
 * Ends a read from a server that has gone silent; in microseconds. Not `-timeout`, which makes an rtmp source listen,
 * as it does an rtsp one before ffmpeg 5: there the session's own patience has to do.
 */
const silence = ['-rw_timeout', '10000000'];
const transport: Record<Scheme, string[]> = {
  rtmp: ['-tcp_nodelay', '1', ...silence],
  rtmps: silence,
  rtsp: ['-rtsp_flags', 'prefer_tcp'],
  rtsps: ['-rtsp_flags', 'prefer_tcp'],
  srt: silence,
};

/**
 * How long to look at a source, in microseconds and bytes, before saying what it is. rtmp and rtsp send the parameters
 * of their codecs ahead; an MPEG-TS over srt repeats them with each keyframe, and there may be megabytes in between.
 */
const probing = (scheme: Scheme, probe: Plan['probe']): string[] => {
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

/** The keyframes once more, as FLV: what the format watch reads. Other sources repeat their parameters themselves. */
const formatOutput = (scheme: Scheme, { video, watch }: Plan): string[] => {
  if (!scheme.startsWith('rtmp') || video.codec !== 'copy' || !watch) return [];
  return [
    ...['-map', `0:v:${video.track}?`, '-an', '-c:v', 'copy', '-bsf:v', 'noise=drop=not(key)'],
    ...['-f', 'flv', '-flvflags', 'no_duration_filesize', '-flush_packets', '1', 'pipe:3'],
  ];
};

/**
 * ffmpeg's arguments for turning a source into MPEG-TS on its standard output, packet by packet as it comes. Nothing
 * passes through a file, and a pipe that nobody reads ends ffmpeg by itself.
 * @param runId found again in the process's command line
 */
export const ffmpegArguments = ({ scheme, url, disableAudio }: Source, plan: Plan, runId: string): string[] => [
  ...['-nostdin', '-hide_banner', '-nostats', '-loglevel', 'info'],
  ...['-protocol_whitelist', protocols[scheme], ...transport[scheme], ...probing(scheme, plan.probe), '-i', url],
  ...videoOutput(plan.video),
  ...(disableAudio ? ['-an'] : audioOutput(plan.audio)),
  ...['-max_interleave_delta', '500000', '-metadata', `run=${runId}`],
  ...['-f', 'mpegts', '-mpegts_pmt_start_pid', `${mapPid}`, '-mpegts_start_pid', `${leadPid}`],
  // The program tables are needed once: each segment gets its copy from the segmenter.
  ...['-pat_period', '60', '-sdt_period', '60', '-muxdelay', '0', '-muxpreload', '0', '-flush_packets', '1'],
  'pipe:1',
  ...formatOutput(scheme, plan),
];
