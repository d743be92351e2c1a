/** Applies the fleet's desired content to this site, each push once, as an edit: a later local edit is kept. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Content, validateContent } from '../content/index.ts';
import { mostContentBytes } from '../contract/console/content.ts';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { CodedError } from '../contract/errors.ts';
import { type FleetContent, type FleetPush, fleetOperator, fleetPush, mostStoredBytes } from '../contract/fleet.ts';
import { asFile } from '../domain/document.ts';
import { CONTENT_BUCKET, keySubject, PUSH_HEADERS, streamOf, wantedSubject } from '../domain/fleet-subjects.ts';
import { doubled, type EpochMs } from '../domain/time.ts';
import { createPause } from '../platform/pause.ts';
import type { Records } from '../records/index.ts';
import type { Secrets } from '../secrets/index.ts';
import type { FleetContext, Line } from './connection.ts';
import { isUnanswered, openHubApi, refusalOf, type StoredMessage } from './hub.ts';
import type { Refusals } from './refusals.ts';
import type { FleetClock } from './status.ts';

interface Dependencies {
  content: Pick<Content, 'playing' | 'isWhole' | 'validate' | 'publish' | 'onPlay'>;
  audit: Pick<Records['audit'], 'during'>;
  clock: Pick<FleetClock, 'now' | 'ahead'>;
  /** Boxes of the site that apply the content before this one. */
  boxesBefore(): number;
  /** Called when the state has changed. */
  onChange(): void;
  refusals: Pick<Refusals, 'set'>;
  secrets: Pick<Secrets, 'onChange'>;
}

type Document =
  | { sha256: string; text: string; content: ContentFile }
  | { sha256: string | null; text?: string; errors: readonly ContentIssue[] };

/** A document, and its push; null: the value does not tell it. */
type Wanted = Document & { push: FleetPush | null };
type Takeable = Extract<Document, { text: string }> & { push: FleetPush };

const MAX_RANK = 5;
const MAX_ERRORS = 5;
/**
 * A leaf node can lose its line to the hub unnoticed, so the content is also polled. The interval grows with its size, so
 * that polling costs this much traffic at most.
 */
const POLL_BYTES_PER_MS = 40_000 / 3_600_000;
const MIN_POLL_MS = 900_000;

const unzip = promisify(gunzip);

/** Readings after an announcement, until what it announces is there: any server of a cluster answers, and it may lag. */
const MAX_READINGS = 5;

/** The pause until the content is read again, ms. Pure. @param bytes as stored */
export const pollPause = (bytes: number, random: number): number =>
  Math.max(MIN_POLL_MS, bytes / POLL_BYTES_PER_MS) * (0.75 + random / 2);

/** Decompresses and validates the value of the bucket. */
export const readWanted = async (stored: Uint8Array): Promise<Document> => {
  const refuse = (message: string, sha256: string | null = null): Document => ({
    sha256,
    errors: [{ path: '', message }],
  });
  if (stored.length > mostStoredBytes) return refuse(`the document is over ${mostStoredBytes / 1024} KiB, gzipped`);
  let bytes: Buffer;
  try {
    bytes = await unzip(stored, { maxOutputLength: mostContentBytes });
  } catch (error) {
    const isLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return refuse(isLong ? `the document is over ${mostContentBytes / 1024 ** 2} MiB` : 'the value is not gzip');
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    return refuse(`the document is not JSON: ${(error as Error).message}`, sha256);
  }
  const reading = validateContent(value);
  const document = { sha256, text: asFile(text, value) };
  return reading.ok ? { ...document, content: reading.content } : { ...document, errors: reading.issues };
};

/** A push that is dated further ahead of the clock of the hub is of a wrong clock, ms. */
const MAX_AHEAD_MS = 300_000;

/** The push of a value, by its headers; null: it has none. Pure. @param storedAt when the hub stored it */
export const pushOf = (
  headers: Pick<StoredMessage['headers'], 'get'>,
  storedAt: Date,
  { sha256, site }: { sha256: string | null; site: string },
): FleetPush | null => {
  const given = Date.parse(headers.get(PUSH_HEADERS.at));
  // Else no later push would ever be taken.
  const at = given > storedAt.getTime() + MAX_AHEAD_MS ? storedAt.getTime() : given;
  const { data = null } = fleetPush.safeParse({
    id: headers.get(PUSH_HEADERS.id),
    at: Number.isNaN(at) ? null : new Date(at).toISOString(),
    sha256,
    site,
  });
  return data;
};

