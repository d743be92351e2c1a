/** Sends records of this box to a stream of the hub, and finds out whether the hub still has those before. */
import { mostRecordBytes } from '../contract/fleet.ts';
import { recordId, STREAMS, type Upward, upwardSubject } from '../domain/fleet-subjects.ts';
import type { Taken } from '../records/index.ts';
import type { FleetContext, Line } from './connection.ts';
import { isOutOfSequence, isTooLarge, openHubApi, refusalOf } from './hub.ts';
import type { Refusals } from './refusals.ts';

export interface UpwardRecord {
  /** Unique in its site. */
  id: string;
  body: unknown;
}

/**
 * Records in flight. The newest alert at the hub shows which alerts it has, so none may be stored after a refused one: a
 * full hub refuses a long alert and stores a shorter one.
 */
const AT_ONCE = { plays: 50, alerts: 1 } as const satisfies Record<Upward, number>;
/** For the headers of a record. */
const HEADER_BYTES = 512;

/** @param line the connection; null: the hub is away */
export const createUpward = (
  { site, nodeId, log }: FleetContext,
  kind: Upward,
  { line, refusals }: { line: () => Line | null; refusals: Pick<Refusals, 'set'> },
) => {
  const stream = STREAMS[kind];
  const subject = upwardSubject(site, kind, nodeId);
  /** The sequence of the newest record of this box at the hub; 0: none; null: not known. */
  let newestSequence: number | null = null;
  /** Whether the hub has refused a record since it took one: that it answers does not mean that it takes them again. */
  let isRefusing = false;
  let leftOut = 0;

  /** @throws Error whose message is a clause */
  const connected = () => {
    const current = line();
    if (current === null) throw new Error('the hub of the fleet is away');
    return { line: current, api: openHubApi(current.nats) };
  };

  const leaveOut = (id: string, bytes: number): void => {
    leftOut += 1;
    log.warn({ kind, id, bytes }, 'a record is too large for the hub, and is left out');
  };

  /** Notes why the hub does not take records. @returns an Error whose message is a clause */
  const failureOf = (error: unknown): Error => {
    newestSequence = null;
    if (isOutOfSequence(error)) return new Error('the hub has other records of this box', { cause: error });
    const reason = refusalOf(error);
    if (reason !== null) refusals.set(kind, reason);
    log.debug({ err: error, kind }, 'the hub does not take records; they wait');
    const clause =
      reason === null ? 'the connection to the hub of the fleet has ended' : 'the hub of the fleet does not take them';
    return new Error(clause, { cause: error });
  };

  return {
    /** Forgets what the hub has: the connection is new. */
    reset: (): void => {
      newestSequence = null;
      isRefusing = false;
    },
    /** The id of the newest record of this box at the hub; null: there is none. @throws Error whose message is a clause */
    newest: async (): Promise<string | null> => {
      const { api } = connected();
      const found = await api.newest(stream, subject).catch((error: unknown) => {
        throw failureOf(error);
      });
      if (!isRefusing) refusals.set(kind, null);
      newestSequence = found?.sequence ?? 0;
      const id = found?.headers.get('Nats-Msg-Id') ?? null;
      // An id of another form is that of no record.
      return id?.startsWith(recordId(site, '')) ? id.slice(recordId(site, '').length) : id;
    },
    /**
     * Sends records in their order, after {@link newest}, which is asked again after those that are not all taken: the hub
     * may have some of the others, too.
     * @throws Error whose message is a clause, if the first one is not taken
     */
    send: async (records: readonly UpwardRecord[]): Promise<Taken> => {
      const { api } = connected();
      if (newestSequence === null) throw new Error('it is not known which records of this box the hub has');
      let last: string | null = null;
      let sequence = newestSequence;
      /** @param after absent: the place of the record is not known yet; @returns its sequence; null: it is left out */
      const publish = async ({ id, body }: UpwardRecord, after?: number): Promise<number | null> => {
        const bytes = Buffer.from(JSON.stringify(body));
        const isLong = bytes.length > mostRecordBytes - HEADER_BYTES;
        const options = { id: recordId(site, id), ...(after !== undefined && { after }) };
        const stored = isLong
          ? null
          : await api.publish(subject, bytes, options).catch((error: unknown) => {
              if (isTooLarge(error)) return null;
              throw error;
            });
        if (stored === null) leaveOut(id, bytes.length);
        return stored;
      };
      for (let count = 0; count < records.length; ) {
        // The first one is taken only where the hub has lost none of those before.
        const after = last === null ? sequence : undefined;
        const part = records.slice(count, count + (last === null ? 1 : AT_ONCE[kind]));
        const results: PromiseSettledResult<number | null>[] = await Promise.allSettled(
          part.map((record) => publish(record, after)),
        );
        for (const [n, result] of results.entries()) {
          if (result.status === 'rejected') {
            isRefusing = true;
            const failure = failureOf(result.reason);
            if (count === 0) throw failure;
            return { count, last };
          }
          count += 1;
          if (result.value !== null && result.value >= sequence) [sequence, last] = [result.value, part[n]?.id ?? null];
        }
      }
      newestSequence = sequence;
      isRefusing = false;
      refusals.set(kind, null);
      return { count: records.length, last };
    },
    /** A sentence about records that the hub never takes. */
    notes: (): string[] =>
      leftOut === 0 ? [] : [`Since the start ${leftOut} ${kind} were left out: they are too large for the hub.`],
  };
};
export type UpwardChannel = ReturnType<typeof createUpward>;
