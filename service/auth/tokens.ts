import { hkdfSync } from 'node:crypto';
import { JWSSignatureVerificationFailed, JWTExpired } from 'jose/errors';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { CodedError } from '../contract/errors.ts';
import { pageAuthHeader } from '../contract/page.ts';
import { tokenProtocol } from '../contract/socket.ts';
import type { HeaderLines } from './signatures.ts';

const audience = 'signage-page';

export interface PageToken {
  /** JWT (RFC 7519). */
  token: string;
  /** Like expiresAt: ISO 8601, UTC, milliseconds. */
  issuedAt: string;
  expiresAt: string;
}

interface Options {
  secret: string;
  /** The previous secret, whose tokens are still accepted. */
  previous: string | null;
  lifetimeSeconds: number;
  /** The wall clock, ms since the epoch. */
  now: () => number;
}

/** Derives the token key from the secret with HKDF (RFC 5869). It cannot be used to sign requests. */
const keyOf = (secret: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), 'signage-page-token-v1', 32));

/** Whether the signature is canonical base64url. A decoder alone would accept four variants of the last character. */
const isCanonical = (token: string): boolean => {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
};

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** Issues and verifies page tokens: JWTs (RFC 7519), HS256, with times in whole seconds. */
export const createPageTokens = ({ secret, previous, lifetimeSeconds, now }: Options) => {
  const key = keyOf(secret);
  const keys = previous === null ? [key] : [key, keyOf(previous)];

  return {
    async issue(): Promise<PageToken> {
      const iat = Math.floor(now() / 1000);
      const exp = iat + lifetimeSeconds;
      const token = await new SignJWT({ iat, exp, aud: audience }).setProtectedHeader({ alg: 'HS256' }).sign(key);
      return { token, issuedAt: iso(iat), expiresAt: iso(exp) };
    },

    /** @throws CodedError `page_token_expired`, or `page_token_invalid` for any other error */
    async verify(token: string): Promise<void> {
      if (!isCanonical(token)) throw new CodedError('page_token_invalid');
      const currentDate = new Date(now());
      for (const candidate of keys) {
        try {
          await jwtVerify(token, candidate, {
            algorithms: ['HS256'],
            audience,
            requiredClaims: ['iat', 'exp'],
            currentDate,
          });
          return;
        } catch (error) {
          if (error instanceof JWTExpired) throw new CodedError('page_token_expired');
          if (!(error instanceof JWSSignatureVerificationFailed)) break;
        }
      }
      throw new CodedError('page_token_invalid');
    },
  };
};

/**
 * The headers of an upgrade request, with its page token in the header that other requests use. A browser cannot set
 * headers on a WebSocket, so it sends the token as a second subprotocol, `token.TOKEN` (RFC 6455, 4.1).
 */
export const upgradeHeaders = (headers: HeaderLines): HeaderLines => {
  const tokens = (headers['sec-websocket-protocol'] ?? [])
    .flatMap((line) => line.split(','))
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol.startsWith(tokenProtocol))
    .map((protocol) => protocol.slice(tokenProtocol.length));
  return tokens.length === 0
    ? headers
    : { ...headers, [pageAuthHeader]: [...(headers[pageAuthHeader] ?? []), ...tokens] };
};
