/** What a box asks of JetStream of the hub: its own keys and records alone, under the prefix of its account. */
import { JetStreamApiError, JetStreamError, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { errors, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { SITE_API } from '../domain/fleet-subjects.ts';

export interface StoredMessage {
  value: Uint8Array;
  headers: MsgHdrs;
  /** In its stream. */
  sequence: number;
  /** When the hub stored it, by its clock. */
  storedAt: Date;
}

interface PublishOptions {
  /** `Nats-Msg-Id`. */
  id?: string;
  /** Sequence of the newest message of the subject; 0: there is none. The hub refuses a message after another one. */
  after?: number;
}

export type HubApi = ReturnType<typeof openHubApi>;

/** @param timeout how long an answer may take, ms; absent: as NATS has it */
export const openHubApi = (nats: NatsConnection, timeout?: number) => {
  const options = { apiPrefix: SITE_API, checkAPI: false, ...(timeout !== undefined && { timeout }) };
  const [client, manager] = [jetstream(nats, options), jetstreamManager(nats, options)];
  return {
    /** Stores a message; resolves with its sequence. @throws the error of NATS, which {@link refusalOf} describes */
    publish: async (subject: string, value: Uint8Array, { id, after }: PublishOptions = {}): Promise<number> => {
      const { seq } = await client.publish(subject, value, {
        ...(id !== undefined && { msgID: id }),
        ...(after !== undefined && { expect: { lastSubjectSequence: after } }),
      });
      return seq;
    },
    /** The newest message of a subject of the stream; null: there is none. @throws as `publish` */
    newest: async (stream: string, subject: string): Promise<StoredMessage | null> => {
      const message = await (await manager).direct.getMessage(stream, { last_by_subj: subject });
      if (message === null) return null;
      return { value: message.data, headers: message.header, sequence: message.seq, storedAt: message.time };
    },
  };
};

/** API errors of nats-server. */
const STREAM_NOT_FOUND = 10_059;
const TOO_LARGE = 10_054;
const WRONG_SEQUENCES = [10_071, 10_164];

const apiCode = (error: unknown): number | null =>
  error instanceof JetStreamApiError ? error.apiError().err_code : null;

/** Whether the hub will never take the message. */
export const isTooLarge = (error: unknown): boolean => apiCode(error) === TOO_LARGE;

/** Whether the newest message of the subject is another one than that after which it was to be stored. */
export const isOutOfSequence = (error: unknown): boolean => WRONG_SEQUENCES.includes(apiCode(error) ?? 0);

/** Whether nothing at the hub answers for a bucket or stream. */
export const isUnanswered = (error: unknown): boolean =>
  apiCode(error) === STREAM_NOT_FOUND ||
  error instanceof errors.NoRespondersError ||
  (error instanceof errors.RequestError && error.isNoResponders()) ||
  (error as Error).name === 'JetStreamNotEnabled' ||
  (error as Error).name === 'JetStreamStatusError';

/** Why the hub does not take something; null: the connection has ended, which is told elsewhere. */
export const refusalOf = (error: unknown): string | null => {
  if (error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError) return null;
  if (isUnanswered(error))
    return 'nothing answers for it: run "signage fleet init" once, or check the line of a leaf node';
  if (error instanceof errors.TimeoutError) return 'it does not answer in time';
  if (error instanceof JetStreamError || error instanceof JetStreamApiError) return `"${error.message}"`;
  return (error as Error).message;
};
