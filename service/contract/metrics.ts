/** The metrics of `GET /metrics`: names, types and labels, on which dashboards and alert rules depend. */
import { commandNames } from './command-names.ts';
import { playRefusals, playResults } from './plays.ts';
import { slideKinds } from './slide-values.ts';

/** How the labels of a metric are bounded. */
type LabelValues = readonly string[] | { readonly most: number };

interface Metric {
  type: 'gauge' | 'counter' | 'histogram';
  help: string;
  /** By name: the values, all of which are reported from the start, or the maximum number of values. */
  labels?: Readonly<Record<string, LabelValues>>;
  /** Upper bounds of a histogram. */
  buckets?: readonly number[];
  /** Whether boxes without displays of their own lack it. */
  isOfKiosk?: true;
}

/** The value of a label for everything beyond its maximum number of values; no slug has this form. */
export const otherValues = '_other';

/** States of a stream session, as `service/streams/lifecycle.ts` defines them. */
export const streamStates = ['starting', 'live', 'quiet', 'stalled', 'backoff', 'failed'] as const;

export const metrics = {
  signage_build_info: { type: 'gauge', help: '1; the version of the program.', labels: { version: { most: 1 } } },
  signage_devices_expected: {
    type: 'gauge',
    help: 'Bound devices of the site that should be connected now: those of screens within their opening hours.',
  },
  signage_devices_connected: { type: 'gauge', help: 'Expected devices that are connected to any box of the site.' },
  signage_screen_connections: {
    type: 'gauge',
    help: 'Pages of a screen that are connected to this box.',
    labels: { screen: { most: 1_000 } },
  },
  signage_swap_gap_seconds: {
    type: 'histogram',
    help: 'How long the screen was empty during slide changes.',
    buckets: [0.001, 0.01, 0.017, 0.034, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
  },
  signage_slides_shown_total: {
    type: 'counter',
    help: 'Plays that pages reported to this box.',
    labels: { kind: slideKinds, result: playResults },
  },
  signage_plays_refused_total: {
    type: 'counter',
    help: 'Plays that pages reported and this box did not keep; unproven ones are counted each time they are reported.',
    labels: { reason: playRefusals },
  },
  signage_commands_total: {
    type: 'counter',
    help: 'Commands that this box received from clients: delivered to at least one page, undelivered, or failed.',
    labels: { command: commandNames('extended'), result: ['delivered', 'undelivered', 'failed'] },
  },
  signage_triggers_total: {
    type: 'counter',
    help: 'Firings of a trigger at this box, by its id, and requests with unknown tokens.',
    labels: { trigger: { most: 201 }, result: ['ok', 'failed'] },
  },
  signage_peers: {
    type: 'gauge',
    help: 'Other boxes of the site.',
    labels: { state: ['alive', 'away', 'unknown'] },
  },
  signage_sync_skew_seconds: {
    type: 'gauge',
    help: 'By how much synchronized slides deviated from their scheduled time: 95th percentile of the last 1,000.',
  },
  signage_stream_sessions: {
    type: 'gauge',
    help: 'Stream sessions by state.',
    labels: { state: streamStates },
  },
  signage_stream_restarts_total: { type: 'counter', help: 'Starts of ffmpeg beyond the first of each session.' },
  signage_feed_fetches_total: {
    type: 'counter',
    help: 'Fetches of feeds and API sources.',
    labels: { result: ['ok', 'failed'] },
  },
  signage_media_bytes: {
    type: 'gauge',
    help: "Size of the media: uploads, copies of remote media, files of the other boxes' uploads, and renditions.",
    labels: { store: ['uploads', 'copies', 'peers', 'renditions'] },
  },
  signage_conversions_total: {
    type: 'counter',
    help: 'Renditions that this box made or fetched from another box, and media that could not be converted.',
    labels: { result: ['made', 'fetched', 'failed'] },
  },
  signage_renditions: {
    type: 'gauge',
    help: 'Media of this box that need a rendition.',
    labels: { state: ['queued', 'converting', 'ready', 'failed'] },
  },
  signage_store_writes_total: {
    type: 'counter',
    help: 'Durable writes of the state.',
    labels: { result: ['ok', 'failed'] },
  },
  signage_recoveries_total: {
    type: 'counter',
    help: 'Recovery actions of the kiosk.',
    labels: { step: ['reload', 'recreate', 'fallback', 'relaunch'] },
  },
  signage_content_valid: {
    type: 'gauge',
    help: '1: content.json is valid; 0: it is not, and the last valid content plays, if there is any.',
  },
  signage_video_frames_total: {
    type: 'counter',
    help: 'Frames of films on the pages of this box: shown, or dropped because they came too late.',
    labels: { result: ['decoded', 'dropped'] },
  },
  signage_display_info: {
    type: 'gauge',
    help: '1; how a display of the kiosk is painted, and its films are decoded, as in /healthz.',
    labels: {
      display: { most: 32 },
      gpu: ['hardware', 'software'],
      video_decode: ['hardware', 'software', 'unknown'],
    },
    isOfKiosk: true,
  },
  signage_clock_trusted: { type: 'gauge', help: '1: the clock of the box is plausible; 0: it was never set.' },
} as const satisfies Readonly<Record<`signage_${string}`, Metric>>;

export type MetricName = keyof typeof metrics;

/** The values of some metrics: a number, or numbers by the values of the labels, one level for each label. */
export type MetricReport = Partial<Record<MetricName, number | CountsByLabel>>;
interface CountsByLabel {
  readonly [value: string]: number | CountsByLabel;
}
