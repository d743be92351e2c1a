import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { checkBody } from '../auth/body.ts';
import { sha256Hex } from '../auth/sign.ts';
import { CodedError } from '../contract/errors.ts';
import type { Context } from './routes.ts';

const MAX_BYTES = 64 * 1024;
const DEADLINE_MS = 15_000;

/** Whether the headers of a request announce a body. */
export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Maps an error of raw-body to an error response. */
const readError = (error: unknown): CodedError => {
  const { type } = error as { type?: string };
  if (type === 'entity.too.large') return new CodedError('payload_too_large', 'The body must not be over 64 KiB.');
  return new CodedError('invalid_request', 'The connection ended before the body was complete.', { cause: error });
};

const withDeadline = async <T>(ctx: Context, reading: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new CodedError('request_timeout', undefined, { headers: { Connection: 'close' } })),
      DEADLINE_MS,
    );
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
    ctx.req.resume();
  }
};

/**
 * Reads the JSON object in a request's body; an absent body is an empty object.
 * @throws CodedError `unsupported_media_type`, `payload_too_large`, `invalid_json`, `request_timeout`, and
 *   `signature_invalid` where the body does not match the signed hash
 */
export const readJson = async (ctx: Context): Promise<Record<string, unknown>> => {
  if (hasBody(ctx.req) && ctx.is('application/json') === false) throw new CodedError('unsupported_media_type');
  const encoding = ctx.get('Content-Encoding');
  if (encoding !== '' && encoding !== 'identity') {
    throw new CodedError('unsupported_media_type', 'The body must not be compressed.');
  }
  const reading = getRawBody(ctx.req, { limit: MAX_BYTES, length: ctx.get('Content-Length') || null });
  const bytes = await withDeadline(
    ctx,
    reading.catch((error: unknown) => {
      throw readError(error);
    }),
  );
  checkBody(sha256Hex(bytes), ctx.state.bodySha256);
  return bytes.length === 0 ? {} : parseObject(bytes);
};

const parseObject = (bytes: Buffer): Record<string, unknown> => {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new CodedError('invalid_json', `The body is not JSON: ${(error as Error).message}`);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new CodedError('invalid_json');
  return json as Record<string, unknown>;
};
