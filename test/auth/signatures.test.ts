import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNonces } from '../../service/auth/nonces.ts';
import { readClock, signRequest } from '../../service/auth/sign.ts';
import { createSignatures, type HeaderLines, parseSignature, type SignedHead } from '../../service/auth/signatures.ts';
import type { CodedError } from '../../service/contract/errors.ts';
import { clockHeader, signatureHeader, timestampHeader } from '../../service/domain/request-signature.ts';
import { createClock, createTestGuard, linesOf, otherSecret, outcome, secret } from './support.ts';

const head: SignedHead = { method: 'POST', host: 'player.local:8080', target: '/api/screens/lobby/commands?x=1&y=%20' };
const body = '{"command":"next"}';
const second = 1000;
const sender = { kind: 'operator', name: '192.0.2.1' } as const;

const setUp = (secrets: readonly string[] = [secret], mostNonces?: number) => {
  const clock = createClock();
  const most = { total: mostNonces ?? 1_000, each: mostNonces ?? 1_000, guaranteed: 0 };
  const guard = createTestGuard(clock, createNonces({ operator: most, peer: most }));
  const signatures = createSignatures({ secrets, guard, nodeId: 'this box' });
  const signed = (now = clock.now(), with_ = secret): HeaderLines =>
    linesOf(signRequest({ ...head, body, secret: with_, now }));
  const judge = (headers: HeaderLines, as: SignedHead = head) =>
    outcome(() => signatures.verify(parseSignature(headers), as, sender));
  return { clock, signatures, signed, judge };
};

const nonce = 'AAAAAAAAAAAAAAAA-_09az';
const sha256 = '4554cc1ae5b6dba174d1263f23e40c0566db2ae1dcd358c2cc276f48ce57d1bb';
const mac = '17532dba74e25d072fa570f5774078620f95daadd75b89ec5ac7fc4c227cd995';
const line = `v1;nonce=${nonce};sha256=${sha256};mac=${mac}`;

test.each([
  [-3_001, 'signature_stale'],
  [-3_000, 'accepted'],
  [3_000, 'accepted'],
  [3_001, 'signature_stale'],
])('between boxes a timestamp that is off by %i ms is %s', async (off, expected) => {
  const { clock, judge } = setUp();
  clock.pass(60 * second);
  const signed = linesOf(signRequest({ ...head, body, secret, now: clock.now() + off, recipient: 'this box' }));
  expect(await judge(signed)).toBe(expected);
  expect(await judge({ ...signed, 'x-signage-recipient': ['another'] })).not.toBe('accepted');
});

describe('signing', () => {
  test('matches the HMAC of openssl for the same lines', () => {
    const now = 1_767_225_600_000;
    expect(signRequest({ ...head, body, secret, now, nonce })).toEqual({
      [timestampHeader]: '1767225600000',
      [signatureHeader]: line,
    });
  });

  test('takes host, path and query from a URL as a client sends them', () => {
    const now = 1_767_225_600_000;
    const url = 'http://Player.LOCAL:8080/api/screens/lobby/commands?x=1&y= #top';
    expect(signRequest({ url, method: 'post', body: Buffer.from(body), secret, now, nonce })).toEqual(
      signRequest({ ...head, body, secret, now, nonce }),
    );
  });

  test('makes a new nonce for each request', () => {
    const nonces = Array.from({ length: 1000 }, () => parseSignature(linesOf(signRequest({ ...head, secret }))).nonce);
    expect(new Set(nonces).size).toBe(1000);
  });
});

