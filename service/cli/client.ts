/** Requests to a box: signed for that box alone, within limits; errors become exit codes. */
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { newNonce, provenTime, sha256Hex, signAsPerson, signRequest } from '../auth/sign.ts';
import { localHeader, operatorHeader } from '../contract/headers.ts';
import type { Health } from '../contract/health.ts';
import {
  clockHeader,
  headerText,
  type PersonSigner,
  repeatedCodes,
  repeatRefused,
  signatureHeader,
} from '../domain/request-signature.ts';
import { parseJson, readAnswer } from './answers.ts';
import { CliError, codeOf, refusalOf, secretAdvice } from './exit.ts';

/** A body that is sent as a stream. */
export interface Upload {
  size: number;
  /** SHA-256, lower-case hex. */
  sha256: string;
  /** Called for each attempt. */
  open: () => Readable;
}

export interface BoxRequest {
  /** Default: GET. */
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** JSON text. */
  body?: string;
  upload?: Upload;
  /** Most until the whole answer, ms; default: {@link Limits.answerMs}. */
  timeoutMs?: number;
  /** Most until the answer begins, ms; default: {@link Limits.headMs}. */
  headMs?: number;
  /** Of what takes a box long: its longest silence once all is sent, ms, and what the operator does where no answer comes. */
  work?: { silenceMs: number; advice: string };
  /** Largest answer, bytes; default: {@link Limits.answerBytes}. */
  maxBytes?: number;
  /** Media type of the answer, where it is no JSON. */
  type?: string;
}

export interface Answer<Body> {
  status: number;
  headers: IncomingMessage['headers'];
  body: Body;
}

export type Client = ReturnType<typeof createClient>;

/** How long a client waits, ms, and how much it reads. */
export interface Limits {
  /** A box in the LAN that does not accept a connection within this time is away. */
  connectMs: number;
  /** Until an answer begins, where no large body is sent, and nothing is gathered from all boxes. */
  headMs: number;
  /** Longest silence on a connection. A large document takes some seconds to check. */
  silenceMs: number;
  /** Until the end of an answer that is not streamed. */
  answerMs: number;
  /** Largest answer that is held in memory, bytes: a list of what a large site plays. */
  answerBytes: number;
  /** After this time the operator is told that the box is awaited. */
  patienceMs: number;
}

export const limits: Limits = {
  connectMs: 5_000,
  headMs: 5_000,
  silenceMs: 30_000,
  answerMs: 60_000,
  answerBytes: 32 * 1024 ** 2,
  patienceMs: 2_000,
};

interface Options {
  base: URL;
  /** Null: requests are not signed with a secret. */
  secret: string | null;
  /** Signs in place of the secret, and answers are not proven then; null: nobody. */
  person: PersonSigner | null;
  /** A root certificate that is trusted beside those of the system, PEM; null: none. */
  root: string | null;
  /** Whether that root alone is trusted. */
  isOfSite: boolean;
  /** Proves to the box on this machine that the operator works on it; null: there is none. */
  localToken: string | null;
  /** Name for the audit; null: none. */
  operator: string | null;
  /** Called where the operator should know something; completes "The box at ADDRESS ...". */
  onNotice: (text: string) => void;
  /** Wall clock, ms since the epoch. */
  now: () => number;
  limits: Limits;
  signal?: AbortSignal;
}

/** Clocks that differ by less are taken for the same: what answers show are whole seconds. */
const CLOCK_TOLERANCE_MS = 3_000;
/** What is sent up to this size is answered as fast as what has no body, bytes. */
const SMALL_BODY = 64 * 1024;

const isItOn = 'Is it on, and in this network? See: signage discover';
const byAddress = 'Use its IP address. See: signage discover';
const untrusted = [
  'its certificate is not trusted',
  'Join the site with "signage join URL", or store its root certificate as ~/.config/signage/root.pem, and compare it with "signage ca" on the box.',
] as const;
const mayHappen = 'The request may still be carried out within 30 s.';

