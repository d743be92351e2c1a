import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAccess, type SignResponse } from '../../service/auth/access.ts';
import { createNonces } from '../../service/auth/nonces.ts';
import { provenTime, sha256Hex, signRequest } from '../../service/auth/sign.ts';
import type { HeaderLines } from '../../service/auth/signatures.ts';
import type { Access } from '../../service/contract/operations/index.ts';
import { clockHeader, signatureHeader, timestampHeader } from '../../service/domain/request-signature.ts';
import { createClock, createTestGuard, linesOf, noRule, otherSecret, outcome, secret } from './support.ts';

const head = { method: 'POST', host: 'player.local:8080', target: '/api/screens/lobby/commands' };
const body = '{"command":"next"}';
const everyAccess: readonly Access[] = ['public', 'signed', 'signed or page', 'page'];
const pageAuth = (token: string): HeaderLines => ({ 'x-signage-page-auth': [token] });

interface Setup {
  secret?: string | null;
  previous?: string | null;
  nonces?: ReturnType<typeof createNonces>;
}

const setUp = ({ nonces, ...set }: Setup = {}, clock = createClock()) => {
  const warn = vi.fn();
  const guard = createTestGuard(clock, nonces);
  const options = {
    secret,
    previous: null,
    nodeId: 'this box',
    ...set,
    pageTokenSeconds: 900,
    guard,
    keyring: null,
    now: clock.now,
    log: { warn },
  };
  const access = createAccess(options);
  const admit = (headers: HeaderLines, as: Access, address = '192.0.2.1') =>
    access.admit({ ...noRule, ...head, headers, access: as, address, isOwnHost: () => true });
  /** What signs the answer; undefined: nothing does. */
  const signerOf = async (headers: HeaderLines, as: Access): Promise<SignResponse | undefined> => {
    let signer: SignResponse | undefined;
    const onSigned = (sign: SignResponse): void => {
      signer = sign;
    };
    const attempt = { ...noRule, ...head, headers, access: as, address: '192.0.2.1', isOwnHost: () => true, onSigned };
    await outcome(() => access.admit(attempt));
    return signer;
  };
  /** The time that an answer proves. */
  const timeOf = (signed: HeaderLines, by: string, answer: Readonly<Record<string, string>>, status = 200) => {
    const [request = ''] = signed[signatureHeader] ?? [];
    return provenTime(by, { request, status, sha256: sha256Hex('{}'), headerOf: (name) => answer[name] });
  };
  const judge = (...attempt: Parameters<typeof admit>) => outcome(() => admit(...attempt));
  const sign = (with_ = secret, between: { recipient?: string; version?: 'v1' | 'v2' } = {}): HeaderLines => ({
    ...linesOf(signRequest({ ...head, body, secret: with_, now: clock.now(), ...between })),
    'content-length': [String(body.length)],
  });
  const relay = (id: string, with_ = secret): HeaderLines => ({
    ...sign(with_, { recipient: 'this box', version: 'v2' }),
    'x-signage-relay': [id],
  });
  const token = async (): Promise<string> => (await access.pageToken())?.token ?? '';
  return { clock, warn, access, admit, signerOf, timeOf, judge, sign, relay, token };
};

describe('with no secret', () => {
  test.each(everyAccess)('the class %s needs no credentials and ignores wrong ones', async (as) => {
    const { judge } = setUp({ secret: null, previous: otherSecret });
    expect(await judge({}, as)).toBe('accepted');
    expect(await judge(pageAuth('nonsense'), as)).toBe('accepted');
    expect(await judge({ [signatureHeader]: ['nonsense'] }, as)).toBe('accepted');
    // Boxes alone ask whether they have reached the one that they mean.
    const elsewhere = { 'x-signage-recipient': ['another box'] };
    expect(await judge(elsewhere, as)).toBe('accepted');
    expect(await judge({ ...elsewhere, 'x-signage-relay': ['a'] }, as)).toBe('misdirected');
  });

  test('pages receive no token, and body hashes are not checked', async () => {
    const { access, admit, sign } = setUp({ secret: null });
    expect(await access.pageToken()).toBeNull();
    expect(await admit(sign(), 'signed')).toMatchObject({
      bodySha256: null,
      seal: null,
    });
  });
});