describe('the two headers', () => {
  const timestamp = '1767225600000';
  const of = (lines: Partial<Record<'timestamp' | 'signature', string[]>>): HeaderLines => ({
    [timestampHeader]: lines.timestamp ?? [timestamp],
    [signatureHeader]: lines.signature ?? [line],
  });

  test('are parsed', () => {
    expect(parseSignature(of({}))).toEqual({ timestamp, nonce, sha256, mac, recipient: null, isRelay: false });
  });

  test.each([
    ['no timestamp', { timestamp: [] }],
    ['two timestamps', { timestamp: [timestamp, timestamp] }],
    ['seconds', { timestamp: ['1767225600'] }],
    ['14 digits', { timestamp: ['17672256000000'] }],
    ['a sign', { timestamp: ['+176722560000'] }],
    ['a fraction', { timestamp: ['17672256000.0'] }],
    ['an exponent', { timestamp: ['1767225600e03'] }],
    ['hex', { timestamp: ['0x17672256000'] }],
    ['a space', { timestamp: [' 176722560000'] }],
    ['a line break', { timestamp: [`${timestamp}\n`] }],
    ['other digits', { timestamp: ['١٧٦٧٢٢٥٦٠٠٠٠٠'] }],
    ['an empty timestamp', { timestamp: [''] }],
    ['no signature', { signature: [] }],
    ['two signatures', { signature: [line, line] }],
    ['two signatures in one line', { signature: [`${line}, ${line}`] }],
    ['an empty signature', { signature: [''] }],
    ['another version', { signature: [line.replace('v1', 'v2')] }],
    ['no version', { signature: [line.replace('v1;', '')] }],
    ['another order', { signature: [`v1;sha256=${sha256};nonce=${nonce};mac=${mac}`] }],
    ['a part left out', { signature: [`v1;nonce=${nonce};mac=${mac}`] }],
    ['a part twice', { signature: [`${line};mac=${mac}`] }],
    ['a part more', { signature: [`${line};x=1`] }],
    ['a semicolon more', { signature: [`${line};`] }],
    ['spaces', { signature: [line.replaceAll(';', '; ')] }],
    ['a line break at the end', { signature: [`${line}\n`] }],
    ['quotes', { signature: [line.replace(nonce, `"${nonce}"`)] }],
    ['a short nonce', { signature: [line.replace(nonce, 'a'.repeat(15))] }],
    ['a long nonce', { signature: [line.replace(nonce, 'a'.repeat(65))] }],
    ['a nonce of other characters', { signature: [line.replace(nonce, `${'a'.repeat(15)}+`)] }],
    ['a nonce with a line break', { signature: [line.replace(nonce, `${'a'.repeat(15)}\n`)] }],
    ['a nonce of other letters', { signature: [line.replace(nonce, `${'a'.repeat(15)}é`)] }],
    ['a short hash', { signature: [line.replace(sha256, sha256.slice(1))] }],
    ['a long hash', { signature: [line.replace(sha256, `${sha256}0`)] }],
    ['a hash that is no hex', { signature: [line.replace(sha256, `g${sha256.slice(1)}`)] }],
    ['a short MAC', { signature: [line.replace(mac, mac.slice(2))] }],
    ['a long MAC', { signature: [line.replace(mac, `${mac}00`)] }],
    ['an empty MAC', { signature: [line.replace(mac, '')] }],
    ['a MAC in base64', { signature: [line.replace(mac, Buffer.from(mac, 'hex').toString('base64'))] }],
  ])('are refused with %s', async (_, lines) => {
    expect(await outcome(() => parseSignature(of(lines)))).toBe('signature_invalid');
  });

  test.each([16, 64])('may have a nonce of %i characters', (length) => {
    expect(parseSignature(of({ signature: [line.replace(nonce, '_'.repeat(length))] })).nonce).toHaveLength(length);
  });

  test('are either malformed or canonical', async () => {
    const inserted = fc.tuple(fc.nat(line.length), fc.nat(3), fc.string({ unit: 'binary', maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), inserted), async (given) => {
        const signature =
          typeof given === 'string' ? given : line.slice(0, given[0]) + given[2] + line.slice(given[0] + given[1]);
        const said = await outcome(() => {
          const read = parseSignature(of({ signature: [signature] }));
          expect(`v1;nonce=${read.nonce};sha256=${read.sha256};mac=${read.mac}`).toBe(signature);
        });
        expect(['accepted', 'signature_invalid']).toContain(said);
      }),
    );
  });
});

