import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { sealedBytes } from '../auth/seal.ts';
import { sha256Hex } from '../auth/sign.ts';
import { checkAge, checkBody } from '../auth/signatures.ts';
import { CodedError } from '../contract/errors.ts';
import { sealedType } from '../contract/peers.ts';
import { isNestedWithin } from '../domain/collections.ts';
import type { Context } from './routes.ts';

/** Limits of a body: its size in bytes, the time until it must be complete, and for how long nothing may arrive. */
interface BodyLimits {
  bytes: number;
  ms: number;
  stillMs?: number;
}

const small: BodyLimits = { bytes: 64 * 1024, ms: 15_000 };

export const spellBytes = (bytes: number): string =>
  bytes < 1024 ** 2 ? `${bytes / 1024} KiB` : `${bytes / 1024 ** 2} MiB`;

export interface JsonText {
  /** As sent, without a byte order mark. */
  text: string;
  value: Record<string, unknown>;
}

/** Whether the headers of a request announce a body. */
export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Maps an error of raw-body to an error response. */
const readError = (error: unknown, { bytes }: BodyLimits): CodedError => {
  const { type } = error as { type?: string };
  if (type === 'entity.too.large')
    return new CodedError('payload_too_large', `The body must not be over ${spellBytes(bytes)}.`);
  return new CodedError('invalid_request', 'The connection ended before the body was complete.', { cause: error });
};

const withDeadline = async <T>(ctx: Context, { ms, stillMs = ms }: BodyLimits, reading: Promise<T>): Promise<T> => {
  let deadline: NodeJS.Timeout | undefined;
  let still: NodeJS.Timeout | undefined;
  const onData = (): void => void still?.refresh();
  const late = new Promise<never>((_, reject) => {
    const refuse = (): void =>
      reject(new CodedError('request_timeout', undefined, { headers: { Connection: 'close' } }));
    deadline = setTimeout(refuse, ms);
    still = setTimeout(refuse, stillMs);
  });
  ctx.req.on('data', onData);
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(deadline);
    clearTimeout(still);
    ctx.req.off('data', onData);
    ctx.req.resume();
  }
};

/**
 * Judges the person who has signed a request again once its body is there: they may have held it until their key was removed,
 * or they had another role.
 * @throws CodedError `key_unknown`, `role_required` or `out_of_scope`
 */
export const judgeAgain = ({ state }: Pick<Context, 'state'>): void => {
  Object.assign(state, state.judgeAgain?.());
};

const readBytes = async (ctx: Context, limits: BodyLimits, limit = limits.bytes): Promise<Buffer> => {
  const reading = getRawBody(ctx.req, { limit, length: ctx.get('Content-Length') || null });
  const bytes = await withDeadline(
    ctx,
    limits,
    reading.catch((error: unknown) => {
      throw readError(error, limits);
    }),
  );
  checkBody(sha256Hex(bytes), ctx.state.bodySha256);
  // A host in between can pass on the head and hold the body.
  checkAge(ctx.state.boundSignature);
  judgeAgain(ctx);
  return bytes;
};

/** Reads a small body of any type, and ignores it. @throws CodedError as {@link readJsonText} does of one that is too large */
export const skipBody = async (ctx: Context): Promise<void> => void (await readBytes(ctx, small));

/**
 * Reads the JSON object in a request's body, and the text that it was sent as; an absent body is an empty object. Of
 * another box the body may be encrypted, and the text is what it was encrypted from.
 * @throws CodedError `unsupported_media_type`, `payload_too_large`, `invalid_json`, `request_timeout`, and
 *   `signature_invalid` where the body does not match the signed hash, `signature_stale` where it came too late
 */
export const readJsonText = async (ctx: Context, limits: BodyLimits): Promise<JsonText> => {
  const seal = hasBody(ctx.req) && ctx.is(sealedType) && ctx.state.isRelayed ? ctx.state.seal : null;
  if (hasBody(ctx.req) && seal === null && ctx.is('application/json') === false) {
    throw new CodedError('unsupported_media_type');
  }
  const encoding = ctx.get('Content-Encoding');
  if (encoding !== '' && encoding !== 'identity') {
    throw new CodedError('unsupported_media_type', 'The body must not be compressed.');
  }
  const bytes = await readBytes(ctx, limits, seal === null ? limits.bytes : sealedBytes(limits.bytes));
  if (bytes.length === 0) return { text: '{}', value: {} };
  if (seal === null) return parseObject(bytes);
  ctx.state.isSealed = true;
  return parseObject(await seal.open(bytes.toString()));
};

/** No document needs more, and what is nested by the ten thousand cannot be written again. */
const MOST_DEPTH = 500;

/** @throws CodedError `invalid_json` */
export const checkDepth = (value: unknown): void => {
  if (isNestedWithin(MOST_DEPTH, value)) return;
  throw new CodedError('invalid_json', `The body is nested more than ${MOST_DEPTH} levels deep.`);
};

/** Reads the JSON object in a small body, as {@link readJsonText} does. */
export const readJson = async (ctx: Context): Promise<Record<string, unknown>> => {
  const { value } = await readJsonText(ctx, small);
  checkDepth(value);
  await ctx.state.onBody?.(value);
  return value;
};

const parseObject = (bytes: Uint8Array): JsonText => {
  let text: string;
  let json: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    json = JSON.parse(text);
  } catch (error) {
    throw new CodedError('invalid_json', `The body is not JSON: ${(error as Error).message}`);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new CodedError('invalid_json');
  return { text, value: json as Record<string, unknown> };
};
