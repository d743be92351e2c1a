/** The Koa application: one frame around every route, and the routes of every room inside it. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { Router } from '@koa/router';
import Koa from 'koa';
import type { Admission } from '../auth/access.ts';
import { answerHeader, clockHeader } from '../auth/sign.ts';
import { CodedError } from '../contract/errors.ts';
import { deviceHeader } from '../contract/onboarding.ts';
import { type Access, type OperationName, operations, type Rule } from '../contract/operations/index.ts';
import { recipientHeader } from '../contract/peers.ts';
import type { Variant } from '../contract/terms.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import { errorAnswer, isApiPath, toCodedError } from './answer.ts';
import type { createClientAddress } from './client-address.ts';
import type { Gate } from './gate.ts';
import { securityHeaders } from './headers.ts';
import type { Context, Handler, RequestState, Routes } from './routes.ts';

interface Dependencies {
  logs: SourceLogs;
  gate: Gate;
  clientAddress: ReturnType<typeof createClientAddress>;
  /** Judges a request's credentials. */
  admit(request: IncomingMessage, access: Access): Promise<Admission>;
  /** Fills an answer with the page of an address that leads nowhere. */
  sendMissing(ctx: Pick<Context, 'type' | 'set' | 'body'>): void;
  /** A page of the device has sent the request. */
  onDevice(deviceId: string): void;
  variant: Variant;
  /** Of this box. */
  nodeId: string;
  /** The routes of every module; together they cover the operations. */
  rooms: readonly Routes[];
}

/** Streams are not signed: what they carry is checked by its hash. */
const signAnswer = (
  ctx: Pick<Koa.ParameterizedContext<RequestState>, 'state' | 'body' | 'status' | 'set' | 'respond'>,
): void => {
  const { state, body, status, respond } = ctx;
  if (state.vouch === null || respond === false || body instanceof Readable) return;
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : body == null ? '' : JSON.stringify(body);
  ctx.set(answerHeader, state.vouch(status, bytes));
  if (body != null) ctx.body = bytes;
};

/** @throws CodedError `expectation_failed` (RFC 9110, 10.1.1) */
const checkExpectation = (expectation: string): void => {
  if (expectation === '' || expectation.toLowerCase() === '100-continue') return;
  // Whether the client sends its body all the same is uncertain.
  throw new CodedError('expectation_failed', undefined, { headers: { Connection: 'close' } });
};

/** Whether a person opens an address in a browser: programs and the parts of pages do not ask for HTML. */
const isNavigation = ({ method, url, headers }: Pick<Koa.Context, 'method' | 'url' | 'headers'>): boolean =>
  ['GET', 'HEAD'].includes(method) && !isApiPath(url) && /\btext\/html\b/.test(headers.accept ?? '');

/** @throws Error where an operation has no handler, or two */
export const createApp = ({
  logs,
  gate,
  clientAddress,
  admit,
  onDevice,
  sendMissing,
  variant,
  nodeId,
  rooms,
}: Dependencies): RequestListener => {
  const app = new Koa<RequestState>();
  const router = new Router<RequestState>({ sensitive: true, strict: true });

  for (const [name, rule] of Object.entries(operations) as [OperationName, Rule][]) {
    if (rule.variant === 'extended' && variant === 'baseline') continue;
    const [handle, ...others] = rooms.flatMap((routes) => (routes[name] as Handler | undefined) ?? []);
    if (handle === undefined || others.length > 0) throw new Error(`${name} needs exactly one handler`);
    const [method = '', path = ''] = name.split(' ');
    router.register(path, [method], async (ctx) => {
      if (ctx.get(recipientHeader) !== '' && ctx.get(recipientHeader) !== nodeId) throw new CodedError('misdirected');
      if (rule.acts) gate.checkOrigin(ctx.req);
      const { clock, ...admission } = await admit(ctx.req, rule.access);
      if (clock !== null) ctx.set(clockHeader, clock);
      Object.assign(ctx.state, admission);
      if (ctx.get(deviceHeader) !== '') onDevice(ctx.get(deviceHeader));
      await handle(ctx);
    });
  }

  app.use(async (ctx, next) => {
    const id = randomUUID();
    const { clientIp } = clientAddress(ctx.req);
    const requestLog = logs(`address ${clientIp}`, { request: id, method: ctx.method, path: ctx.path });
    ctx.state = { clientIp, log: requestLog, bodySha256: null, vouch: null };
    ctx.set({ ...securityHeaders, 'X-Request-Id': id });
    try {
      checkExpectation(ctx.get('Expect'));
      await next();
    } catch (error) {
      const { status, headers, body } = errorAnswer(ctx.url, toCodedError(error, requestLog));
      ctx.status = status;
      ctx.body = body;
      ctx.set(headers as Record<string, string>);
    }
    signAnswer(ctx);
  });
  app.use(router.routes());
  app.use((ctx) => {
    const known = (ctx as unknown as Context).matched ?? [];
    if (known.length === 0) {
      if (!isNavigation(ctx)) throw new CodedError('not_found');
      ctx.status = 404;
      return sendMissing(ctx);
    }
    const Allow = [...new Set(known.flatMap(({ methods }) => methods))].toSorted().join(', ');
    throw new CodedError('method_not_allowed', `The path does not take ${ctx.method}, only ${Allow}.`, {
      headers: { Allow },
    });
  });
  // What fails once an answer is under way: the connection is cut, and the log knows.
  app.on('error', (error: NodeJS.ErrnoException, ctx: Koa.Context) => {
    const hungUp = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? '');
    logs(`address ${clientAddress(ctx.req).clientIp}`)[hungUp ? 'debug' : 'error'](
      { err: error },
      'an answer broke off',
    );
  });
  return app.callback();
};