/** Why a box was not reached, and what to do. */
const reasons = new Map<string, readonly [reason: string, advice: string]>([
  ['ECONNREFUSED', ['nothing listens there', 'Does the player run, and on this port? See: signage discover']],
  ['ECONNRESET', ['it closed the connection', 'It may be starting again: try once more in a moment.']],
  ['EPIPE', ['it closed the connection', 'It may be starting again: try once more in a moment.']],
  ['EHOSTUNREACH', ['there is no way to it', isItOn]],
  ['ENETUNREACH', ['there is no way to it', isItOn]],
  ['ENOTFOUND', ['its name is not known', byAddress]],
  ['EAI_AGAIN', ['its name is not known', byAddress]],
  ['ETIMEDOUT', ['it does not answer in time', isItOn]],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', untrusted],
  ['SELF_SIGNED_CERT_IN_CHAIN', untrusted],
  ['UNABLE_TO_GET_ISSUER_CERT', untrusted],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', untrusted],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', untrusted],
  ['CERT_SIGNATURE_FAILURE', untrusted],
  ['CERT_HAS_EXPIRED', ['its certificate has expired', 'Compare the clock of this computer with that of the box.']],
  [
    'CERT_NOT_YET_VALID',
    ['its certificate is not valid yet', 'Compare the clock of this computer with that of the box.'],
  ],
  ['ERR_TLS_CERT_ALTNAME_INVALID', ['its certificate is for other names', byAddress]],
]);

const unreachable = (base: URL, error: NodeJS.ErrnoException): CliError => {
  if (error instanceof CliError) return error;
  const [reason, advice] = reasons.get(error.code ?? '') ?? [error.message, isItOn];
  return new CliError('unreachable', `The box at ${base.origin} was not reached: ${reason}.\n${advice}`);
};

const notABox = (base: URL, status: number): CliError =>
  new CliError(
    'unreachable',
    `What answers at ${base.origin} is not a signage box${status < 300 ? '' : ` (HTTP status ${status})`}.`,
  );

/** The Date of an answer, ms since the epoch; NaN without one. */
const shownTime = ({ headers }: IncomingMessage): number => Date.parse(headers.date ?? '');

/** Whether a body is said to be what was asked for, if anything is said. */
const isOfType = ({ type }: BoxRequest, { headers }: IncomingMessage): boolean => {
  const { 'content-type': given = type } = headers;
  return type === undefined || given?.split(';')[0]?.trim() === type;
};

/** Whether a box, or a proxy in front of it, refuses so before it looks at the signature. */
const isBeforeSignature = (status: number, bytes: Buffer): boolean =>
  status === 429 || status === 503 || (status === 421 && codeOf(parseJson(bytes)) === 'host_refused');

const isChange = ({ method = 'GET' }: BoxRequest): boolean => method !== 'GET';

const late = (): Error => Object.assign(new Error('late'), { code: 'ETIMEDOUT' });

/** An exchange whose head has arrived. */
interface Exchange {
  sent: ClientRequest;
  response: IncomingMessage;
}

