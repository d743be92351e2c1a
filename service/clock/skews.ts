/** Summarises the recent synchronization errors that pages report. */
import type { SkewSummary } from '../contract/health.ts';
import type { Skew } from '../contract/socket.ts';

/** Samples of each kind that are kept. */
const MAX_SAMPLES = 1_000;

/** Percentiles of absolute values: early is as bad as late. */
const summarise = (skews: readonly number[]): SkewSummary | null => {
  const sorted = skews.map(Math.abs).sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return sorted.length === 0 ? null : { count: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
};

export const createSkews = () => {
  let swaps: number[] = [];
  let videos: number[] = [];
  return {
    add: (skew: Skew): void => {
      swaps = [...swaps, ...skew.swaps].slice(-MAX_SAMPLES);
      videos = [...videos, ...skew.videos].slice(-MAX_SAMPLES);
    },
    summary: () => ({ swaps: summarise(swaps), videos: summarise(videos) }),
  };
};
