/** The Koa application: common middleware and the routes of every module. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { Router } from '@koa/router';
import Koa from 'koa';
import type { Admission, SignResponse } from '../auth/access.ts';
import type { IsLocal } from '../auth/local-token.ts';
import { partyOf } from '../auth/throttle.ts';
import { CodedError } from '../contract/errors.ts';
import { deviceHeader } from '../contract/onboarding.ts';
import type { AuditRule, FullRule, OperationName } from '../contract/operations/index.ts';
import { rules } from '../contract/operations/rules.ts';
import { sealedType } from '../contract/peers.ts';
import type { Author } from '../contract/terms.ts';
import { answerHeader } from '../domain/request-signature.ts';
import type { ServiceContext } from '../module.ts';
import { errorAnswer, isApiPath, toCodedError } from './answer.ts';
import { readJson } from './body.ts';
import type { Gate } from './gate.ts';
import { securityHeaders, untransformed } from './headers.ts';
import { operatorOf, personOf } from './operator.ts';
import type { Context, Handler, RequestState, Routes } from './routes.ts';

/** Records a change that a request makes. */
export interface ChangeAudit {
  during(
    rule: AuditRule,
    asked: {
      params: Readonly<Record<string, string>>;
      operator: string | null;
      person: Author | null;
      address: string;
      source?: string;
    },
    change: (onBody: NonNullable<RequestState['onBody']>) => Promise<void>,
  ): Promise<void>;
}

export interface AppParts {
  /** The routes of every module; each operation of the variant has exactly one handler. */
  routes: readonly Routes[];
  audit: ChangeAudit;
  /** Fills a response with the "page not found" page. */
  sendMissing(ctx: Pick<Context, 'type' | 'set' | 'body'>): void;
  /** Called for each request that names its device. */
  onDevice(deviceId: string): void;
  isLocal: IsLocal;
  /**
   * Calls `end` when a key does not count any more.
   * @returns a function that ends the watch
   */
  watchKey(keyId: string, end: () => void): () => void;
}

/** The rule of what is no operation. */
export const anybody: FullRule = {
  access: 'public',
  role: null,
  scope: null,
  forSecret: false,
  isExtended: false,
  isConsole: false,
  acts: false,
  hasBody: false,
};

interface Guards {
  gate: Gate;
  /** Checks a request's credentials, and that this box is meant. */
  admit(request: IncomingMessage, rule: FullRule, onSigned: (signResponse: SignResponse) => void): Promise<Admission>;
  /** Whether a request target is the path of a socket, which accepts upgrades of GET. */
  isSocket(target: string): boolean;
}

/** Statuses of answers without a body (RFC 9110, 6.4.1). */
const bodiless = [204, 205, 304];

/**
 * Proves what is written without Koa and has no body; what has one is streamed, or proves itself. Such a head is known only
 * once it is written.
 */
const proveHead = (ctx: Pick<Koa.Context, 'method' | 'res'>, signResponse: SignResponse): void => {
  const { method, res } = ctx;
  const { writeHead } = res;
  const provingHead = (status: number, ...more: unknown[]): unknown => {
    if (!res.hasHeader(answerHeader) && !Array.isArray(more[0])) {
      const isEmpty = method === 'HEAD' || bodiless.includes(status);
      if (isEmpty) res.setHeader('Cache-Control', untransformed(String(res.getHeader('Cache-Control') ?? '')));
      for (const [name, value] of Object.entries(signResponse(status, isEmpty ? '' : null))) res.setHeader(name, value);
    }
    return Reflect.apply(writeHead, res, [status, ...more]);
  };
  Object.assign(res, { writeHead: provingHead });
};

/** Streamed bodies are signed only where their hash is known: the receiver verifies others by their hash. */
const signAnswer = (ctx: Koa.ParameterizedContext<RequestState>): void => {
  const { method, state, body, status, respond, response } = ctx;
  if (state.signResponse === null || respond === false) return;
  const isEmpty = method === 'HEAD' || bodiless.includes(status) || body == null;
  const isStreamed = !isEmpty && body instanceof Readable;
  const { streamedSha256: sha256 } = state;
  if (isStreamed && sha256 === undefined) return;
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : isStreamed ? '' : JSON.stringify(body);
  const signed = isStreamed && sha256 !== undefined ? { sha256 } : bytes;
  ctx.set({
    ...state.signResponse(status, isEmpty ? '' : signed),
    'Cache-Control': untransformed(response.get('Cache-Control')),
  });
  if (!isEmpty && !isStreamed) ctx.body = bytes;
};

/**
 * Encrypts what this box tells another one: every answer under `/api/peers`, and the answer to an encrypted body. What
 * decides is signed, so that no host in between can ask for the plain answer.
 */
const sealAnswer = async (ctx: Koa.ParameterizedContext<RequestState>): Promise<void> => {
  const { state, body, status, path } = ctx;
  const { seal, isSealed } = state;
  if (seal === null || !(isSealed || path.startsWith('/api/peers/'))) return;
  if (status >= 300 || body == null || body instanceof Readable) return;
  ctx.body = await seal.seal(typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : JSON.stringify(body));
  ctx.type = sealedType;
};

/** Of one event of an answer: a stream to a person has eleven, and Node warns of a leak from the eleventh. */
const MAX_LISTENERS = 20;

/** Without the token of a trigger. */
const loggedPath = (path: string): string => path.replace(/^(\/api\/triggers\/).+/, '$1...');

/** Whether a browser is opening the address as a page: programs and subresource requests do not accept HTML. */
const isNavigation = ({ method, url, headers }: Pick<Koa.Context, 'method' | 'url' | 'headers'>): boolean =>
  ['GET', 'HEAD'].includes(method) && !isApiPath(url) && /\btext\/html\b/.test(headers.accept ?? '');

