/** The answer of a box: its body within a limit, and its meaning. */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { tryParse } from '../contract/fields.ts';
import { jsonOf } from '../domain/json.ts';

/** The result of a call. A call never throws. */
export type PeerAnswer<T> =
  | {
      ok: true;
      status: number;
      body: T;
      /** The IP address that answered, as the socket reports it. */
      address: string;
    }
  | Failure;

export interface Failure {
  ok: false;
  /** Null without a complete, authentic answer: the box is away, hangs, closes the connection, or lacks the secret. */
  status: number | null;
  /** Whether the box sent any answer. */
  answered: boolean;
  /** The error code in the answer. */
  code: string | null;
  /** For a person; completes "the box ...". */
  reason: string;
  /** Whether the box did not answer in time, or has been away since. */
  isLate?: true;
  /** Whether it accepted a connection, and was late nevertheless: it is there, and it or the network is busy. */
  isConnected?: true;
}

export const failure = (reason: string, answered = false): Failure => ({
  ok: false,
  status: null,
  code: null,
  answered,
  reason,
});

/** A complete answer that is of no use. */
const unusable = (status: number, reason: string, code: string | null = null): Failure => ({
  ...failure(reason, true),
  status,
  code,
});

/** @param isConnected as in {@link Failure} */
export const late = (ms: number, isConnected: boolean): Failure => ({
  ...failure(`did not answer within ${ms} ms`),
  isLate: true,
  ...(isConnected && { isConnected: true }),
});

/** The box at an address has not authenticated. */
export class Unproven extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.reason);
    this.failure = failure;
  }
}

/** Error codes with which a box answers before the caller is authenticated. */
export const unsigned: readonly string[] = [
  ...['host_refused', 'credentials_required', 'too_many_requests', 'busy', 'signature_invalid', 'signature_stale'],
];

export interface Reply {
  status: number;
  /** Null if the body exceeds the limit. */
  bytes: Uint8Array | null;
  address: string;
}

const errorBody = z.object({ error: z.object({ code: z.string().max(64) }) });

/** Reads the body; null if it exceeds `maxBytes`. */
export const collect = async (response: IncomingMessage, maxBytes: number): Promise<Buffer | null> => {
  const chunks: Buffer[] = [];
  let size = Number(response.headers['content-length'] ?? 0);
  if (size <= maxBytes) {
    size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  }
  if (size <= maxBytes) return Buffer.concat(chunks);
  response.destroy();
  return null;
};

const parseJson = (bytes: Uint8Array): unknown => jsonOf(Buffer.from(bytes).toString());

/** Why a box is away that has no secret, while this one has. Completes "the box ...". */
export const withoutSecret = 'answers without knowing the secret';

/** Explanations for the operator of the errors that keep boxes apart. */
const meanings: Readonly<Record<string, string>> = {
  signature_invalid: 'it has another secret',
  signature_stale: 'the clocks of the two differ',
  credentials_required: 'it has a secret, and this one has none',
  host_refused: 'it does not answer to this name: use its address, or add the name to its SIGNAGE_ALLOWED_HOSTS',
};

/** The error code in the answer; null without one. */
export const codeOf = ({ bytes }: Pick<Reply, 'bytes'>): string | null =>
  bytes === null ? null : (errorBody.safeParse(parseJson(bytes)).data?.error.code ?? null);

export const parseReply = <Schema extends z.ZodType>(reply: Reply, schema: Schema): PeerAnswer<z.output<Schema>> => {
  const { status, bytes, address } = reply;
  if (bytes === null) return unusable(status, 'answers with too large a body');
  if (status < 200 || status > 299) {
    const code = codeOf(reply);
    const meaning = meanings[code ?? ''];
    const reason = ['answers', status, code ?? '', meaning === undefined ? '' : `(${meaning})`].join(' ').trimEnd();
    return unusable(status, reason, code);
  }
  const { success, data, error } = tryParse(schema, parseJson(bytes));
  if (success) return { ok: true, status, body: data, address };
  const path = error.issues[0]?.path.join('.');
  return unusable(status, `answers what was not asked for${path ? ` (${path})` : ''}`);
};
