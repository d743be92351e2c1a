import type { Source } from './source.ts';

/** What ffmpeg is to do with a source, as far as the source is known. */
export interface Plan {
  video: 'copy' | 'encode';
  audio: 'copy' | 'encode';
  /** How long to look at the source before starting: quick misses a track that comes late. */
  probe: 'quick' | 'thorough';
}

/** What most cameras and encoders send needs nothing but another container. */
export const hopefulPlan: Plan = { video: 'copy', audio: 'copy', probe: 'quick' };

/** H.264 with 8 bits in 4:2:0 is what browsers decode; its other profiles have names like `High 10` and `High 4:2:2`. */
const playableVideo = /^h264\b(?! \((?:High \d|CAVLC))/;
const playableAudio = /^aac\b/;

/** The first stream of a kind, as ffmpeg describes it: `h264 (High), yuv420p(progressive), 1280x720, ...`. */
const streamOf = (kind: 'Video' | 'Audio', description: string): string | undefined =>
  new RegExp(`^ *Stream #0:\\d+.*?: ${kind}: (.*)$`, 'm').exec(description)?.[1];

/**
 * A better plan for a source, from what ffmpeg has logged (at level `info`) about it under this one; null where there
 * is none, or none yet. ffmpeg describes its input first, then what it makes of it.
 */
export const revise = (plan: Plan, report: string): Plan | null => {
  const end = report.search(/^(?:Output #0|Stream mapping:)/m);
  if (end < 0) return null;
  const input = report.slice(0, end);
  const video = streamOf('Video', input);
  const audio = streamOf('Audio', input);
  const better: Plan = {
    video: video === undefined ? plan.video : playableVideo.test(video) ? 'copy' : 'encode',
    audio: audio === undefined ? plan.audio : playableAudio.test(audio) ? 'copy' : 'encode',
    probe: input.includes('Could not find codec parameters') ? 'thorough' : plan.probe,
  };
  const isSame = better.video === plan.video && better.audio === plan.audio && better.probe === plan.probe;
  return isSame ? null : better;
};

/** A track that is announced later than this (ms) was not missed: the source was started anew with another format. */
const youth = 5_000;

interface Circumstances {
  /** How long ffmpeg has been running, in ms. */
  age: number;
  /** Whether media has just come again after a pause. */
  isResuming: boolean;
}

/**
 * The plan for starting afresh, from a line that ffmpeg logged while it was running; null where the line is no reason.
 * Servers keep their viewers when a source goes and comes back, but describe its format to new ones only. Its time
 * begins again then; where that happens without a pause, it is a camera that counts badly, and does so all the time.
 */
export const restart = (
  plan: Plan,
  line: string,
  { disableAudio }: Pick<Source, 'disableAudio'>,
  { age, isResuming }: Circumstances,
): Plan | null => {
  const isTrack = disableAudio ? /New video stream/ : /New (?:video|audio) stream/;
  if (isTrack.test(line)) return age < youth ? { ...plan, probe: 'thorough' } : plan;
  return isResuming && line.includes('Non-monoton') ? plan : null;
};
