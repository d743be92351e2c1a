import { isDeepStrictEqual } from 'node:util';
import type { Source } from './source.ts';

type Facts = Pick<Source, 'scheme' | 'disableAudio'>;

/** Which of the source's tracks of a kind is meant, from 0, and what becomes of it. */
interface TrackPlan<Codec> {
  codec: Codec;
  track: number;
}

/** What ffmpeg is to do with a source, as far as the source is known. */
export interface Plan {
  video: TrackPlan<'copy' | 'encode' | 'none'>;
  audio: TrackPlan<'copy' | 'encode'>;
  /** How long to look at the source before starting: quick misses a track that comes late. */
  probe: 'quick' | 'thorough';
  /** Whether the format of the video can be watched: not by ffmpeg before 5. */
  watch: boolean;
}

/** What most cameras and encoders send needs nothing but another container. */
export const hopefulPlan: Plan = {
  video: { codec: 'copy', track: 0 },
  audio: { codec: 'copy', track: 0 },
  probe: 'quick',
  watch: true,
};

/** H.264 with 8 bits in 4:2:0 is what browsers decode; its other profiles have names like `High 10` and `High 4:2:2`. */
const playableVideo = /^h264\b(?! \((?:High \d|CAVLC))/;
const playableAudio = /^aac\b/;

/**
 * A better plan for a source, from what ffmpeg has logged (at level `info`) about it under this one; null where there
 * is none, or none yet. ffmpeg describes its input first: `Stream #0:1: Video: h264 (High), yuv420p, 1280x720, ...`.
 */
export const revise = (plan: Plan, report: string, { scheme, disableAudio }: Facts): Plan | null => {
  const end = report.search(/^(?:Output #0|Stream mapping:|.*does not contain any stream|Error parsing bitstream)/m);
  if (end < 0) return null;
  const input = report.slice(0, end);

  const planTrack = <Codec>(kind: 'Video' | 'Audio', playable: RegExp, missing: TrackPlan<Codec>) => {
    const tracks = [...input.matchAll(new RegExp(`^ *Stream #0:\\d+.*?: ${kind}: (.*)$`, 'gm'))];
    // An rtmp source has one track of a kind. More: a server that keeps its viewers still sends what there was before.
    const track = scheme.startsWith('rtmp') ? Math.max(0, tracks.length - 1) : 0;
    const description = tracks[track]?.[1];
    if (description === undefined) return missing;
    return { codec: playable.test(description) ? ('copy' as const) : ('encode' as const), track };
  };

  const better: Plan = {
    video: planTrack('Video', playableVideo, { codec: 'none', track: 0 }),
    audio: disableAudio ? plan.audio : planTrack('Audio', playableAudio, hopefulPlan.audio),
    probe: input.includes('Could not find codec parameters') ? 'thorough' : plan.probe,
    watch: plan.watch && !report.includes('Error parsing bitstream filter'),
  };
  return isDeepStrictEqual(better, plan) ? null : better;
};

/** A track that appears later than this (ms) was not missed: the source has changed. */
const youth = 5_000;

/**
 * The plan for starting afresh, from a line that ffmpeg logs while it runs; null where the line is no reason to.
 * @param age how long ffmpeg has been running, in ms
 */
export const restart = (plan: Plan, line: string, { disableAudio }: Facts, age: number): Plan | null => {
  const isTrack = disableAudio ? /New video stream/ : /New (?:video|audio) stream/;
  if (!isTrack.test(line)) return null;
  return age < youth ? { ...plan, probe: 'thorough' } : plan;
};