describe('what each class accepts', () => {
  type Credentials = 'nothing' | 'token' | 'signature' | 'both';
  const table: [Access, Record<Credentials, string>][] = [
    ['public', { nothing: 'accepted', token: 'accepted', signature: 'accepted', both: 'accepted' }],
    [
      'signed',
      { nothing: 'credentials_required', token: 'signature_required', signature: 'accepted', both: 'accepted' },
    ],
    ['signed or page', { nothing: 'credentials_required', token: 'accepted', signature: 'accepted', both: 'accepted' }],
    [
      'page',
      { nothing: 'credentials_required', token: 'accepted', signature: 'credentials_required', both: 'accepted' },
    ],
  ];

  test.each(table)('%s', async (as, expected) => {
    const { judge, sign, token } = setUp();
    const page = pageAuth(await token());
    expect({
      nothing: await judge({}, as),
      token: await judge(page, as),
      signature: await judge(sign(), as),
      both: await judge({ ...page, ...sign() }, as),
    }).toEqual(expected);
  });

  test('wrong credentials are accepted by public operations only', async () => {
    const { clock, judge, sign, token } = setUp();
    const old = pageAuth(await token());
    clock.pass(900_000);
    for (const as of everyAccess) {
      const isPublic = as === 'public';
      const bySignature = as === 'page' ? 'credentials_required' : 'signature_invalid';
      expect(await judge(pageAuth('nonsense'), as)).toBe(isPublic ? 'accepted' : 'page_token_invalid');
      expect(await judge(pageAuth(''), as)).toBe(isPublic ? 'accepted' : 'page_token_invalid');
      expect(await judge(old, as)).toBe(isPublic ? 'accepted' : 'page_token_expired');
      expect(await judge(sign(otherSecret), as)).toBe(isPublic ? 'accepted' : bySignature);
    }
  });

  test('if a request has both kinds of credentials, the signature is checked', async () => {
    const { judge, sign, token } = setUp();
    const page = pageAuth(await token());
    expect(await judge({ ...page, ...sign(otherSecret) }, 'signed or page')).toBe('signature_invalid');
    expect(await judge({ ...page, [timestampHeader]: ['1767225600000'] }, 'signed or page')).toBe('signature_invalid');
    expect(await judge({ ...pageAuth('nonsense'), ...sign() }, 'signed or page')).toBe('accepted');
  });

  test('two page tokens are refused', async () => {
    const { judge, token } = setUp();
    const good = await token();
    expect(await judge({ 'x-signage-page-auth': [good, good] }, 'page')).toBe('page_token_invalid');
  });

  test('every 401 names the credentials that are required', async () => {
    const { admit } = setUp();
    const challenge = { status: 401, headers: { 'WWW-Authenticate': 'Signage' } };
    await expect(admit({}, 'signed')).rejects.toMatchObject(challenge);
    await expect(admit(pageAuth('nonsense'), 'page')).rejects.toMatchObject(challenge);
    await expect(admit({ [signatureHeader]: ['nonsense'] }, 'signed')).rejects.toMatchObject(challenge);
  });
});