describe('what is signed', () => {
  test('any method, host, path, query and body can be verified', async () => {
    const requests = fc.record({
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
      host: fc.domain(),
      target: fc.webPath().chain((path) => fc.webQueryParameters().map((query) => `/${path}?${query}`)),
      body: fc.uint8Array(),
      secret: fc.string({ minLength: 1, unit: 'grapheme' }),
    });
    await fc.assert(
      fc.asyncProperty(requests, async ({ secret: own, body: bytes, ...request }) => {
        const clock = createClock();
        const signatures = createSignatures({ secrets: [own], guard: createTestGuard(clock), nodeId: 'this box' });
        const headers = linesOf(signRequest({ ...request, body: bytes, secret: own, now: clock.now() }));
        const url = `http://${request.host}${request.target}`;
        const byUrl = linesOf(signRequest({ url, method: request.method, body: bytes, secret: own, now: clock.now() }));
        const { host, pathname, search } = new URL(url);
        const asSent = { ...request, host, target: pathname + search };
        expect(await outcome(() => signatures.verify(parseSignature(headers), request, sender))).toBe('accepted');
        expect(await outcome(() => signatures.verify(parseSignature(byUrl), asSent, sender))).toBe('accepted');
      }),
    );
  });

  test.each<[string, Partial<SignedHead>]>([
    ['method', { method: 'PUT' }],
    ['method, in lower case', { method: 'post' }],
    ['host', { host: 'player2.local:8080' }],
    ['port', { host: 'player.local:8081' }],
    ['port left out', { host: 'player.local' }],
    ['path', { target: head.target.replace('lobby', 'Lobby') }],
    ['query', { target: head.target.replace('x=1', 'x=2') }],
    ['order of the query', { target: '/api/screens/lobby/commands?y=%20&x=1' }],
    ['spelling of the path', { target: head.target.replace('lobby', '%6Cobby') }],
    ['spelling of the query', { target: head.target.replace('%20', '+') }],
  ])('another %s is refused', async (_, changed) => {
    const { signed, judge } = setUp();
    expect(await judge(signed(), { ...head, ...changed })).toBe('signature_invalid');
  });

  test('the host is compared in lower case', async () => {
    const { signed, judge } = setUp();
    expect(await judge(signed(), { ...head, host: 'Player.LOCAL:8080' })).toBe('accepted');
  });

  const flipped = (hex: string): string => (hex.startsWith('0') ? '1' : '0') + hex.slice(1);
  const change = (headers: HeaderLines, name: string, edit: (value: string) => string): HeaderLines => ({
    ...headers,
    [name]: [edit(headers[name]?.[0] ?? '')],
  });

  test.each<[string, string, (value: string) => string]>([
    ['timestamp', timestampHeader, (value) => String(Number(value) + 1)],
    [
      'nonce',
      signatureHeader,
      (value) => value.replace(/nonce=./, (start) => (start.endsWith('A') ? 'nonce=B' : 'nonce=A')),
    ],
    ['hash of the body', signatureHeader, (value) => value.replace(/(?<=sha256=)\w+/, flipped)],
    ['MAC', signatureHeader, (value) => value.replace(/(?<=mac=)\w+/, flipped)],
    ['end of the MAC', signatureHeader, (value) => value.slice(0, -1) + (value.endsWith('0') ? '1' : '0')],
  ])('another %s is refused', async (_, name, edit) => {
    const { signed, judge } = setUp();
    expect(await judge(change(signed(), name, edit))).toBe('signature_invalid');
  });
});

