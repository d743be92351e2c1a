/** The buckets and streams of the hub: what they are to be like, and what is wrong with them. */
import { JetStreamApiError, type JetStreamManager, type StreamConfig, type StreamInfo } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { mostRecordBytes, mostStatusBytes } from '../../contract/fleet.ts';
import {
  CONTENT_BUCKET,
  contentRepublish,
  keySubject,
  STATUS_BUCKET,
  STREAMS,
  siteOf,
  streamOf,
  upwardSubject,
} from '../../domain/fleet-subjects.ts';

const DAY_MS = 86_400_000;
const GIB = 1024 ** 3;
/** The status of a box that has not written for this long is deleted. */
const STATUS_DAYS = 30;
const RECORDS_DAYS = 90;
/** Of nats-server, headers included. */
const MAX_MESSAGE = 1024 ** 2;
/** Ids of messages are remembered so briefly that no site can have a record of another site dropped. */
const DUPLICATES_MS = 100;
/** A hub with less storage gets smaller bounds. */
const SMALLEST_SHARE = 1 / 256;

/** API error: the storage that is left is less than the bound. */
const NO_STORAGE = 10_047;

interface Wanted extends Partial<StreamConfig> {
  name: string;
  subjects: string[];
  /** What a new stream may have; of one that exists the operator may have chosen another bound. */
  max_bytes: number;
}

/** What a site writes reaches no setting of a stream: nothing is purged, deleted or rolled up, and nothing is scheduled. */
const common = {
  allow_direct: true,
  allow_rollup_hdrs: false,
  deny_delete: true,
  deny_purge: true,
  discard: 'new' as StreamConfig['discard'],
  retention: 'limits' as StreamConfig['retention'],
  storage: 'file' as StreamConfig['storage'],
};
const bucket = (name: string) => ({
  ...common,
  name: streamOf(name),
  subjects: [keySubject(name, '>')],
  max_msgs_per_subject: 1,
  duplicate_window: nanos(DUPLICATES_MS),
});

/** By the name that `fleet init` prints. */
const wanted: Readonly<Record<string, Wanted>> = {
  [CONTENT_BUCKET]: {
    ...bucket(CONTENT_BUCKET),
    max_msg_size: MAX_MESSAGE,
    max_bytes: 2 * GIB,
    republish: contentRepublish,
  },
  [STATUS_BUCKET]: {
    ...bucket(STATUS_BUCKET),
    max_msg_size: mostStatusBytes,
    max_bytes: GIB / 4,
    max_age: nanos(STATUS_DAYS * DAY_MS),
  },
  ...Object.fromEntries(
    (['plays', 'alerts'] as const).map((kind) => [
      STREAMS[kind],
      {
        ...common,
        name: STREAMS[kind],
        subjects: [upwardSubject('*', kind, '*')],
        max_age: nanos(RECORDS_DAYS * DAY_MS),
        max_msg_size: mostRecordBytes,
        max_bytes: kind === 'plays' ? 8 * GIB : GIB / 4,
        duplicate_window: nanos(DUPLICATES_MS),
      },
    ]),
  ),
};

const codeOf = (error: unknown): number => (error instanceof JetStreamApiError ? error.apiError().err_code : 0);

/** @returns null: there is no such stream */
export const streamInfo = async (
  manager: JetStreamManager,
  stream: string,
  subjects?: string,
): Promise<StreamInfo | null> => {
  try {
    return await manager.streams.info(stream, subjects === undefined ? undefined : { subjects_filter: subjects });
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return null;
    throw error;
  }
};

/** Adds a stream; where the storage that is left is less than its bound, with half of it, and so on. */
const addStream = async (manager: JetStreamManager, config: Wanted, replicas: number): Promise<void> => {
  for (let share = 1; ; share /= 2) {
    try {
      await manager.streams.add({ ...config, max_bytes: Math.floor(config.max_bytes * share), num_replicas: replicas });
      return;
    } catch (error) {
      if (codeOf(error) !== NO_STORAGE || share <= SMALLEST_SHARE) throw error;
    }
  }
};

/** Whether a setting of a stream differs. A list or an object may have more entries than wanted. */
const differs = (is: unknown, want: unknown): boolean => {
  if (typeof want !== 'object' || want === null) return is !== want && !(is === undefined && want === false);
  return Object.entries(want).some(([name, value]) =>
    differs((is as Record<string, unknown> | undefined)?.[name], value),
  );
};

/**
 * Makes the buckets and streams that are missing, and repairs the settings of the others.
 * @param replicas null: of streams that exist, as they are
 * @returns the names of those that were made, and of those that were repaired
 */
export const prepareStreams = async (
  manager: JetStreamManager,
  replicas: number | null,
): Promise<{ made: string[]; repaired: string[] }> => {
  const result = { made: [] as string[], repaired: [] as string[] };
  for (const [name, config] of Object.entries(wanted)) {
    const info = await streamInfo(manager, config.name);
    if (info === null) {
      await addStream(manager, config, replicas ?? 1);
      result.made.push(name);
      continue;
    }
    const { max_bytes, ...rest } = config;
    const settings: Partial<StreamConfig> = {
      ...rest,
      max_bytes: info.config.max_bytes > 0 ? info.config.max_bytes : max_bytes,
      ...(replicas !== null && { num_replicas: replicas }),
    };
    if (!differs(info.config, settings)) continue;
    await manager.streams.update(config.name, { ...info.config, ...settings });
    result.repaired.push(name);
  }
  return result;
};

/** A stream that uses more than this share of its bound is reported as full. */
const FULL = 0.95;
const NEARLY_FULL = 0.8;

/** Sentences about missing and full streams. */
export const streamIssues = async (manager: JetStreamManager): Promise<string[]> => {
  const issues: string[] = [];
  for (const [name, { name: stream }] of Object.entries(wanted)) {
    const info = await streamInfo(manager, stream);
    if (info === null) {
      issues.push(`The hub has no ${name}: run "signage fleet init".`);
      continue;
    }
    const share = info.state.bytes / info.config.max_bytes;
    if (info.config.max_bytes <= 0 || share < NEARLY_FULL) continue;
    const { subjects = {} } = (await streamInfo(manager, stream, '>'))?.state ?? {};
    const counts = new Map<string, number>();
    for (const [subject, count] of Object.entries(subjects)) {
      const site = subject.startsWith('$KV.') ? (subject.split('.')[2] ?? '') : siteOf(subject);
      counts.set(site, (counts.get(site) ?? 0) + count);
    }
    const [most] = [...counts].sort(([, a], [, b]) => b - a);
    const holder = most === undefined ? '' : `; the site with most has ${most[1]} messages: ${most[0]}`;
    const what = share >= FULL ? 'is full, and takes nothing more' : `is full to ${Math.round(share * 100)} %`;
    issues.push(`${name} of the hub ${what}${holder}.`);
  }
  return issues;
};
