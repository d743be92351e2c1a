/** Sends fuzzed requests over kept connections, from many addresses, with the credentials that they ask for. */
import { Agent, type IncomingHttpHeaders, request as open } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { signRequest } from '../../service/auth/sign.ts';
import { pageAuthHeader } from '../../service/contract/page.ts';
import { signatureHeader, timestampHeader } from '../../service/domain/request-signature.ts';
import type { Credentials, FuzzRequest } from './requests.ts';

const PATIENCE_MS = 20_000;
/** Failed credentials are counted by address, so that requests come from many. */
const ADDRESSES = 40;

interface Target {
  url: string;
  secret: string | null;
}

const statusWithoutBody = [204, 304];

const toResponse = (status: number, headers: IncomingHttpHeaders, body: Buffer): Response =>
  new Response(statusWithoutBody.includes(status) ? null : new Uint8Array(body), {
    status,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    ),
  });

export const createClient = ({ url, secret }: Target) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 4, maxFreeSockets: 2, timeout: 5_000 });
  let sent = 0;
  let pageToken = { value: '', until: 0 };
  let lastSignature: Record<string, string> = {};

  const tokenOf = async (): Promise<string> => {
    if (Date.now() > pageToken.until) {
      const html = await (await fetch(`${url}/screen/lobby`, { headers: { connection: 'close' } })).text();
      const value = /"token":"([^"]+)"/.exec(html)?.[1] ?? 'none';
      pageToken = { value, until: Date.now() + 60_000 };
    }
    return pageToken.value;
  };

  const headersOf = async (who: Credentials, given: FuzzRequest): Promise<Record<string, string>> => {
    const host = given.headers['host'] ?? new URL(url).host;
    const signable = { host, target: given.target, method: given.method, body: given.body ?? '' };
    const key = secret ?? 'no secret is set here';
    const sign = (more: object = {}) => ({ ...signRequest({ secret: key, ...signable, ...more }) });
    switch (who) {
      case 'none':
        return {};
      case 'signed':
        lastSignature = sign();
        return lastSignature;
      case 'page':
        return { [pageAuthHeader]: await tokenOf() };
      case 'wrong signature':
        return sign({ secret: 'another secret altogether' });
      case 'stale signature':
        return sign({ now: Date.now() - 400_000 });
      case 'malformed signature':
        return { [timestampHeader]: 'now', [signatureHeader]: 'v9;nonce=;sha256=x' };
      case 'wrong page token':
        return { [pageAuthHeader]: 'eyJhbGciOiJub25lIn0.e30.' };
      case 'replayed signature':
        return lastSignature;
    }
  };

  return {
    /** @throws Error where there is no answer within 20 s */
    send: async (given: FuzzRequest): Promise<Response> => {
      const { method, target, headers, body, credentials } = given;
      const address = (sent++ >> 3) % ADDRESSES;
      const all = { ...headers, ...(await headersOf(credentials, given)) };
      const { hostname, port } = new URL(url);
      const answered = new Promise<Response>((resolve, reject) => {
        const length = body === null ? {} : { 'content-length': String(body.length) };
        const request = open({
          host: hostname,
          port,
          method,
          path: target,
          headers: { ...length, ...all },
          agent,
          localAddress: `127.0.1.${address + 1}`,
          setHost: all['host'] === undefined,
        });
        request.on('response', (response) => {
          buffer(response).then(
            (bytes) => resolve(toResponse(response.statusCode ?? 0, response.headers, bytes)),
            reject,
          );
        });
        request.on('upgrade', (_, socket) => {
          socket.destroy();
          reject(new Error('the service changed the protocol'));
        });
        request.on('error', reject);
        request.end(body ?? undefined);
      });
      const late = delay(PATIENCE_MS, undefined, { ref: false }).then(() => {
        throw new Error('there is no answer');
      });
      return Promise.race([answered, late]);
    },
    pageToken: tokenOf,
    close: () => agent.destroy(),
  };
};
