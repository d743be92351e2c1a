import { isDeepStrictEqual } from 'node:util';
import type { StreamSource } from './source.ts';

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
