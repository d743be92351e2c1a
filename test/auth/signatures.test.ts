import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNonces } from '../../service/auth/nonces.ts';
import { signRequest } from '../../service/auth/sign.ts';
import { createSignatures, type HeaderLines, parseSignature, type SignedHead } from '../../service/auth/signatures.ts';
import { clockHeader, headerText, signatureHeader, timestampHeader } from '../../service/domain/request-signature.ts';
import { createClock, createTestGuard, linesOf, otherSecret, outcome, secret } from './support.ts';

const head: SignedHead = { method: 'POST', host: 'player.local:8080', target: '/api/screens/lobby/commands?x=1&y=%20' };
const body = '{"command":"next"}';
const second = 1000;
const sender = { sender: { kind: 'operator', name: '192.0.2.1' }, isForThis: true } as const;

const setUp = (secrets: readonly string[] = [secret], mostNonces?: number) => {
  const clock = createClock();
  const most = { total: mostNonces ?? 1_000, each: mostNonces ?? 1_000, guaranteed: 0 };
  const guard = createTestGuard(clock, createNonces({ operator: most, peer: most, person: most }));
  const signatures = createSignatures({ secrets, guard, keyring: null });
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
  ['v2', '/api/peers/commands', 3_000],
  ['v2', '/api/screens/lobby/commands?x=1', 3_000],
  ['v2', '/api/peers/gossip', 30_000],
  ['v1', '/api/screens/lobby/commands', 30_000],
] as const)('as %s for a box, %s is fresh for %i ms either way', async (version, target, fresh) => {
  const { clock, judge } = setUp();
  clock.pass(60 * second);
  const sign = (off: number) =>
    linesOf(signRequest({ ...head, target, body, secret, now: clock.now() + off, recipient: 'this box', version }));
  for (const off of [-fresh, fresh]) {
    expect(await judge(sign(off), { ...head, target })).toBe('accepted');
    expect(await judge(sign(off + Math.sign(off)), { ...head, target })).toBe('signature_stale');
  }
  const signed = sign(0);
  expect(await judge({ ...signed, 'x-signage-recipient': ['another'] }, { ...head, target })).toBe('signature_invalid');
});

/** The example of the interface. */
const example = {
  secret: 'a-secret-of-some-length',
  now: 1_767_225_600_000,
  nonce: '0123456789abcdef',
  ...{ method: 'GET', host: '10.0.0.5:8080', target: '/console/api/site', recipient: 'node-1' },
  headers: { 'x-signage-operator': headerText('Zoë'), 'If-Match': '"abc" ' },
};

test('for a box, the signature covers the headers that change what happens, as bytes', () => {
  expect(signRequest(example)[signatureHeader]).toMatch(
    /;mac=3548f293c4b122f60f51c8e175b6c2b3783d7eb2544fa52ff1a12b156fc50562$/,
  );
});

test.each([
  ['x-signage-operator', [headerText('Zoé')]],
  ['x-signage-operator', undefined],
  ['x-signage-operator', [headerText('Zoë'), 'Eve']],
  ['if-match', ['*']],
  ['if-none-match', ['"abc"']],
  ['x-signage-recipient', undefined],
  ['x-signage-recipient', ['node-1', 'node-1']],
  ['x-signage-relay', ['node-2']],
  ['x-signage-command-id', ['0123456789abcdef']],
])('a host in between that makes %s %j has changed the request', async (name, lines) => {
  const { clock, judge } = setUp([example.secret]);
  const { method, host, target } = example;
  const given = { 'x-signage-operator': headerText('Zoë'), 'if-match': '"abc"' };
  const signed = linesOf({ ...signRequest({ ...example, now: clock.now() }), ...given });
  expect(await judge({ ...signed, [name]: lines }, { method, host, target })).toBe('signature_invalid');
  expect(await judge(signed, { method, host, target })).toBe('accepted');
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
    const covered = ['', '', ''];
    expect(parseSignature(of({}))).toEqual({ version: 'v1', timestamp, nonce, sha256, mac, recipient: null, covered });
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
        const signatures = createSignatures({ secrets: [own], guard: createTestGuard(clock), keyring: null });
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
    const after = createSignatures({ secrets: [secret], guard: createTestGuard(before.clock), keyring: null });
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

  test('is told to clients whose MAC is wrong, too', async () => {
    const { clock, signatures } = setUp();
    const signature = parseSignature(
      linesOf(signRequest({ ...head, secret: otherSecret, now: clock.now() - 3600 * second })),
    );
    const refused = signatures.verify(signature, head, sender);
    await expect(refused).rejects.toMatchObject({ headers: { [clockHeader]: String(clock.now()) } });
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