describe('a signed request', () => {
  test('passes on the signed hash of its body', async () => {
    const { admit, sign } = setUp();
    expect(await admit(sign(), 'signed')).toMatchObject({
      bodySha256: '4554cc1ae5b6dba174d1263f23e40c0566db2ae1dcd358c2cc276f48ce57d1bb',
    });
  });

  test.each<Access>(['signed', 'public'])('gets a response signed with its own secret for the class %s', async (as) => {
    const { clock, signerOf, timeOf, sign } = setUp({ previous: otherSecret });
    for (const signer of [secret, otherSecret]) {
      const headers = sign(signer);
      const signResponse = await signerOf(headers, as);
      const answer = signResponse?.(200, '{}') ?? {};
      expect(timeOf(headers, signer, answer)).toBe(clock.now());
      const other = (await signerOf(sign(signer), as))?.(200, '{}') ?? {};
      const later = { ...answer, [clockHeader]: String(clock.now() + 1) };
      const streamed = signResponse?.(200, null) ?? {};
      for (const wrong of [signResponse?.(201, '{}') ?? {}, signResponse?.(200, '[]') ?? {}, other, later, streamed]) {
        expect(timeOf(headers, signer, wrong)).toBeNull();
      }
      expect(streamed).toEqual({ [clockHeader]: String(clock.now()) });
    }
    expect(await signerOf(sign('a guess'), as)).toBeUndefined();
  });

  test('gets a proven error, where its MAC is right', async () => {
    const { clock, signerOf, sign } = setUp();
    const replayed = sign();
    await signerOf(replayed, 'signed');
    const stale = linesOf(signRequest({ ...head, body, secret, now: clock.now() - 900_000 }));
    const misdirected = sign(secret, { recipient: 'another box' });
    for (const headers of [replayed, stale, misdirected]) expect(await signerOf(headers, 'signed')).toBeDefined();
    expect(await signerOf(sign(otherSecret), 'signed')).toBeUndefined();
  });

  test('without a recipient is for the host that is the box, and with one for that box, public or not', async () => {
    const { access, judge, sign } = setUp();
    for (const as of ['signed', 'public'] as const) {
      const elsewhere = {
        ...noRule,
        ...head,
        headers: sign(),
        access: as,
        address: '192.0.2.1',
        isOwnHost: () => false,
      };
      expect(await outcome(() => access.admit(elsewhere))).toBe('host_refused');
      const named = { ...elsewhere, headers: sign(secret, { recipient: 'this box' }) };
      expect(await outcome(() => access.admit(named))).toBe('accepted');
      expect(await judge(sign(secret, { recipient: 'another box' }), as)).toBe('misdirected');
      const bare = { 'x-signage-recipient': ['another box'] };
      expect(await judge(bare, as)).toBe(as === 'public' ? 'accepted' : 'credentials_required');
    }
    for (const version of ['v1', 'v2'] as const) {
      expect(await judge(sign(secret, { recipient: '', version }), 'signed')).toBe('signature_invalid');
    }
  });

  test('of a box opens only what boxes ask of each other', async () => {
    const { clock, access } = setUp();
    const judgeAt = (target: string, relayed: boolean) => {
      const parts = { method: 'GET', host: head.host, target };
      const signed = signRequest({ ...parts, secret, now: clock.now(), recipient: 'this box', version: 'v2' });
      const headers = linesOf({ ...signed, ...(relayed && { 'x-signage-relay': 'a' }) });
      const attempt = {
        ...noRule,
        ...parts,
        headers,
        access: 'signed' as const,
        address: '192.0.2.1',
        isOwnHost: () => true,
      };
      return outcome(() => access.admit(attempt));
    };
    for (const path of ['screens/lobby/commands', 'screens/lobby/connections', 'onboarding']) {
      expect(await judgeAt(`/api/${path}`, true)).toBe('accepted');
      expect(await judgeAt(`/api/${path}`, false)).toBe('signature_required');
    }
    expect(await judgeAt('/api/peers/state?from=a', false)).toBe('accepted');
    for (const path of ['/console/api/site', '/api/media/a.png', '/api/streams']) {
      expect(await judgeAt(path, true)).toBe('signature_required');
    }
  });

  test('whose announced body does not arrive is refused at once', async () => {
    const { judge, sign } = setUp();
    expect(await judge({ ...sign(), 'content-length': ['0'] }, 'signed')).toBe('signature_invalid');
    expect(await judge({ ...sign(), 'content-length': undefined }, 'signed')).toBe('signature_invalid');
    const chunked = { ...sign(), 'content-length': undefined, 'transfer-encoding': ['chunked'] };
    expect(await judge(chunked, 'signed')).toBe('accepted');
  });

  test('is accepted once when a hundred copies arrive at the same time', async () => {
    const { judge, sign } = setUp();
    const copy = sign();
    const said = await Promise.all(
      Array.from({ length: 100 }, (_, index) => judge(copy, 'signed', `192.0.2.${index}`)),
    );
    expect(said.filter((code) => code === 'accepted')).toHaveLength(1);
    expect(said.filter((code) => code === 'signature_replayed')).toHaveLength(99);
  });
});