export const createClient = (options: Options) => {
  const { base, secret, person, root, isOfSite, localToken, operator, onNotice, now, limits: most, signal } = options;
  const isSigned = secret !== null || person !== null;
  /** How far the clock of the box is ahead, ms: as of its last answer, and never more. */
  let ahead = 0;
  /** Whether the recipient has proven it: a box that refuses may be another one of the site, whose clock is wrong. */
  let isProven = false;
  let recipient: Promise<string> | undefined;

  /** A change that reached a host may have reached the box. */
  const uncertain = (request: BoxRequest, error: CliError): CliError => {
    const { exit, message, answer } = error;
    const isOpen = isSigned && isChange(request) && !message.endsWith(mayHappen);
    return isOpen ? new CliError(exit, `${message}\n${mayHappen}`, answer) : error;
  };

  const sign = (signable: Parameters<typeof signAsPerson>[1]): Promise<Record<string, string>> => {
    if (person !== null) return signAsPerson(person, signable);
    return Promise.resolve(secret === null ? {} : signRequest({ ...signable, secret }));
  };

  /** @param mark the box that it is for, and its nonce; null: it is not signed */
  const exchange = async (
    request: BoxRequest,
    mark: { recipient: string; nonce: string } | null,
    isStreamed = false,
  ): Promise<Exchange> => {
    const { method = 'GET', path, body, upload, work } = request;
    const url = new URL(path, base);
    const length = upload?.size ?? (body === undefined ? null : Buffer.byteLength(body));
    const headers = {
      Host: url.host,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(length !== null && { 'Content-Length': String(length) }),
      ...(operator !== null && { [operatorHeader]: headerText(operator) }),
      ...(localToken !== null && { [localHeader]: localToken }),
      ...request.headers,
    };
    const bodySha256 = upload === undefined ? sha256Hex(body ?? '') : upload.sha256;
    const signed = mark === null ? {} : await sign({ method, url, bodySha256, headers, ...mark, now: now() + ahead });
    return new Promise((resolve, reject) => {
      const isSecure = url.protocol === 'https:';
      const sent = (isSecure ? requestHttps : requestHttp)(url, {
        method,
        agent: false,
        ...(root !== null && { ca: isOfSite ? [root] : [...rootCertificates, root] }),
        ...(signal !== undefined && { signal }),
        headers: { ...headers, ...signed },
      });
      let response: IncomingMessage | undefined;
      let isConnected = false;
      const stop = (): void => void (response ?? sent).destroy(late());
      const untilHead: (NodeJS.Timeout | undefined)[] = [setTimeout(stop, most.connectMs)];
      const patience = upload === undefined ? setTimeout(() => onNotice('is awaited'), most.patienceMs) : undefined;
      if (isStreamed) untilHead.push(patience);
      const isWhole = !isStreamed && upload === undefined;
      const untilEnd = isWhole ? setTimeout(stop, request.timeoutMs ?? most.answerMs) : undefined;
      sent.on('socket', (socket) => {
        socket.once(isSecure ? 'secureConnect' : 'connect', () => {
          isConnected = true;
          clearTimeout(untilHead[0]);
          if (!isStreamed && (length ?? 0) <= SMALL_BODY)
            untilHead.push(setTimeout(stop, work?.silenceMs ?? request.headMs ?? most.headMs));
        });
      });
      sent.setTimeout(most.silenceMs, stop);
      if (work !== undefined) sent.on('finish', () => sent.setTimeout(work.silenceMs));
      sent.on('close', () => {
        for (const timer of [...untilHead, patience, untilEnd]) clearTimeout(timer);
      });
      sent.on('error', (error) => {
        // A box that refuses an upload may answer before it has read all of it.
        if (response !== undefined) return;
        const failure =
          work !== undefined && isConnected && sent.writableFinished
            ? new CliError(
                'unreachable',
                `The box at ${base.origin} was sent all of it, but did not answer.\n${work.advice}`,
              )
            : unreachable(base, error);
        reject(isConnected ? uncertain(request, failure) : failure);
      });
      sent.on('response', (answered) => {
        response = answered;
        for (const timer of untilHead) clearTimeout(timer);
        resolve({ sent, response });
      });
      if (upload === undefined) {
        // As bytes: Node would encode the head like a text that follows.
        sent.end(body === undefined ? undefined : Buffer.from(body));
        return;
      }
      const bytes = upload.open();
      bytes.on('error', (error) => {
        reject(new CliError('usage', `The file cannot be read: ${error.message}.`));
        sent.destroy();
      });
      sent.on('close', () => bytes.destroy());
      bytes.pipe(sent);
    });
  };

  /** The whole body. @throws CliError `unreachable` if it does not end in time, or is too large */
  const readAll = async (response: IncomingMessage, maxBytes: number): Promise<Buffer> => {
    // In one piece, of which the system provides what is written to.
    const whole = Buffer.allocUnsafeSlow(Math.min(Number(response.headers['content-length'] ?? maxBytes), maxBytes));
    let size = 0;
    const stop = (): void => void response.destroy(late());
    // Of what was uploaded or streamed, only an error is read here.
    const timer = setTimeout(stop, most.answerMs);
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        if (size + chunk.length > whole.length)
          throw new CliError('unreachable', `What answers at ${base.origin} sends too much.`);
        size += chunk.copy(whole, size);
      }
    } catch (error) {
      throw unreachable(base, error as NodeJS.ErrnoException);
    } finally {
      clearTimeout(timer);
    }
    return whole.subarray(0, size);
  };

  /** Why an answer without proof is not taken. */
  const unproven = ({ path }: BoxRequest, status: number, bytes: Buffer): CliError => {
    if (isBeforeSignature(status, bytes)) {
      const { message, answer } = refusalOf({ base, path, status, bytes, hasSecret: true });
      // No request is sent once more on the word of an answer without proof.
      const shown = repeatedCodes.includes(codeOf(answer)) ? undefined : answer;
      return new CliError('refused', `${message}\nThis answer is not proven.`, shown);
    }
    const message = `The box at ${base.origin} answers without proof that it knows the secret.`;
    return new CliError('notAuthorised', `${message}\n${secretAdvice}`);
  };

  /** The node id of the box, which it tells anyone: only that box takes what is signed for it. */
  const identify = async (): Promise<string> => {
    const path = '/healthz';
    const { response } = await exchange({ path }, null);
    const { statusCode: status = 0 } = response;
    const bytes = await readAll(response, most.answerBytes);
    if (isBeforeSignature(status, bytes)) throw unproven({ path }, status, bytes);
    const answer = await readAnswer({ method: 'GET', path, status }, bytes);
    if (answer === null) throw notABox(base, status);
    return (answer.body as Health).nodeId;
  };

  const recipientNow = (): Promise<string> => {
    recipient ??= identify().catch((error: unknown) => {
      recipient = undefined;
      throw error;
    });
    return recipient;
  };

  const start = async (request: BoxRequest, nonce: string, isStreamed = false): Promise<Exchange> => {
    if (!isSigned) return exchange(request, null, isStreamed);
    await recipientNow();
    // A change that is signed by a clock that is ahead could be held back until then.
    if (person === null && !isProven && isChange(request)) await whole({ path: '/healthz' });
    return exchange(request, { recipient: await recipientNow(), nonce }, isStreamed);
  };

  /**
   * Takes the clock of the box for the next signature of a person: only over https, where nobody in between tells another.
   * @throws CliError `notAuthorised` over http
   */
  const checkClock = (bytes: Buffer, headers: IncomingMessage['headers']): void => {
    const off = Number(headers[clockHeader] ?? Number.NaN) - now();
    if (codeOf(parseJson(bytes)) !== 'signature_stale' || Number.isNaN(off)) return;
    if (base.protocol === 'https:') {
      ahead = off;
      return;
    }
    const seconds = Math.round(Math.abs(off) / 1_000);
    const which = off > 0 ? 'behind' : 'ahead of';
    throw new CliError(
      'notAuthorised',
      `The clock of this computer is ${seconds} s ${which} that of the box. Set it, or use the https address of the box.`,
    );
  };

  /** The answer with its whole body. @throws CliError for an error status, and for an answer without proof */
  const finish = async (request: BoxRequest, { sent, response }: Exchange): Promise<Answer<Buffer>> => {
    const { path, maxBytes = most.answerBytes } = request;
    const { statusCode: status = 0, headers } = response;
    const bytes = await readAll(response, maxBytes).catch((error: CliError) => {
      throw uncertain(request, error);
    });
    sent.destroy();
    if (status >= 300 && status < 400) throw uncertain(request, notABox(base, status));
    if (person !== null) checkClock(bytes, headers);
    else if (secret === null) {
      const shown = shownTime(response) - now();
      if (Math.abs(shown) > CLOCK_TOLERANCE_MS) ahead = shown;
    } else {
      const asked = { request: String(sent.getHeader(signatureHeader)), status, sha256: sha256Hex(bytes) };
      const time = provenTime(secret, { ...asked, headerOf: (name) => headers[name] });
      if (time === null) throw uncertain(request, unproven(request, status, bytes));
      ahead = time - now();
      isProven = status < 300;
    }
    if (status < 300 && !isOfType(request, response)) throw notABox(base, status);
    if (status < 300) return { status, headers, body: bytes };
    throw refusalOf({ base, path, status, bytes, hasSecret: isSigned });
  };

  const repeating = <Result>(request: BoxRequest, work: (nonce: string) => Promise<Result>): Promise<Result> => {
    const nonce = newNonce();
    let isRepeated = false;
    const codeOfError = (error: unknown): string | null => (error instanceof CliError ? codeOf(error.answer) : null);
    return repeatRefused(
      () => work(nonce),
      codeOfError,
      (code) => {
        isRepeated = true;
        if (code === 'misdirected') recipient = undefined;
      },
    ).catch((error: unknown) => {
      // What one box has refused, a host on the way may take to the one that it was signed for.
      throw isRepeated && error instanceof CliError ? uncertain(request, error) : error;
    });
  };

  const whole = (request: BoxRequest): Promise<Answer<Buffer>> =>
    repeating(request, async (nonce) => finish(request, await start(request, nonce)));

  return {
    /** The base URL of the box. */
    base,
    /**
     * Sends a request and reads the JSON of the answer; `undefined` where the answer has no body.
     * @throws CliError for every error status, for what is no answer of a box, and if none comes
     */
    ask: async <Body>(request: BoxRequest): Promise<Answer<Body>> => {
      const { status, headers, body: bytes } = await whole(request);
      const { method = 'GET', path } = request;
      const answer = await readAnswer({ method, path, status }, bytes);
      if (answer === null) throw notABox(base, status);
      return { status, headers, body: answer.body as Body };
    },
    /** The same, for a body that is no JSON. */
    bytes: whole,
    /** The same, for a body of a media type that is read as it arrives. It is not proven. */
    open: (request: BoxRequest): Promise<Answer<IncomingMessage>> =>
      repeating(request, async (nonce) => {
        const exchanged = await start(request, nonce, true);
        const { response, sent } = exchanged;
        const { statusCode: status = 0, headers } = response;
        if (status >= 300) await finish(request, exchanged);
        if (!isOfType(request, response)) {
          sent.destroy();
          throw notABox(base, status);
        }
        if (secret !== null) response.once('end', () => onNotice('does not prove what it streams'));
        return { status, headers, body: response };
      }),
    /** The clock of the box, as its answers prove it; without a secret as they show it; ms since the epoch. */
    now: (): number => now() + ahead,
  };
};