/**
 * Whether a push is to be taken: once, and never after a later one. Pure.
 * @param last that was taken; one of a different site, from where the box or its content has moved, does not count, nor
 * does one that the hub dated before its clock was set back
 * @param now by the clock of the fleet; infinite: it is not known
 */
export const isNewer = (push: FleetPush, last: FleetPush | undefined, now: EpochMs): boolean => {
  if (last === undefined || last.site !== push.site) return true;
  const lastAt = Date.parse(last.at);
  return push.id !== last.id && (Date.parse(push.at) >= lastAt || lastAt > now + MAX_AHEAD_MS);
};

export const createWanted = (
  { site, random, monotonicNow, tempo, log }: FleetContext,
  { content, audit, clock, boxesBefore, onChange, refusals, secrets }: Dependencies,
) => {
  let wanted: Wanted | null = null;
  /** Why the newest document could not be taken. */
  let failure: string | null = null;
  /** When the content is to be read, by the monotonic clock; before, what was read last counts. */
  let readAt = Number.NEGATIVE_INFINITY;
  /** Attempts in a row that have failed, perhaps after a long document has taken up the line. */
  let failures = 0;
  const pause = createPause();

  const isTaken = (push: FleetPush): boolean => {
    // The clock of this box, which may be far behind, proves no push wrong.
    const known = clock.ahead() === null ? Number.POSITIVE_INFINITY : clock.now();
    return !isNewer(push, content.playing()?.push, known);
  };

  const describe = (): Pick<FleetContent, 'wanted' | 'wantedPush' | 'state' | 'diverged' | 'errors'> => {
    if (wanted === null) return { wanted: null, wantedPush: null, state: 'none', diverged: false, errors: [] };
    const { sha256, push, text } = wanted;
    const common = { wanted: sha256, wantedPush: push?.id ?? null };
    // A newer box of the site may have taken what is an error here.
    if ('errors' in wanted && (push === null || !isTaken(push))) {
      return { ...common, state: 'refused', diverged: false, errors: wanted.errors.slice(0, MAX_ERRORS) };
    }
    const errors = failure === null ? [] : [{ path: '', message: failure }];
    if (push === null || !isTaken(push)) return { ...common, state: 'pending', diverged: false, errors };
    const diverged = content.playing()?.text !== text;
    return { ...common, state: diverged ? 'diverged' : 'applied', diverged, errors: [] };
  };

  const take = async ({ push, text, content: file }: Takeable): Promise<void> => {
    if (!content.isWhole()) {
      // Until other content plays.
      failure = new CodedError('box_older').message;
      return;
    }
    const rule = { action: 'content.publish', subject: 'content' } as const;
    const asked = { params: {}, operator: fleetOperator, address: null, unrecorded: ['content_changed'] };
    const document = { text, content: file, operator: fleetOperator, push };
    try {
      await audit.during(rule, asked, () => content.publish({ ...document, isExpected: () => !isTaken(push) }));
      failure = null;
      log.info({ push }, 'took the content that the fleet wants');
    } catch (error) {
      // Another box of the site has already applied it.
      if (error instanceof CodedError && error.code === 'content_changed') return;
      failure = `content.json could not be written: ${(error as Error).message}`;
      throw error;
    }
  };

  const judge = async ({ value, headers, storedAt }: StoredMessage): Promise<Wanted | null> => {
    // A deleted key.
    if (value.length === 0) return null;
    const document = await readWanted(value);
    const push = pushOf(headers, storedAt, { sha256: document.sha256, site });
    if ('errors' in document) return { ...document, push };
    if (push !== null) {
      // What this box knows besides, such as secrets, may change once it plays.
      const reading = isTaken(push) ? null : content.validate(JSON.parse(document.text));
      if (reading?.ok === false) return { ...document, errors: reading.issues, push };
      return { ...document, push };
    }
    const message = `the value has no valid ${PUSH_HEADERS.id} and ${PUSH_HEADERS.at}: use "signage fleet push"`;
    return { sha256: document.sha256, errors: [{ path: '', message }], push };
  };

  const takeable = (): Takeable | null => {
    if (wanted === null || 'errors' in wanted || wanted.push === null || isTaken(wanted.push)) return null;
    return { ...wanted, push: wanted.push };
  };

  /** Applies the desired content if the site has not. */
  const apply = async (stored: StoredMessage | null, ended: AbortSignal): Promise<void> => {
    const found = stored === null ? null : await judge(stored);
    if (found !== null && 'errors' in found && found.sha256 !== wanted?.sha256) {
      log.warn({ errors: found.errors }, 'the content that the fleet wants is refused');
    }
    wanted = found;
    onChange();
    if (takeable() === null) return;
    // The first box applies it immediately, the others later, and only if it has not reached them by then.
    const rank = Math.min(boxesBefore(), MAX_RANK);
    await delay(rank * tempo.fleet.rank, undefined, { signal: ended, ref: false });
    const waiting = takeable();
    if (waiting !== null) await take(waiting);
    onChange();
  };

  const retryPause = (): number => doubled(Math.max(0, failures - 1), tempo.fleet.retry, tempo.fleet.maxRetry);

  const readAgain = (): void => {
    readAt = Number.NEGATIVE_INFINITY;
    pause.wake();
  };

  const run = async ({ nats, ended }: Line): Promise<void> => {
    const hub = openHubApi(nats, tempo.fleet.content);
    const what = 'requests for the wanted content';
    /** The sequence of the newest document, and how often it may still be asked for. */
    let announced = { sequence: 0, readings: 0 };
    const read = async (): Promise<StoredMessage | null> => {
      // What is pushed from now on is read afterwards.
      readAt = Number.POSITIVE_INFINITY;
      try {
        const found = await hub.newest(streamOf(CONTENT_BUCKET), keySubject(CONTENT_BUCKET, site));
        refusals.set(what, null);
        announced.readings -= 1;
        const isBehind = announced.readings > 0 && (found?.sequence ?? 0) < announced.sequence;
        const pauseMs = isBehind ? tempo.fleet.retry : pollPause(found?.value.length ?? 0, random());
        readAt = Math.min(readAt, monotonicNow() + pauseMs);
        return found;
      } catch (error) {
        readAt = Number.NEGATIVE_INFINITY;
        if (!ended.aborted) refusals.set(what, refusalOf(error));
        throw error;
      }
    };
    let stored: StoredMessage | null = null;
    readAt = Number.NEGATIVE_INFINITY;
    nats.subscribe(wantedSubject(site), {
      callback: (_, { headers }) => {
        announced = { sequence: Number(headers?.get('Nats-Sequence')), readings: MAX_READINGS };
        readAgain();
      },
    });
    // The document may be what has ended the connection before.
    if (failures > 0) await pause.wait(retryPause(), ended);
    while (!ended.aborted) {
      let pauseMs: number;
      try {
        if (monotonicNow() >= readAt) stored = await read();
        await apply(stored, ended);
        failures = 0;
        pauseMs = readAt - monotonicNow();
      } catch (error) {
        if (!ended.aborted) log.debug({ err: error }, 'the wanted content could not be read or taken');
        onChange();
        // To ask for a bucket that is missing costs nothing.
        failures = isUnanswered(error) ? 0 : failures + 1;
        pauseMs = retryPause();
      }
      await pause.wait(pauseMs, ended);
      // Pushes that follow each other are one.
      await delay(tempo.fleet.announced, undefined, { signal: ended, ref: false }).catch(() => undefined);
      pause.clear();
    }
  };

  content.onPlay(() => {
    onChange();
    // An edit of another box may have superseded the one that applied the desired content.
    if (takeable() !== null) pause.wake();
  });
  secrets.onChange(() => {
    // It may have been refused for a secret that is for other addresses.
    if (wanted !== null && 'errors' in wanted) pause.wake();
  });

  return {
    /** Follows the wanted content for as long as the connection lasts. */
    onLine: (line: Line): void => {
      run(line).catch((error: unknown) => log.error({ err: error }, 'the wanted content is not followed any more'));
    },
    /** Reads it again: the line to the hub was cut. The pause after a failure stays. */
    check: (): void => {
      if (failures === 0) readAgain();
    },
    describe,
  };
};
