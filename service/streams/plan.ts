import { isDeepStrictEqual } from 'node:util';
import type { StreamScheme } from '../contract/stream-schemes.ts';
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

type Facts = Pick<StreamSource, 'scheme' | 'disableAudio'>;

/** The index (from 0) of the source's track of a kind, and how it is encoded. */
interface TrackPlan<Codec> {
  codec: Codec;
  track: number;
}

/** How ffmpeg converts a source, from what is known of the source so far. */
export interface Plan {
  video: TrackPlan<'copy' | 'encode' | 'none'>;
  audio: TrackPlan<'copy' | 'encode'>;
  /** How long to probe the source before starting: `quick` misses a track that starts late. */
  probe: 'quick' | 'thorough';
  /** Whether the video format can be watched, which needs ffmpeg 5 or later. */
  watch: boolean;
}

/** The first plan: most cameras and encoders send codecs that only need a different container. */
export const defaultPlan: Plan = {
  video: { codec: 'copy', track: 0 },
  audio: { codec: 'copy', track: 0 },
  probe: 'quick',
  watch: true,
};

/** Browsers decode 8-bit 4:2:0 H.264; profiles such as `High 10` and `High 4:2:2` are encoded again. */
const playableVideo = /^h264\b(?! \((?:High \d|CAVLC))/;
const playableAudio = /^aac\b/;

/**
 * A better plan for a source, from ffmpeg's log (level `info`) under the current plan; null if there is none, or none
 * yet. ffmpeg describes its input first: `Stream #0:1: Video: h264 (High), yuv420p, 1280x720, ...`.
 */
export const revise = (plan: Plan, report: string, { scheme, disableAudio }: Facts): Plan | null => {
  const end = report.search(/^(?:Output #0|Stream mapping:|.*does not contain any stream|Error parsing bitstream)/m);
  if (end < 0) return null;
  const input = report.slice(0, end);

  const planTrack = <Codec>(kind: 'Video' | 'Audio', playable: RegExp, missing: TrackPlan<Codec>) => {
    const tracks = [...input.matchAll(new RegExp(`^ *Stream #0:\\d+.*?: ${kind}: (.*)$`, 'gm'))];
    // An rtmp source has one track of a kind. With more, the server still sends the old tracks too: take the last.
    const track = scheme.startsWith('rtmp') ? Math.max(0, tracks.length - 1) : 0;
    const description = tracks[track]?.[1];
    if (description === undefined) return missing;
    return { codec: playable.test(description) ? ('copy' as const) : ('encode' as const), track };
  };

  const better: Plan = {
    video: planTrack('Video', playableVideo, { codec: 'none', track: 0 }),
    audio: disableAudio ? plan.audio : planTrack('Audio', playableAudio, defaultPlan.audio),
    probe: input.includes('Could not find codec parameters') ? 'thorough' : plan.probe,
    watch: plan.watch && !report.includes('Error parsing bitstream filter'),
  };
  return isDeepStrictEqual(better, plan) ? null : better;
};

/** A track that appears later than this (ms) was not missed by probing: the source has changed. */
const probeWindow = 5_000;

/**
 * The plan for restarting ffmpeg, from a line that it logs while it runs; null if the line is no reason to restart.
 * @param age how long ffmpeg has been running, in ms
 */
export const restart = (plan: Plan, line: string, { disableAudio }: Facts, age: number): Plan | null => {
  const isTrack = disableAudio ? /New video stream/ : /New (?:video|audio) stream/;
  if (!isTrack.test(line)) return null;
  return age < probeWindow ? { ...plan, probe: 'thorough' } : plan;
};
