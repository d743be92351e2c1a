/** Sends records of this box to a stream of the hub, and finds out whether the hub still has those before. */
import { mostRecordBytes } from '../contract/fleet.ts';
import { recordId, STREAMS, type Upward, upwardSubject } from '../domain/fleet-subjects.ts';
import type { FleetContext, Line } from './connection.ts';
import { isOutOfSequence, isTooLarge, openHubApi, refusalOf } from './hub.ts';
import type { Refusals } from './refusals.ts';

export interface UpwardRecord {
  /** Unique in its site. */
  id: string;
  body: unknown;
}

/** Records in flight. */
const AT_ONCE = 50;
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

  const failed = (error: unknown): never => {
    newestSequence = null;
    if (isOutOfSequence(error)) throw new Error('the hub has other records of this box', { cause: error });
    const reason = refusalOf(error);
    if (reason !== null) refusals.set(kind, reason);
    log.debug({ err: error, kind }, 'the hub does not take records; they wait');
    throw new Error(
      `${reason === null ? 'the connection to the hub of the fleet has ended' : 'the hub of the fleet does not take them'}`,
      {
        cause: error,
      },
    );
  };

  return {
    /** Forgets what the hub has: the connection is new. */
    reset: (): void => {
      newestSequence = null;
    },
    /** The id of the newest record of this box at the hub; null: there is none. @throws Error whose message is a clause */
    newest: async (): Promise<string | null> => {
      const { api } = connected();
      const found = await api.newest(stream, subject).catch(failed);
      refusals.set(kind, null);
      newestSequence = found?.sequence ?? 0;
      const id = found?.headers.get('Nats-Msg-Id') ?? null;
      // An id of another form is that of no record.
      return id?.startsWith(recordId(site, '')) ? id.slice(recordId(site, '').length) : id;
    },
    /**
     * Sends records in their order, after {@link newest}; resolves when the hub has all of them but those that it never
     * takes.
     * @returns the id of the last one that it has; null: it took none of these
     * @throws Error whose message is a clause; a part of them may have been stored then
     */
    send: async (records: readonly UpwardRecord[]): Promise<string | null> => {
      const { api } = connected();
      if (newestSequence === null) throw new Error('it is not known which records of this box the hub has');
      let last: string | null = null;
      let sequence = newestSequence;
      /** @param after absent: the place of the record is not known yet */
      const publish = async ({ id, body }: UpwardRecord, after?: number): Promise<void> => {
        const bytes = Buffer.from(JSON.stringify(body));
        if (bytes.length > mostRecordBytes - HEADER_BYTES) return leaveOut(id, bytes.length);
        const options = { id: recordId(site, id), ...(after !== undefined && { after }) };
        try {
          const stored = await api.publish(subject, bytes, options);
          if (stored >= sequence) [sequence, last] = [stored, id];
        } catch (error) {
          if (!isTooLarge(error)) throw error;
          leaveOut(id, bytes.length);
        }
      };
      const waiting = [...records];
      try {
        // The first one is taken only where the hub has lost none of those before.
        while (last === null && waiting[0] !== undefined)
          await publish(waiting.splice(0, 1)[0] as UpwardRecord, sequence);
        while (waiting.length > 0) {
          const results = await Promise.allSettled(waiting.splice(0, AT_ONCE).map((record) => publish(record)));
          const rejected = results.find((result) => result.status === 'rejected');
          if (rejected !== undefined) throw rejected.reason;
        }
      } catch (error) {
        failed(error);
      }
      newestSequence = sequence;
      refusals.set(kind, null);
      return last;
    },
    /** A sentence about records that the hub never takes. */
    notes: (): string[] =>
      leftOut === 0 ? [] : [`Since the start ${leftOut} ${kind} were left out: they are too large for the hub.`],
  };
};
export type UpwardChannel = ReturnType<typeof createUpward>;
