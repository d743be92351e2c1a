/** Requests to one box: signed only for it, and with answers that prove that the box knows the secret. */
import { createPageSigning, sha256Hex } from '../../renderer/shared/page-signing.ts';
import { answerHeader, headerText, repeatRefused, signatureHeader } from '../../service/domain/request-signature.ts';

export interface BoxOptions {
  /** Base URL of the box, such as `http://192.168.1.20:8080`. */
  url: string;
  /** The shared secret of the site; absent: requests are not signed. */
  secret?: string;
  /** Name for the audit, at most 64 characters. */
  operator?: string;
  /** Default: that of the browser or of Node.js. */
  fetch?: (request: Request) => Promise<Response>;
  /** The clock of this machine, ms since the epoch; default: Date.now. */
  now?: () => number;
}

/** The answer does not prove that the box knows the secret: it may be that of another host. */
export class UnprovenError extends Error {
  override readonly name = 'UnprovenError';
}

const { newNonce, signRequest, provenTime } = createPageSigning();

/** Answers that are streamed, and so carry no proof. */
const streamed =
  /^\/(?:console\/api\/(?:plays|backup|boxes\/[^/]+\/log|content\/versions\/.+)|api\/media\/|media\/|assets\/)/;
/** Refusals from before the signature was looked at. */
const beforeSignature = [421, 429, 503];

/** A refusal that is proven, by which the request is signed once more. */
class Repeatable extends Error {
  readonly code: string;
  readonly response: Response;
  constructor(code: string, response: Response) {
    super(code);
    this.code = code;
    this.response = response;
  }
}

const codeIn = (body: Uint8Array): string => {
  try {
    const { error } = JSON.parse(new TextDecoder().decode(body)) as { error?: { code?: string } };
    return error?.code ?? '';
  } catch {
    return '';
  }
};

/** A `fetch` that signs for one box, and verifies its answers. */
export const signedFetch = ({ url, secret, operator, fetch: send = fetch, now = Date.now }: BoxOptions) => {
  const base = new URL(url);
  const own: Record<string, string> = operator === undefined ? {} : { 'x-signage-operator': headerText(operator) };
  let recipient: Promise<string> | undefined;
  /** How far the clock of the box is ahead, ms. */
  let ahead = 0;

  const identify = async (): Promise<string> => {
    const answer = await send(new Request(new URL('/healthz', base)));
    const { nodeId } = (await answer.json()) as { nodeId?: unknown };
    if (typeof nodeId !== 'string') throw new Error(`What answers at ${base.origin} is not a signage box.`);
    return nodeId;
  };

  const attempt = async (
    request: Request,
    body: Uint8Array<ArrayBuffer>,
    key: string,
    nonce: string,
  ): Promise<Response> => {
    recipient ??= identify().catch((error: unknown) => {
      recipient = undefined;
      throw error;
    });
    const headers = { ...Object.fromEntries(request.headers), ...own };
    const { method } = request;
    const signed = signRequest({
      secret: key,
      method,
      url: request.url,
      body,
      headers,
      nonce,
      recipient: await recipient,
      now: now() + ahead,
    });
    const hasBody = method !== 'GET' && method !== 'HEAD' && body.length > 0;
    const sent = new Request(request.url, {
      method,
      headers: { ...headers, ...signed },
      signal: request.signal,
      ...(hasBody && { body }),
    });
    const response = await send(sent);
    const { status, statusText } = response;
    const { pathname } = new URL(request.url);
    if (response.headers.get(answerHeader) === null) {
      const isExpected = streamed.test(pathname) || beforeSignature.includes(status);
      if (!isExpected)
        throw new UnprovenError(`The answer of ${base.origin} (${status}) is not proven to be that of the box.`);
      return response;
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    const asked = { request: signed[signatureHeader] ?? '', status, sha256: sha256Hex(bytes) };
    const time = provenTime(key, { ...asked, headerOf: (name) => response.headers.get(name) });
    if (time === null)
      throw new UnprovenError(`The answer of ${base.origin} (${status}) is not proven to be that of the box.`);
    ahead = time - now();
    const isEmpty = [204, 205, 304].includes(status) || method === 'HEAD';
    const whole = new Response(isEmpty ? null : bytes, { status, statusText, headers: response.headers });
    if (status >= 400) throw new Repeatable(codeIn(bytes), whole);
    return whole;
  };

  return async (request: Request): Promise<Response> => {
    if (secret === undefined) {
      const plain = new Request(request);
      for (const [name, value] of Object.entries(own)) plain.headers.set(name, value);
      return send(plain);
    }
    const body = new Uint8Array(await request.arrayBuffer());
    // All attempts have one nonce, so that one of them is carried out at most.
    const nonce = newNonce();
    try {
      return await repeatRefused(
        () => attempt(request, body, secret, nonce),
        (error) => (error instanceof Repeatable ? error.code : null),
        (code) => {
          if (code === 'misdirected') recipient = undefined;
        },
      );
    } catch (error) {
      if (error instanceof Repeatable) return error.response;
      throw error;
    }
  };
};
