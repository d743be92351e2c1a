/**
 * A key-value bucket of the hub. A box never creates one, and requests only its own keys: it has no permission for
 * more.
 */
import { JetStreamApiError, jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { errors, type NatsConnection } from '@nats-io/transport-node';

/** The hub has no such bucket or stream. */
export class Unprepared extends Error {
  override readonly name = 'Unprepared';
}

export interface BucketEntry {
  value: Uint8Array;
  /** Of the value in the bucket; a deleted value has none. */
  revision: number;
  /** When the hub stored it, by its clock. */
  created: Date;
}

export interface Bucket {
  /** Stores a value; resolves when the hub has it. @throws Unprepared, or the error of NATS */
  put(key: string, value: Uint8Array): Promise<void>;
  /** The newest value; null: there is none. @throws as `put` */
  get(key: string): Promise<BucketEntry | null>;
}

/** API error 10059. */
const STREAM_NOT_FOUND = 10_059;

/** Whether nothing at the hub answers for a bucket or stream. */
const isUnprepared = (error: unknown): boolean => {
  if (error instanceof JetStreamApiError) return error.apiError().err_code === STREAM_NOT_FOUND;
  if (error instanceof errors.RequestError) return error.isNoResponders();
  return error instanceof errors.NoRespondersError || (error as Error).name === 'JetStreamNotEnabled';
};

/** @throws Unprepared for "no responders", else the error */
export const refuse = (error: unknown): never => {
  throw isUnprepared(error) ? new Unprepared('nothing answers', { cause: error }) : error;
};

export const openBucket = async (nats: NatsConnection, name: string): Promise<Bucket> => {
  const buckets = new Kvm(jetstream(nats));
  // Direct reads are those that the hub can permit key by key.
  const [direct, plain] = [await buckets.open(name, { allow_direct: true }), await buckets.open(name)];
  let isDirect = true;
  /** A bucket that was created without direct reads has no responder for them. */
  const getPlain = async (key: string) => {
    const entry = await plain.get(key).catch(refuse);
    isDirect = false;
    return entry;
  };
  return {
    put: async (key, value) => void (await direct.put(key, value).catch(refuse)),
    get: async (key) => {
      const entry = isDirect ? await direct.get(key).catch(() => getPlain(key)) : await getPlain(key);
      if (entry === null || entry.operation !== 'PUT') return null;
      const { value, revision, created } = entry;
      return { value, revision, created };
    },
  };
};
