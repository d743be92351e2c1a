/** Applies the fleet's desired content to this site, each document once, as an edit: a later local edit is kept. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Content, validateContent } from '../content/index.ts';
import { mostContentBytes } from '../contract/console/content.ts';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { CodedError } from '../contract/errors.ts';
import { type FleetContent, fleetOperator, mostStoredBytes } from '../contract/fleet.ts';
import { asFile } from '../domain/document.ts';
import { CONTENT_BUCKET, keySubject, wantedSubject } from '../domain/fleet-subjects.ts';
import type { Records } from '../records/index.ts';
import { openBucket } from './bucket.ts';
import type { FleetContext, Line } from './connection.ts';
import { createPause } from './pause.ts';

interface Dependencies {
  content: Pick<Content, 'playing' | 'publish' | 'onPlay'>;
  audit: Pick<Records['audit'], 'during'>;
  /** Boxes of the site that apply the content before this one. */
  boxesBefore(): number;
  /** Called when the state has changed. */
  onChange(): void;
}

type Wanted =
  | { sha256: string; text: string; content: ContentFile }
  | { sha256: string | null; errors: readonly ContentIssue[] };

const MAX_RANK = 5;
const MAX_ERRORS = 5;
/**
 * A leaf node can lose its line to the hub unnoticed, so the content is also polled. The interval grows with its size, so
 * that polling costs this much traffic at most.
 */
const POLL_BYTES_PER_MS = 40_000 / 3_600_000;
const MIN_POLL_MS = 900_000;

const unzip = promisify(gunzip);

/** The pause until the content is read again, ms. Pure. @param bytes as stored */
export const pollPause = (bytes: number, random: number): number =>
  Math.max(MIN_POLL_MS, bytes / POLL_BYTES_PER_MS) * (0.75 + random / 2);

/** Decompresses and validates the value of the bucket. */
export const readWanted = async (stored: Uint8Array): Promise<Wanted> => {
  const refuse = (message: string, sha256: string | null = null): Wanted => ({
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
  if (!reading.ok) return { sha256, errors: reading.issues };
  return { sha256, text: asFile(text, value), content: reading.content };
};

export const createWanted = (
  { site, random, tempo, log }: FleetContext,
  { content, audit, boxesBefore, onChange }: Dependencies,
) => {
  let wanted: Wanted | null = null;
  /** Why the newest document could not be written. */
  let failure: string | null = null;
  const pause = createPause();

  const isTaken = (sha256: string | null): boolean =>
    sha256 !== null && content.playing()?.wanted?.includes(sha256) === true;

  const describe = (): Pick<FleetContent, 'wanted' | 'state' | 'diverged' | 'errors'> => {
    if (wanted === null) return { wanted: null, state: 'none', diverged: false, errors: [] };
    const { sha256 } = wanted;
    if ('errors' in wanted) {
      return { wanted: sha256, state: 'refused', diverged: false, errors: wanted.errors.slice(0, MAX_ERRORS) };
    }
    const errors = failure === null ? [] : [{ path: '', message: failure }];
    if (!isTaken(sha256)) return { wanted: sha256, state: 'pending', diverged: false, errors };
    const diverged = content.playing()?.text !== wanted.text;
    return { wanted: sha256, state: diverged ? 'diverged' : 'applied', diverged, errors: [] };
  };

  const take = async ({ sha256, text, content: file }: Extract<Wanted, { text: string }>): Promise<void> => {
    const rule = { action: 'content.publish', subject: 'content' } as const;
    const asked = { params: {}, operator: fleetOperator, address: null, unrecorded: ['content_changed'] };
    const document = { text, content: file, operator: fleetOperator, wanted: sha256 };
    try {
      await audit.during(rule, asked, () => content.publish({ ...document, isExpected: () => !isTaken(sha256) }));
      failure = null;
      log.info({ sha256 }, 'took the content that the fleet wants');
    } catch (error) {
      // Another box of the site has already applied it.
      if (error instanceof CodedError && error.code === 'content_changed') return;
      failure = `content.json could not be written: ${(error as Error).message}`;
      throw error;
    }
  };

  /** Reads the desired content, and applies it if the site has not. @returns bytes as stored */
  const readAndTake = async (read: () => Promise<Uint8Array | null>, ended: AbortSignal): Promise<number> => {
    const stored = await read();
    const found = stored === null ? null : await readWanted(stored);
    if (found !== null && 'errors' in found && found.sha256 !== wanted?.sha256) {
      log.warn({ errors: found.errors }, 'the content that the fleet wants is refused');
    }
    wanted = found;
    onChange();
    if (found !== null && 'text' in found && !isTaken(found.sha256)) {
      // The first box applies it immediately, the others later, and only if it has not reached them by then.
      const rank = Math.min(boxesBefore(), MAX_RANK);
      await delay(rank * tempo.fleet.rank, undefined, { signal: ended, ref: false });
      if (!isTaken(found.sha256)) await take(found);
      onChange();
    }
    return stored?.length ?? 0;
  };

  const run = async ({ nats, ended }: Line): Promise<void> => {
    const bucket = await openBucket(nats, CONTENT_BUCKET);
    const values = nats.subscribe(keySubject(CONTENT_BUCKET, site), { callback: pause.wake });
    nats.subscribe(wantedSubject(site), {
      callback: (error) => {
        // The announcement is enough: it does not contain the document.
        if (error === null) values.unsubscribe();
        pause.wake();
      },
    });
    while (!ended.aborted) {
      let pauseMs = tempo.fleet.retry;
      try {
        const bytes = await readAndTake(async () => (await bucket.get(site))?.value ?? null, ended);
        pauseMs = pollPause(bytes, random());
      } catch (error) {
        if (!ended.aborted) log.debug({ err: error }, 'the wanted content could not be read or taken');
        onChange();
      }
      await pause.wait(pauseMs, ended);
      // New content is announced on two subjects.
      await delay(tempo.fleet.announced, undefined, { signal: ended, ref: false }).catch(() => undefined);
      pause.clear();
    }
  };

  content.onPlay(() => {
    onChange();
    // An edit of another box may have superseded the one that applied the desired content.
    if (wanted !== null && 'text' in wanted && !isTaken(wanted.sha256)) pause.wake();
  });

  return {
    /** Follows the wanted content for as long as the connection lasts. */
    onLine: (line: Line): void => {
      run(line).catch((error: unknown) => log.error({ err: error }, 'the wanted content is not followed any more'));
    },
    /** Reads it again: the line to the hub was cut. */
    check: pause.wake,
    describe,
  };
};
