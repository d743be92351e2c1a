/** A host that answers as an OpenID provider does, with the tokens that a test makes. */
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { listenOn } from '../peers/support.ts';

/** @param nonce of the sign-in; null: nobody has signed in yet */
export type MakeToken = (nonce: string) => Promise<string | null> | string | null;

/** One pair for all providers: it takes a while to make. */
let keys: ReturnType<typeof generateKeyPair> | undefined;

export const startFakeProvider = async () => {
  keys ??= generateKeyPair('RS256', { extractable: true });
  const { privateKey, publicKey } = await keys;
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const state: {
    token: MakeToken;
    expiresIn: number;
    /** What becomes of the next questions whether somebody has signed in. */
    troubles: ((response: ServerResponse) => void)[];
  } = { token: () => null, expiresIn: 60, troubles: [] };
  /** By device code: of parallel sign-ins each has its own token. */
  const asked = new Map<string, { nonce: string; make: MakeToken }>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const send = (body: object, status = 200): void =>
      void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/.well-known/openid-configuration') {
      return send({
        ...{ issuer, token_endpoint: `${issuer}/token`, device_authorization_endpoint: `${issuer}/device` },
        ...{ jwks_uri: `${issuer}/jwks`, id_token_signing_alg_values_supported: ['RS256', 'HS256'] },
      });
    }
    if (request.url === '/jwks') return send({ keys: [jwk] });
    if (request.url === '/device') {
      const device_code = randomUUID();
      asked.set(device_code, { nonce: form.get('nonce') ?? '', make: state.token });
      return send({
        device_code,
        user_code: 'BDWP-HQPK',
        verification_uri: `${issuer}/u`,
        expires_in: state.expiresIn,
        interval: 1,
      });
    }
    const trouble = state.troubles.shift();
    if (trouble !== undefined) return trouble(response);
    const { nonce, make } = asked.get(form.get('device_code') ?? '') ?? { nonce: '', make: state.token };
    const token = await make(nonce);
    return token === null
      ? send({ error: 'authorization_pending' }, 400)
      : send({ access_token: 'a', token_type: 'bearer', id_token: token });
  });
  const issuer = await listenOn(server);
  const now = () => Math.floor(Date.now() / 1000);
  const claims = (more: JWTPayload = {}): JWTPayload => ({
    ...{ iss: issuer, aud: 'signage', sub: 'maria', iat: now(), exp: now() + 300, name: 'Maria', groups: ['guests'] },
    ...more,
  });
  const sign = (payload: JWTPayload, key = privateKey): Promise<string> =>
    new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(key);
  return { issuer, jwk, state, now, claims, sign };
};
