/** The audit: one record a change, written where operations are dispatched, and refused credentials, counted. */
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { partyOf } from '../auth/throttle.ts';
import { type AuditRecord, auditRecord } from '../contract/console/site.ts';
import { CodedError } from '../contract/errors.ts';
import type { AuditRule } from '../contract/operations/index.ts';
import { remember } from '../domain/collections.ts';
import { jsonOf } from '../domain/json.ts';
import { createRates } from '../domain/rate.ts';
import type { ServiceContext, StateReaders } from '../module.ts';
import { createPatientJournal } from '../platform/store/journal.ts';
import { newestFirst, pageOf } from './audit-pages.ts';

/** What the dispatcher knows of a request. */
export interface Asked {
  params: Readonly<Record<string, string>>;
  operator: string | null;
  /** Who has proven to make the change; absent: nobody has. */
  person?: AuditRecord['person'];
  /** Null: the box itself. */
  address: string | null;
  /** Codes of errors that are not recorded. */
  unrecorded?: readonly string[];
  /** What can make changes as fast as it likes, such as a display over MQTT; absent: a request, which has a rate. */
  source?: string;
}

/** A record without what the audit adds. */
type Change = Omit<AuditRecord, 'at' | 'node_id' | 'person'> & Partial<Pick<AuditRecord, 'person'>>;

/** Takes the body of the request, once it is read and before it is acted on. */
export type OnBody = (body: Readonly<Record<string, unknown>>) => Promise<void>;

export type Audit = ReturnType<typeof createAudit>;

const MAX_TEXT = 200;
const MAX_CHARACTERS = 2_000;
const WINDOW_MS = 60_000;
/** Requests of one address that failed, a minute: they changed nothing, and must not displace records of changes. */
const MAX_FAILED = 20;
const MAX_ADDRESSES = 1_000;
/** Records of one kind and one source within a time; further changes are counted. A token that leaked must not displace others. */
const MAX_REPEATED = 10;
const REPEATED_MS = 600_000;
/** More than there are triggers, and displays over MQTT; pages have one an address. */
const MAX_SOURCES = 10_000;
/** Whether a claim or an invitation was refused; the error of a rate limit has the refusal as its cause. */
const isRefusal = (error: unknown): boolean =>
  error instanceof CodedError &&
  (['claim_required', 'claim_invalid', 'invitation_invalid'].includes(error.code) || isRefusal(error.cause));

/** Addresses with a record of refused credentials of their own, a minute; those beyond share one. */
const MAX_REFUSED = 20;

/** A state, small enough for a line of a log: long texts are cut, and what is still too long is left out. */
export const boundedState = (state: unknown): unknown => {
  const text = JSON.stringify(state ?? null, (_, value: unknown) =>
    typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value,
  );
  return text.length > MAX_CHARACTERS ? { omitted: `${text.length} characters` } : (JSON.parse(text) as unknown);
};

/** Five files of 2 MiB: the last 20,000 changes or more. */
const MAX_BYTES = 2 * 1024 ** 2;
const MAX_FILES = 5;
/** Records that wait for a disk that takes none; further ones replace the oldest. */
const MAX_WAITING = 1_000;

/** The file: JSON Lines, rotated. */
type AuditLog = ReturnType<typeof createAuditLog>;

const parse = (line: string): AuditRecord[] => {
  const { success, data } = auditRecord.safeParse(jsonOf(line));
  return success ? [data] : [];
};

export const createAuditLog = ({ dirs, log }: Pick<ServiceContext, 'dirs' | 'log'>) => {
  const path = join(dirs.data, 'audit.jsonl');
  const nameOf = (age: number): string => (age === 0 ? path : `${path}.${age}`);
  const rotate = async (): Promise<void> => {
    for (let age = MAX_FILES - 1; age > 0; age -= 1) await rename(nameOf(age - 1), nameOf(age)).catch(() => undefined);
  };
  const journal = createPatientJournal({
    path,
    maxWaiting: MAX_WAITING,
    rotation: { maxBytes: MAX_BYTES, rotate },
    onError: (error) => log.error({ err: error }, 'the audit could not be written'),
    describe: (cause, waiting) => `The audit cannot be written (${cause}); ${waiting} records wait.`,
  });

  return {
    /** Resolves when the record is durable, or waits for a disk that takes no writes now. Never rejects. */
    write: (record: AuditRecord): Promise<void> => journal.write(JSON.stringify(record)),
    /** As `write`, but the record may be lost by a power cut; it outlives the process. */
    note: (record: AuditRecord): Promise<void> => journal.write(JSON.stringify(record), { isSynced: false }),
    /** The newest records that are wanted, by {@link pageOf}. All files are read, because a clock may have been wrong. */
    newest: async (count: number, isWanted: (record: AuditRecord) => boolean): Promise<AuditRecord[]> => {
      const wantedIn = (lines: readonly string[]): AuditRecord[] => lines.toReversed().flatMap(parse).filter(isWanted);
      const waiting = journal.waiting();
      let page = pageOf(newestFirst(wantedIn(waiting)), count);
      // Lines may be written, and files renamed, while the files are read.
      const known = new Set(waiting);
      for (let age = 0; age < MAX_FILES; age += 1) {
        const text = await readFile(nameOf(age), 'utf8').catch(() => '');
        const lines = text.split('\n').filter((line) => !known.has(line));
        page = pageOf(newestFirst([...page, ...wantedIn(lines)]), count);
        for (const line of lines) known.add(line);
      }
      return page;
    },
    faults: journal.faults,
    close: journal.close,
  };
};