describe('time', () => {
  test('is fresh to 300 s either way', async () => {
    const { clock, signed, judge } = setUp();
    clock.pass(3600 * second);
    expect(await judge(signed(clock.now() - 300 * second))).toBe('accepted');
    expect(await judge(signed(clock.now() - 300 * second - 1))).toBe('signature_stale');
    expect(await judge(signed(clock.now() + 300 * second))).toBe('accepted');
    expect(await judge(signed(clock.now() + 300 * second + 1))).toBe('signature_stale');
  });

  test('before the start is stale, and at the start is fresh', async () => {
    const { clock, signed, judge } = setUp();
    const start = clock.now();
    clock.pass(10 * second);
    expect(await judge(signed(start - 1))).toBe('signature_stale');
    expect(await judge(signed(start))).toBe('accepted');
  });

  test('from before a restart is stale', async () => {
    const before = setUp();
    const copy = before.signed();
    expect(await before.judge(copy)).toBe('accepted');
    before.clock.pass(second);
    const after = createSignatures({ secrets: [secret], guard: createTestGuard(before.clock), nodeId: 'this box' });
    expect(await outcome(() => after.verify(parseSignature(copy), head, sender))).toBe('signature_stale');
  });

  test('from before the clock was set is stale after a restart', async () => {
    const { clock, signed, judge } = setUp();
    clock.pass(60 * second);
    clock.step(3600 * second);
    expect(await judge(signed(clock.now() - 61 * second))).toBe('signature_stale');
    expect(await judge(signed(clock.now() - 59 * second))).toBe('accepted');
  });

  test('stepped back by less than the window allows no replay', async () => {
    const { clock, signed, judge } = setUp();
    clock.pass(3600 * second);
    const copy = signed();
    expect(await judge(copy)).toBe('accepted');
    clock.pass(301 * second);
    expect(await judge(signed())).toBe('accepted');
    clock.step(-200 * second);
    expect(await judge(copy)).toBe('signature_stale');
    expect(await judge(signed())).toBe('accepted');
  });

  test('stepped back far, even right after the start, locks out no operator', async () => {
    const { clock, signed, judge } = setUp();
    const copy = signed();
    expect(await judge(copy)).toBe('accepted');
    clock.step(-365 * 24 * 3600 * second);
    expect(await judge(signed())).toBe('accepted');
    expect(await judge(signed(clock.now() - 1))).toBe('signature_stale');
    expect(await judge(copy)).toBe('signature_stale');
  });

  test('is checked before the MAC: a stale and wrong signature is stale', async () => {
    const { clock, signed, judge } = setUp();
    expect(await judge(signed(clock.now() - 1, otherSecret))).toBe('signature_stale');
  });

  test('is sent to clients with a wrong clock, and signed only if they know the secret', async () => {
    const { clock, signatures } = setUp();
    const tell = async (by: string) => {
      const signature = parseSignature(linesOf(signRequest({ ...head, secret: by, now: clock.now() - 3600 * second })));
      try {
        return await signatures.verify(signature, head, sender);
      } catch (error) {
        return { mac: signature.mac, told: (error as CodedError).headers[clockHeader] };
      }
    };
    const { mac, told } = (await tell(secret)) as { mac: string; told: string };
    expect(readClock(secret, mac, told)).toBe(clock.now());
    const { mac: guess, told: plain } = (await tell(otherSecret)) as { mac: string; told: string };
    expect(plain).toBe(String(clock.now()));
    for (const by of [secret, otherSecret]) expect(readClock(by, guess, plain)).toBeNull();

    const later = told.replace(/^\d+/, (time) => String(Number(time) + 1));
    for (const [by, of, what] of [
      [otherSecret, mac, told],
      [secret, mac.replace(/^./, (digit) => (digit === '0' ? '1' : '0')), told],
      [secret, mac, later],
      [secret, mac, 'soon'],
      [secret, mac, undefined],
    ] as const) {
      expect(readClock(by, of, what)).toBeNull();
    }
  });
});

describe('use of a signature', () => {
  test('is possible once', async () => {
    const { signed, judge } = setUp();
    const copy = signed();
    expect(await judge(copy)).toBe('accepted');
    expect(await judge(copy)).toBe('signature_replayed');
  });

  test('of a nonce is possible for one request, not for one per path', async () => {
    const { clock, judge } = setUp();
    const sign = (target: string) => linesOf(signRequest({ ...head, target, secret, nonce, now: clock.now() }));
    expect(await judge(sign('/one'), { ...head, target: '/one' })).toBe('accepted');
    expect(await judge(sign('/two'), { ...head, target: '/two' })).toBe('signature_replayed');
  });

  test('is refused a second time up to the last moment of the window', async () => {
    const { clock, signed, judge } = setUp();
    const early = signed(clock.now() + 300 * second);
    expect(await judge(early)).toBe('accepted');
    clock.pass(600 * second);
    expect(await judge(early)).toBe('signature_replayed');
    clock.pass(1);
    expect(await judge(early)).toBe('signature_stale');
  });

  test('with a wrong MAC does not consume the nonce', async () => {
    const { clock, judge } = setUp();
    const sign = (own: string) => linesOf(signRequest({ ...head, secret: own, nonce, now: clock.now() }));
    expect(await judge(sign(otherSecret))).toBe('signature_invalid');
    expect(await judge(sign(secret))).toBe('accepted');
  });

  test('is refused if the memory is full, and replays are still recognised', async () => {
    const { clock, signed, judge } = setUp([secret], 2);
    const copy = signed();
    expect(await judge(copy)).toBe('accepted');
    expect(await judge(signed())).toBe('accepted');
    expect(await judge(signed())).toBe('busy');
    expect(await judge(copy)).toBe('signature_replayed');
    clock.pass(302 * second);
    expect(await judge(signed())).toBe('accepted');
  });
});

describe('rotation', () => {
  test('the previous secret still verifies, a retired one does not', async () => {
    const { clock, signed, judge } = setUp([secret, 'the one before']);
    expect(await judge(signed(clock.now()))).toBe('accepted');
    expect(await judge(signed(clock.now(), 'the one before'))).toBe('accepted');
    expect(await judge(signed(clock.now(), 'the one before that'))).toBe('signature_invalid');
  });
});