/** Handles a request, and records the change that it makes. A relayed one is recorded by the box that relays it. */
const handleAudited = async (ctx: Context, handle: Handler, rule: AuditRule, audit: ChangeAudit): Promise<void> => {
  const { params, state } = ctx;
  if (state.isRelayed) return void (await handle(ctx));
  const { isPage, signer, clientIp: address } = state;
  // Anybody can open a page, and must not displace the records of others.
  const source = isPage && signer === null && { source: `page ${partyOf(address)}` };
  const asked = { params, operator: operatorOf(ctx), person: personOf(ctx), address, ...source };
  await audit.during(rule, asked, async (onBody) => {
    state.onBody = onBody;
    await handle(ctx);
  });
};

/** @throws Error if an operation does not have exactly one handler */
export const createApp = (
  { logs, clientAddress, options }: Pick<ServiceContext, 'logs' | 'clientAddress' | 'options'>,
  { routes, audit, sendMissing, onDevice, isLocal, watchKey, gate, admit, isSocket }: AppParts & Guards,
): RequestListener => {
  const app = new Koa<RequestState>();
  const router = new Router<RequestState>({ sensitive: true, strict: true });

  const admitRequest = async (ctx: Koa.ParameterizedContext<RequestState>, rule: FullRule): Promise<void> => {
    const onSigned = (signResponse: SignResponse): void => {
      ctx.state.signResponse = signResponse;
      proveHead(ctx, signResponse);
    };
    Object.assign(ctx.state, await admit(ctx.req, rule, onSigned));
    const { signer } = ctx.state;
    // Who has left meanwhile emits no 'close' any more.
    if (signer !== null && !ctx.res.destroyed)
      ctx.res.once(
        'close',
        watchKey(signer.keyId, () => ctx.res.destroy()),
      );
  };

  for (const [name, rule] of Object.entries(rules) as [OperationName, FullRule][]) {
    if ((rule.isExtended && options.variant === 'baseline') || (rule.isConsole && !options.console)) continue;
    const [handle, ...others] = routes.flatMap((handlers) => (handlers[name] as Handler | undefined) ?? []);
    if (handle === undefined || others.length > 0) throw new Error(`${name} needs exactly one handler`);
    const [method = '', path = ''] = name.split(' ');
    router.register(path, [method], async (ctx) => {
      if (rule.acts || method !== 'GET') gate.checkOrigin(ctx.req);
      await admitRequest(ctx, rule);
      // What was sent is carried out all the same: a device may hang up at once.
      if (ctx.res.destroyed && method === 'GET') return;
      if (ctx.get(deviceHeader) !== '') onDevice(ctx.get(deviceHeader));
      // What is not read would be carried out with a body of any type, of any size and other than the signed one.
      if (method === 'POST' && !rule.hasBody) await readJson(ctx);
      if (rule.audit === undefined) await handle(ctx);
      else await handleAudited(ctx, handle, rule.audit, audit);
    });
  }

  app.use(async (ctx, next) => {
    const id = randomUUID();
    const { clientIp, isSecure } = clientAddress(ctx.req);
    const fields = { request: id, address: clientIp, method: ctx.method, path: loggedPath(ctx.path) };
    const requestLog = logs(`address ${partyOf(clientIp)}`, fields);
    ctx.state = {
      clientIp,
      log: requestLog,
      bodySha256: null,
      signResponse: null,
      seal: null,
      boundSignature: null,
      isRelayed: false,
      signer: null,
      isPage: false,
      isSecure,
      isLocal: isLocal(ctx.req),
      isSealed: false,
    };
    ctx.set({ ...securityHeaders, 'X-Request-Id': id });
    if (isApiPath(ctx.path)) ctx.set('Cache-Control', 'no-store');
    // Each layer that has to know of its end has one.
    ctx.res.setMaxListeners(MAX_LISTENERS);
    try {
      gate.checkExpectation(ctx.req);
      await next();
      await sealAnswer(ctx);
    } catch (error) {
      const { status, headers, body } = errorAnswer(ctx.url, toCodedError(error, requestLog), isNavigation(ctx));
      ctx.status = status;
      ctx.body = body;
      ctx.set(headers as Record<string, string>);
    }
    signAnswer(ctx);
  });
  app.use(router.routes());
  app.use(async (ctx) => {
    // What is not there is told with proof, too, whichever box is meant.
    await admitRequest(ctx, anybody).catch(() => undefined);
    const known = ((ctx as unknown as Context).matched ?? []).flatMap(({ methods }) => methods);
    const ofSocket = !['GET', 'HEAD'].includes(ctx.method) && isSocket(ctx.url) ? ['GET'] : [];
    const taken = new Set([...known, ...ofSocket]);
    if (taken.size === 0) {
      if (!isNavigation(ctx)) throw new CodedError('not_found');
      ctx.status = 404;
      return sendMissing(ctx);
    }
    const Allow = [...taken].toSorted().join(', ');
    throw new CodedError('method_not_allowed', `This path does not support ${ctx.method}, only ${Allow}.`, {
      headers: { Allow },
    });
  });
  // An error after the response has begun: Koa closes the connection, and only the log can report it.
  app.on('error', (error: NodeJS.ErrnoException, ctx: Koa.Context) => {
    const isDisconnect = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? '');
    const { clientIp: address } = clientAddress(ctx.req);
    const level = isDisconnect ? 'debug' : 'error';
    logs(`address ${partyOf(address)}`)[level]({ err: error, address }, 'the response was aborted');
  });
  return app.callback();
};