/** @param states the readers of all modules */
export const createAudit = (
  { ids, now, monotonicNow, tempo }: Pick<ServiceContext, 'ids' | 'now' | 'monotonicNow' | 'tempo'>,
  { log, states }: { log: Pick<AuditLog, 'write' | 'note'>; states(): StateReaders },
) => {
  const failures = createRates(MAX_FAILED, WINDOW_MS, MAX_ADDRESSES);
  /** Refusals since the last record, by party; null counts those beyond the limit. */
  const refused = new Map<string | null, { address: string | null; count: number; code: string }>();
  /** Parties with a record within the last minute. */
  const recorded = new Map<string | null, number>();

  const repeated = createRates(MAX_REPEATED, REPEATED_MS, MAX_SOURCES);
  /** The last change that was counted, by source and kind, and how many. */
  const counted = new Map<string, { change: Change; count: number }>();

  const complete = (record: Change): AuditRecord => ({
    at: new Date(now()).toISOString(),
    node_id: ids.nodeId,
    person: null,
    ...record,
    before: boundedState(record.before),
    after: boundedState(record.after),
  });
  /** @param source as of {@link Asked} */
  const write = async (change: Change, source?: string, put = log.write): Promise<void> => {
    const key = `${source} ${change.action} ${change.result}`;
    const { count } = counted.get(key) ?? { count: 0 };
    if (source === undefined || (count === 0 && repeated(key).take(monotonicNow()))) return put(complete(change));
    remember(counted, key, { change, count: count + 1 }, MAX_SOURCES);
  };
  const writeCounted = (key: string, { change, count }: { change: Change; count: number }): void => {
    counted.delete(key);
    void log.write(complete({ ...change, after: { ...(change.after as object | null), count } }));
  };

  const mayRecordFailure = (address: string): boolean => failures(partyOf(address)).take(monotonicNow());

  const writeRefused = (party: string | null, address: string | null, count: number, result: string): void => {
    remember(recorded, party, monotonicNow(), MAX_ADDRESSES);
    const action = 'credentials.refused';
    void write({ operator: null, address, action, target: null, before: null, after: { count }, result });
  };

  const mayWriteRefused = (party: string | null): boolean =>
    !recorded.has(party) && (party === null || recorded.size < MAX_REFUSED);

  const flush = (): void => {
    for (const [party, at] of recorded) if (monotonicNow() - at >= WINDOW_MS) recorded.delete(party);
    for (const [party, { address, count, code }] of refused) {
      if (!mayWriteRefused(party)) continue;
      refused.delete(party);
      writeRefused(party, address, count, code);
    }
    for (const [key, each] of counted) if (repeated(key).take(monotonicNow())) writeCounted(key, each);
  };
  const onRefused = (address: string, code: string): void => {
    const party = partyOf(address);
    if (!refused.has(party) && mayWriteRefused(party)) return writeRefused(party, address, 1, code);
    const hasOwn = refused.has(party) || recorded.has(party) || refused.size < MAX_REFUSED;
    const key = hasOwn ? party : null;
    refused.set(key, { address: hasOwn ? address : null, count: (refused.get(key)?.count ?? 0) + 1, code });
  };
  let timer: NodeJS.Timeout | undefined;

  return {
    /** Makes a change, and records it with its result: `ok`, or the code of the error. @throws what `change` throws */
    during: async <Result>(
      { action, subject, id, fields = [] }: AuditRule,
      { params, operator, person = null, address, unrecorded = [], source }: Asked,
      change: (onBody: OnBody) => Promise<Result>,
    ): Promise<Result> => {
      const read = states()[subject];
      const stateOf = async (target: string | null): Promise<unknown> =>
        read === undefined ? null : boundedState(await read(target ?? ''));
      let asked: Readonly<Record<string, unknown>> | null = null;
      let target = id === undefined ? null : (params[id] ?? null);
      let before = id === undefined || target !== null ? await stateOf(target) : null;
      const end = async (result: string): Promise<void> => {
        const record = { operator, person, address, action, target, before, result };
        // What leaves no state behind, such as a command to pages, does not wait for the disk.
        if (read === undefined) await write({ ...record, after: asked }, source, log.note);
        else await write({ ...record, after: await stateOf(target) }, source);
      };
      let result: Awaited<ReturnType<typeof change>>;
      try {
        result = await change(async (body) => {
          asked = Object.fromEntries(fields.filter((field) => field in body).map((field) => [field, body[field]]));
          if (id === undefined || target !== null) return;
          const named = body[id];
          target = typeof named === 'string' ? named.slice(0, MAX_TEXT) : null;
          if (target !== null) before = await stateOf(target);
        });
      } catch (error) {
        const code = error instanceof CodedError ? error.code : 'internal_error';
        if (person === null && address !== null && isRefusal(error)) onRefused(address, code);
        else if (!unrecorded.includes(code) && mayRecordFailure(address ?? '')) await end(code);
        throw error;
      }
      await end('ok');
      return result;
    },
    /** Writes the record of a change that was not requested over HTTP. */
    record: write,
    /** Counts credentials that were refused. @param code of the error */
    onRefused,
    /** Starts to record what is counted, refusals once a minute each. */
    start: (): void => {
      timer = setInterval(flush, tempo.records.refused).unref();
    },
    close: (): void => {
      clearInterval(timer);
      for (const [party, { address, count, code }] of refused) writeRefused(party, address, count, code);
      refused.clear();
      for (const [key, each] of counted) writeCounted(key, each);
    },
  };
};
