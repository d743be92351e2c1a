import { hkdfSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { createPageTokens } from '../../service/auth/tokens.ts';
import { createClock, otherSecret, outcome, secret } from './support.ts';

const setUp = (own = secret, previous: string | null = null, clock = createClock()) => {
  const tokens = createPageTokens({ secret: own, previous, lifetimeSeconds: 900, now: clock.now });
  return { clock, tokens, judge: (token: string) => outcome(() => tokens.verify(token)) };
};

/** The key as any HKDF gives it; RFC 5869, SHA-256, no salt. */
const derived = (own = secret): Uint8Array => new Uint8Array(hkdfSync('sha256', own, '', 'signage-page-token-v1', 32));

const iat = Date.UTC(2026, 0, 1) / 1000;
const claims = { iat, exp: iat + 900, aud: 'signage-page' };
const forge = (key: Uint8Array, changed: object = {}, alg = 'HS256') =>
  new SignJWT({ ...claims, ...changed }).setProtectedHeader({ alg }).sign(key);

describe('a token', () => {
  test('contains when it was issued, when it expires, and its audience', async () => {
    const { clock, tokens } = setUp();
    clock.pass(1999);
    const { token, issuedAt, expiresAt } = await tokens.issue();
    expect({ issuedAt, expiresAt }).toEqual({
      issuedAt: '2026-01-01T00:00:01.000Z',
      expiresAt: '2026-01-01T00:15:01.000Z',
    });
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256' });
    expect(decodeJwt(token)).toEqual({ iat: iat + 1, exp: iat + 901, aud: 'signage-page' });
  });

  test('is valid until it expires', async () => {
    const { clock, tokens, judge } = setUp();
    const { token } = await tokens.issue();
    expect(await judge(token)).toBe('accepted');
    clock.pass(900_000 - 1);
    expect(await judge(token)).toBe('accepted');
    clock.pass(1);
    expect(await judge(token)).toBe('page_token_expired');
  });

  test('is signed with a key derived from the secret', async () => {
    const { judge } = setUp();
    expect(await judge(await forge(derived()))).toBe('accepted');
    expect(await judge(await forge(Buffer.from(secret)))).toBe('page_token_invalid');
    expect(await judge(await forge(derived(otherSecret)))).toBe('page_token_invalid');
  });
});

describe('refused', () => {
  test('with no algorithm', async () => {
    const { judge } = setUp();
    const none = new UnsecuredJWT(claims).encode();
    expect(await judge(none)).toBe('page_token_invalid');
    const { tokens } = setUp();
    const signature = (await tokens.issue()).token.split('.')[2];
    expect(await judge(`${none}${signature}`)).toBe('page_token_invalid');
  });

  test.each(['HS384', 'HS512'])('with %s, even if signed with the secret', async (alg) => {
    const { judge } = setUp();
    expect(await judge(await forge(derived(), {}, alg))).toBe('page_token_invalid');
  });

  test('with a key pair', async () => {
    const { judge } = setUp();
    const { privateKey } = await generateKeyPair('ES256');
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    expect(await judge(token)).toBe('page_token_invalid');
  });

  test.each([
    ['another audience', { aud: 'signage-peer' }],
    ['an audience that begins alike', { aud: 'signage-page-2' }],
    ['no audience', { aud: undefined }],
    ['no end', { exp: undefined }],
    ['no beginning', { iat: undefined }],
  ])('with %s', async (_, changed) => {
    const { judge } = setUp();
    expect(await judge(await forge(derived(), changed))).toBe('page_token_invalid');
  });

  test('if any character is changed', async () => {
    const { tokens, judge } = setUp();
    const { token } = await tokens.issue();
    for (let index = 0; index < token.length; index += 1) {
      for (const other of ['A', 'B', '-', '.']) {
        if (token[index] === other) continue;
        const tampered = token.slice(0, index) + other + token.slice(index + 1);
        expect(await judge(tampered), `${index} ${other}`).toBe('page_token_invalid');
      }
    }
  });

  test('in any other encoding of the same bytes', async () => {
    const { tokens, judge } = setUp();
    const { token } = await tokens.issue();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const lasts = [...alphabet].filter((last) => !token.endsWith(last)).map((last) => token.slice(0, -1) + last);
    for (const spelling of [
      ...lasts,
      `${token}=`,
      `${token} `,
      ` ${token}`,
      `${token}\n`,
      `${token}.`,
      `Bearer ${token}`,
    ]) {
      expect(await judge(spelling), spelling.slice(-3)).toBe('page_token_invalid');
    }
  });

  test.each(['', '.', '..', '...', 'token', 'null', '{}', 'a.b.c', 'é.é.é', 'A'.repeat(8000)])(
    'when it is %j',
    async (token) => {
      const { judge } = setUp();
      expect(await judge(token)).toBe('page_token_invalid');
    },
  );

  test('a forged and expired one as invalid, which reveals nothing', async () => {
    const { judge } = setUp();
    expect(await judge(await forge(derived(otherSecret), { exp: iat - 1 }))).toBe('page_token_invalid');
  });
});

describe('rotation', () => {
  test('the previous secret still verifies, a retired one does not, the new one signs', async () => {
    const { judge, tokens } = setUp('the new one', secret);
    expect(await judge((await setUp(secret).tokens.issue()).token)).toBe('accepted');
    expect(await judge((await setUp(otherSecret).tokens.issue()).token)).toBe('page_token_invalid');
    expect(await setUp('the new one').judge((await tokens.issue()).token)).toBe('accepted');
    expect(await setUp(secret).judge((await tokens.issue()).token)).toBe('page_token_invalid');
  });

  test('tokens of the previous secret expire as well', async () => {
    const clock = createClock();
    const { token } = await setUp(secret, null, clock).tokens.issue();
    clock.pass(900_000);
    expect(await setUp('the new one', secret, clock).judge(token)).toBe('page_token_expired');
  });
});
