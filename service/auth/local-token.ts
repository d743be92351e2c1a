/**
 * Proof that a request comes from the box itself: a token that only its own users can read. A loopback address alone
 * proves nothing, because a proxy or a container may pass requests of others on.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { localHeader, localTokenFile } from '../contract/headers.ts';
import { isThisMachine } from '../domain/network-scope.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { keepCopy } from '../platform/store/file.ts';
import { type Reserve, writeWithReserve } from '../platform/store/reserve.ts';

/** Headers with which a proxy names the client that it speaks for. */
const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

/** Whether a request comes from the box itself. */
export type IsLocal = (request: Pick<IncomingMessage, 'headersDistinct' | 'socket'>) => boolean;

/** Whether a request with this token comes from the box itself. Pure. @param token null: there is none */
export const isLocalRequest = ({ headersDistinct, socket }: Parameters<IsLocal>[0], token: Buffer | null): boolean => {
  const [given = '', ...more] = headersDistinct[localHeader] ?? [];
  if (token === null || more.length > 0 || !isThisMachine(socket.remoteAddress ?? '')) return false;
  if (forwarding.some((name) => headersDistinct[name] !== undefined)) return false;
  const bytes = Buffer.from(given);
  return bytes.length === token.length && timingSafeEqual(bytes, token);
};

/** Writes the token of this start, which replaces that of the one before. If it cannot be written, no request can prove it. */
export const openLocalToken = async ({
  dirs,
  log,
  reserve,
}: {
  dirs: { data: string };
  log: Pick<Logger, 'warn'>;
  reserve: Pick<Reserve, 'release'>;
}): Promise<IsLocal> => {
  const bytes = Buffer.from(randomBytes(32).toString('base64url'));
  let token: Buffer | null = bytes;
  const write = (): Promise<void> => keepCopy(systemDisk, join(dirs.data, localTokenFile), bytes);
  await writeWithReserve(reserve, write).catch((error: unknown) => {
    token = null;
    log.warn({ err: error }, 'the token of the box itself could not be written, so nobody is the box itself');
  });
  return (request) => isLocalRequest(request, token);
};