test('while secrets are rotated, the previous one still verifies both kinds and the new one signs', async () => {
  const clock = createClock();
  const rotated = setUp({ secret: 'the new one', previous: secret }, clock);
  const retired = setUp({ secret: 'the new one' }, clock);
  const page = pageAuth(await setUp({}, clock).token());
  expect(await rotated.judge(rotated.sign(secret), 'signed')).toBe('accepted');
  expect(await rotated.judge(rotated.sign('the new one'), 'signed')).toBe('accepted');
  expect(await rotated.judge(page, 'page')).toBe('accepted');
  expect(await retired.judge(retired.sign(secret), 'signed')).toBe('signature_invalid');
  expect(await retired.judge(page, 'page')).toBe('page_token_invalid');
  expect(await retired.judge(pageAuth(await rotated.token()), 'page')).toBe('accepted');
});

describe('the throttle', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  const wrong: [string, (part: ReturnType<typeof setUp>) => HeaderLines, Access, string][] = [
    ['wrong MACs', ({ sign }) => sign(otherSecret), 'signed', 'signature_invalid'],
    ['wrong tokens', () => pageAuth('nonsense'), 'page', 'page_token_invalid'],
    ['wrong tokens where none is enough', () => pageAuth('nonsense'), 'signed', 'page_token_invalid'],
  ];

  test.each(wrong)('answers 429 after a hundred %s, and never refuses valid credentials', async (_, make, as, code) => {
    const part = setUp();
    const page = pageAuth(await part.token());
    for (let count = 0; count < 100; count += 1) expect(await part.judge(make(part), as)).toBe(code);
    for (let count = 0; count < 50; count += 1) expect(await part.judge(make(part), as)).toBe('too_many_requests');
    expect(await part.judge(part.sign(), 'signed')).toBe('accepted');
    expect(await part.judge(page, 'page')).toBe('accepted');
    expect(await part.judge(page, 'signed')).toBe('signature_required');
    expect(await part.judge({}, 'signed')).toBe('credentials_required');
    expect(await part.judge(page, 'public')).toBe('accepted');
    expect(await part.judge(part.sign(), 'signed', '192.0.2.2')).toBe('accepted');
    expect(part.warn).toHaveBeenCalledTimes(1);
  });

  test('does not affect public operations: after many wrong signatures, valid requests still get a signed response', async () => {
    const { signerOf, judge, sign } = setUp();
    for (let count = 0; count < 150; count += 1) expect(await judge(sign(otherSecret), 'public')).toBe('accepted');
    expect(await signerOf(sign(otherSecret), 'public')).toBeUndefined();
    expect(await judge(sign(otherSecret), 'signed')).toBe('too_many_requests');
    expect(await signerOf(sign(), 'public')).toBeDefined();
  });

  test('counts each kind of credentials separately', async () => {
    const { judge, sign } = setUp();
    for (let count = 0; count < 101; count += 1) await judge(pageAuth('nonsense'), 'page');
    expect(await judge(pageAuth('nonsense'), 'page')).toBe('too_many_requests');
    expect(await judge(sign(otherSecret), 'signed')).toBe('signature_invalid');
  });

  test('counts concurrent failures exactly: a hundred get their own error', async () => {
    const { judge } = setUp();
    const said = await Promise.all(Array.from({ length: 150 }, () => judge(pageAuth('nonsense'), 'page')));
    expect(said.filter((code) => code === 'page_token_invalid')).toHaveLength(100);
    expect(said.filter((code) => code === 'too_many_requests')).toHaveLength(50);
  });

  test('sends the time to clients that know the secret, for public operations too', async () => {
    const { clock, admit, signerOf, timeOf } = setUp();
    const late = linesOf(signRequest({ ...head, secret, now: clock.now() - 900_000 }));
    expect(await admit(late, 'public')).toMatchObject({ bodySha256: null });
    expect(timeOf(late, secret, (await signerOf(late, 'public'))?.(200, '{}') ?? {})).toBe(clock.now());
  });

  test('counts a guess with a stale timestamp too', async () => {
    const { clock, judge } = setUp();
    const late = () => linesOf(signRequest({ ...head, secret: otherSecret, now: clock.now() - 900_000 }));
    for (let count = 0; count < 100; count += 1) expect(await judge(late(), 'signed')).toBe('signature_stale');
    expect(await judge(late(), 'signed')).toBe('too_many_requests');
  });

  test('does not count failures that are not guesses', async () => {
    const { clock, judge, sign, token } = setUp();
    const expired = pageAuth(await token());
    const stale = sign();
    clock.pass(900_000);
    const copy = sign();
    expect(await judge(copy, 'signed')).toBe('accepted');
    const otherBody = (): HeaderLines => ({ ...sign(), 'content-length': ['0'] });
    for (let count = 0; count < 101; count += 1) {
      expect(await judge(copy, 'signed')).toBe('signature_replayed');
      expect(await judge(stale, 'signed')).toBe('signature_stale');
      expect(await judge(expired, 'page')).toBe('page_token_expired');
      expect(await judge({ [signatureHeader]: ['nonsense'] }, 'signed')).toBe('signature_invalid');
      expect(await judge(otherBody(), 'signed')).toBe('signature_invalid');
      expect(await judge({}, 'signed')).toBe('credentials_required');
      expect(await judge(pageAuth(await token()), 'signed')).toBe('signature_required');
    }
    expect(await judge(sign(), 'signed')).toBe('accepted');
  });
});

test('no error and no log line contains a secret, a token or a MAC', async () => {
  const clock = createClock();
  const { access, judge, admit, sign, token, warn } = setUp({ previous: 'the one before' }, clock);
  const expired = await token();
  const stale = sign();
  clock.pass(900_000);
  const fresh = await token();
  const attempts: [HeaderLines, Access][] = [
    [pageAuth(expired), 'page'],
    [pageAuth(fresh), 'signed'],
    [pageAuth(`${fresh}=`), 'page'],
    [stale, 'signed'],
    [sign(otherSecret), 'signed'],
    [{ ...sign(), [timestampHeader]: ['1'] }, 'signed'],
    [{ ...sign(), 'content-length': ['0'] }, 'signed'],
  ];
  const given = attempts
    .flatMap(([headers]) => Object.values(headers).flat())
    .filter((value) => (value?.length ?? 0) > 20);
  const kept = [secret, 'the one before', expired, fresh, ...given].map(String);
  const seen: unknown[] = [];
  for (const [headers, as] of attempts) seen.push(await admit(headers, as).catch((error: unknown) => error));
  for (let count = 0; count < 100; count += 1) await judge(pageAuth(`${fresh}A`), 'page');
  expect(warn).toHaveBeenCalled();
  const said = inspect([seen, warn.mock.calls, access], { depth: null, showHidden: true, maxStringLength: null });
  expect(seen.every((error) => error instanceof Error)).toBe(true);
  for (const value of kept) expect(said).not.toContain(value);
  for (const mac of kept.flatMap((value) => value.match(/(?<=mac=)\w+/) ?? [])) expect(said).not.toContain(mac);
});

describe('the memory of nonces', () => {
  const few = { total: 100, each: 3, guaranteed: 0 };
  const nonces = () => createNonces({ peer: few, operator: few, person: few });

  test('identifies a box by its address, not by the node ids it sends', async () => {
    const { judge, sign, relay } = setUp({ nonces: nonces() });
    const send = (id: string, as: Access = 'signed', address?: string) => judge(relay(id), as, address);
    expect([await send('a'), await send('b'), await send('c')]).toEqual(['accepted', 'accepted', 'accepted']);
    expect(await send('d')).toBe('busy');
    // Neither what only pages cause, nor other boxes, nor operators are kept out by that.
    expect(await send('a', 'signed or page')).toBe('accepted');
    expect(await send('a', 'signed', '192.0.2.2')).toBe('accepted');
    expect(await judge(sign(), 'signed')).toBe('accepted');
  });

  test('recognises a request that is replayed with the headers of a different sender', async () => {
    const { judge, relay } = setUp();
    const copy = relay('a');
    expect(await judge(copy, 'signed')).toBe('accepted');
    expect(await judge({ ...copy, 'x-signage-relay': ['b'] }, 'signed')).toBe('signature_replayed');
    expect(await judge(copy, 'signed', '192.0.2.9')).toBe('signature_replayed');
  });

  test('stores nothing for a sender without the secret', async () => {
    const { judge, relay } = setUp({ nonces: nonces() });
    for (let count = 0; count < 20; count++) {
      expect(await judge(relay('a', otherSecret), 'signed')).toBe('signature_invalid');
    }
    expect(await judge(relay('a'), 'signed')).toBe('accepted');
  });
});
