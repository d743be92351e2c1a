/** With a secret, only who stands in front of a display binds it: with the code that its page shows. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { mostBindings } from '../../service/contract/peers.ts';
import { createClaims } from '../../service/devices/claims.ts';
import { createOnboarding } from '../../service/devices/onboarding.ts';
import { seal } from '../../service/platform/store/adapter.ts';
import { defaultTempo } from '../../service/tempo.ts';
import { secret, startSite } from '../peers/support.ts';
import { makeDevice } from '../support/device-key.ts';
import { patience } from '../support/observe.ts';
import { createOperator, refusalOf } from '../support/operator.ts';
import { joinScreen, protocolsOf } from '../support/page.ts';
import { shareTestService, startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { repeats } from '../support/soak.ts';
import { content, modulesOf, readQr } from './support.ts';

const setup = { content, env: { SIGNAGE_SHARED_SECRET: secret } };
type Device = ReturnType<typeof makeDevice>;
type Headers = Record<string, string>;

/** What anyone on the LAN has: the token in a page. */
const pageHeaders = async ({ url }: TestService): Promise<Headers> => {
  const token = /"token":"([^"]+)"/.exec(await (await fetch(`${url}/onboard`)).text())?.[1];
  return { 'x-signage-page-auth': token ?? '' };
};

const askStatus = (service: TestService, deviceId: string, headers: Headers = {}) =>
  service.get(`/api/onboarding/status?deviceId=${deviceId}`, { headers });

const proofOf = (service: TestService, device: Device): Headers => ({
  'x-signage-device-proof': device.prove({ nodeId: service.nodeId }),
});

/** What the landing page of a device shows; null: no code. */
const codeAt = async (service: TestService, device: Device): Promise<string | null> =>
  (await askStatus(service, device.deviceId, proofOf(service, device))).headers.get('x-signage-claim');

/** Binds as the form of a phone does. */
const bindByPage = async (service: TestService, deviceId: string, headers: Headers) =>
  service.post(
    '/api/onboarding',
    { deviceId, clientName: 'Front desk', screenSlug: 'lobby' },
    { ...(await pageHeaders(service)), ...headers },
  );

const isBound = async (service: TestService, deviceId: string): Promise<boolean> =>
  ((await (await askStatus(service, deviceId)).json()) as { onboarded: boolean }).onboarded;

describe('at one box', () => {
  const box = shareTestService(setup);

  it('a landing page that proves its device gets a code, with which a phone binds it once', async () => {
    const device = makeDevice();
    const code = await codeAt(box(), device);
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/);
    expect(await codeAt(box(), device)).toBe(code);
    const typed = String(code).toLowerCase().replace(/.{4}/g, '$& - ').replaceAll('0', 'o').replaceAll('1', 'L');
    expect((await bindByPage(box(), device.deviceId.toLowerCase(), { 'x-signage-claim': typed })).status).toBe(200);
    expect(await isBound(box(), device.deviceId)).toBe(true);
    expect(await codeAt(box(), device)).toBeNull();
    const again = await bindByPage(box(), device.deviceId, { 'x-signage-claim': String(code) });
    expect(await refusalOf(again)).toEqual([403, 'claim_invalid']);
  });

  it('the QR code holds the code for the page alone', async () => {
    const device = makeDevice();
    const path = `/api/onboarding/qr?deviceId=${device.deviceId}`;
    const read = async (headers: Headers) => readQr(modulesOf(await (await box().get(path, { headers })).text()));
    const address = `/onboard?deviceId=${device.deviceId}`;
    const shown = new URL(String(await read(proofOf(box(), device))));
    expect(shown.searchParams.get('claim')).toBe(await codeAt(box(), device));
    expect(await read({})).toMatch(new RegExp(`${address.replace('?', '\\?')}$`));
    expect(await read(proofOf(box(), makeDevice()))).not.toContain('claim');
  });

  it('a proof that was not taken is answered with what to sign once more with', async () => {
    const device = makeDevice();
    const late = device.prove({ nodeId: 'another', at: Date.now() - 3_600_000 });
    const answer = await askStatus(box(), device.deviceId, { 'x-signage-device-proof': late });
    expect(answer.headers.get('x-signage-claim')).toBeNull();
    const [nodeId = '', time] = answer.headers.get('x-signage-device-proof-needs')?.split(';') ?? [];
    expect(nodeId).toBe(box().nodeId);
    const again = device.prove({ nodeId, at: Number(time) });
    const answered = await askStatus(box(), device.deviceId, { 'x-signage-device-proof': again });
    expect(answered.headers.get('x-signage-claim')).not.toBeNull();
    expect(answered.headers.get('x-signage-device-proof-needs')).toBeNull();
  });

  it.each<[string, (own: Device, service: TestService) => Promise<Headers>, string]>([
    ['nothing but a page token', async () => ({}), 'claim_required'],
    ['an empty code', async () => ({ 'x-signage-claim': ' - ' }), 'claim_required'],
    ['a guess', async () => ({ 'x-signage-claim': '0123456789' }), 'claim_invalid'],
    ['what is no code', async () => ({ 'x-signage-claim': '*'.repeat(2_000) }), 'claim_invalid'],
    [
      'the code of another device',
      async (_, service) => ({ 'x-signage-claim': String(await codeAt(service, makeDevice())) }),
      'claim_invalid',
    ],
    ['the header of a relay', async () => ({ 'x-signage-relay': 'box-2' }), 'claim_required'],
    ['a proof of a key of its own', async (_, service) => proofOf(service, makeDevice()), 'claim_required'],
    ['a proof of the device itself', async (own, service) => proofOf(service, own), 'claim_required'],
  ])('a stranger with %s binds nothing', async (_, arm, code) => {
    const own = makeDevice();
    expect(await codeAt(box(), own)).not.toBeNull();
    const response = await bindByPage(box(), own.deviceId, await arm(own, box()));
    expect(await refusalOf(response)).toEqual([403, code]);
    expect(await isBound(box(), own.deviceId)).toBe(false);
  });

  it.each<[string, (own: Device, service: TestService) => Headers]>([
    ['no proof', () => ({})],
    ['the id in the header of pages', ({ deviceId }) => ({ 'x-signage-device': deviceId })],
    ['the proof of another device', (_, service) => proofOf(service, makeDevice())],
    [
      'a proof that another key signed',
      ({ deviceId }, { nodeId }) => ({ 'x-signage-device-proof': makeDevice().prove({ nodeId, deviceId }) }),
    ],
    ['a proof for another box', (own) => ({ 'x-signage-device-proof': own.prove({ nodeId: 'box-2' }) })],
  ])('a stranger gets no code for %s', async (_, arm) => {
    const own = makeDevice();
    const answer = await askStatus(box(), own.deviceId, arm(own, box()));
    expect(answer.headers.get('x-signage-claim')).toBeNull();
  });

  it('a proof that was overheard gets no code a second time', async () => {
    const own = makeDevice();
    const proof = proofOf(box(), own);
    expect((await askStatus(box(), own.deviceId, proof)).headers.get('x-signage-claim')).not.toBeNull();
    expect((await askStatus(box(), own.deviceId, proof)).headers.get('x-signage-claim')).toBeNull();
  });

  it('an id that is derived from no key gets no code, and is bound by a signed request; its first key is then its own', async () => {
    const [own, stranger] = [makeDevice(), makeDevice()];
    const deviceId = 'front-door';
    const { nodeId } = box();
    const claimed = { 'x-signage-device-proof': own.prove({ nodeId, deviceId }) };
    expect((await askStatus(box(), deviceId, claimed)).headers.get('x-signage-claim')).toBeNull();
    const operator = createOperator(box(), secret);
    const binding = { deviceId, clientName: 'Door', screenSlug: 'lobby' };
    expect((await operator('POST', '/api/onboarding', binding)).status).toBe(200);

    const protocols = await protocolsOf(box(), 'lobby', secret);
    const join = async (device: Device) =>
      (await joinScreen(box(), 'lobby', { deviceId, proof: device.prove({ nodeId, deviceId }) }, { protocols }))
        .welcome;
    expect(await join(own)).toMatchObject({ proven: true });
    expect(await join(stranger)).toMatchObject({ proven: false });
    expect(await join(own)).toMatchObject({ proven: true });
    const { warnings } = (await (await box().get('/healthz')).json()) as { warnings: string[] };
    expect(warnings.join()).toContain('front-door');
    // It is written behind the welcome.
    const audited = async () => (await (await operator('GET', '/console/api/audit')).json()).records;
    const record = expect.objectContaining({ action: 'device.key', target: deviceId });
    await expect.poll(audited, patience).toContainEqual(record);

    expect((await operator('POST', '/api/onboarding', binding)).status).toBe(200);
    expect(await join(stranger)).toMatchObject({ proven: true });
  });

  it('a display that is bound shows a code where an operator opens its landing page, and no other page does', async () => {
    const device = makeDevice();
    const operator = createOperator(box(), secret);
    const { deviceId } = device;
    await operator('POST', '/api/onboarding', { deviceId, clientName: 'Wall', screenSlug: 'lobby' });
    expect(await codeAt(box(), device)).toBeNull();
    const protocols = await protocolsOf(box(), 'lobby', secret);
    const page = await joinScreen(box(), 'lobby', { deviceId, clientId: 'wall' }, { protocols });
    const other = await joinScreen(
      box(),
      'lobby',
      { deviceId: makeDevice().deviceId, clientId: 'door' },
      { protocols },
    );
    const show = (target: object, query = `deviceId=${deviceId}&show=code`) =>
      operator('POST', '/api/screens/lobby/commands', { command: 'redirect', url: `/?${query}`, ...target });
    const { connectionId } = page;
    for (const refused of [
      await show({}),
      await show({ connectionId: other.connectionId }),
      await show({ clientId: 'door' }),
      await show({ connectionId }, `deviceId=${deviceId}`),
      await show({ connectionId }, `deviceId=${deviceId}&show=code&more=1`),
    ]) {
      expect(await refusalOf(refused)).toEqual([400, 'invalid_field']);
    }
    expect(await (await show({ connectionId: 'gone' })).json()).toMatchObject({ sent: 0 });
    expect(await codeAt(box(), device)).toBeNull();

    expect(await (await show({ connectionId })).json()).toMatchObject({ sent: 1, connectionId });
    const url = `/?deviceId=${deviceId}&show=code`;
    expect(await page.message(({ command }) => command === 'redirect')).toMatchObject({ url });
    const code = String(await codeAt(box(), device));
    expect((await bindByPage(box(), deviceId, { 'x-signage-claim': code })).status).toBe(200);
    expect(await codeAt(box(), device)).toBeNull();
  });

  it('nothing else holds a code', async () => {
    const device = makeDevice();
    const code = String(await codeAt(box(), device));
    await box().get(`/onboard?deviceId=${device.deviceId}&claim=${code}`);
    await bindByPage(box(), device.deviceId, { 'x-signage-claim': code });
    const operator = createOperator(box(), secret);
    const answers = await Promise.all(
      ['/healthz', '/metrics', '/console/api/audit', '/console/api/site'].map(async (path) =>
        (await operator('GET', path)).text(),
      ),
    );
    for (const text of [box().log(), ...answers]) expect(text).not.toContain(code);
  });

  it('wrong codes are slowed, the right one is not', async () => {
    const service = await startTestService(setup);
    const device = makeDevice();
    const code = String(await codeAt(service, device));
    const guess = async (claim: string) => bindByPage(service, device.deviceId, { 'x-signage-claim': claim });
    const guesses = await Promise.all(Array.from({ length: 14 }, (_, index) => guess(`ABCDEFGH${index + 10}`)));
    const codes = await Promise.all(guesses.map(refusalOf));
    expect(codes.filter(([status]) => status === 403)).toHaveLength(10);
    expect(codes.filter(([status]) => status === 429)).toHaveLength(4);
    expect(Number(guesses.find(({ status }) => status === 429)?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await guess(code)).status).toBe(200);
  });
});

test('a stranger who binds invented devices leaves ten records; each of others is kept', async () => {
  const service = await startTestService(setup);
  const operator = createOperator(service, secret);
  const bindNext = async (deviceId: string) =>
    operator('POST', '/api/onboarding', { deviceId, clientName: 'Wall', screenSlug: 'lobby' });
  const invent = async () => {
    const device = makeDevice();
    return bindByPage(service, device.deviceId, { 'x-signage-claim': String(await codeAt(service, device)) });
  };
  for (let count = 0; count < 15; count += 1) expect((await invent()).status).toBe(200);
  for (let count = 0; count < 12; count += 1) expect((await bindNext(makeDevice().deviceId)).status).toBe(200);
  const { records } = await (await operator('GET', '/console/api/audit?kind=device&limit=100')).json();
  expect(records.filter((each: { action: string }) => each.action === 'device.bind')).toHaveLength(10 + 12);
});

test('at a box that is full of invented devices signed requests bind new ones, and those remain that were seen', async () => {
  const dataDir = temporaryFolder();
  const away = makeDevice().deviceId;
  const nodeId = '00000000-0000-4000-8000-000000000001';
  const devices = Array.from({ length: mostBindings }, (_, at) => ({
    deviceId: at === 0 ? away : `junk-${at}`,
    clientName: 'Name',
    screenSlug: 'lobby',
    updatedAt: new Date(Date.UTC(2026, 0, 1) + at).toISOString(),
  }));
  const sightings = [{ deviceId: away, nodeId, at: '2026-01-02T08:00:00.000Z' }];
  for (const [name, body] of Object.entries({ state: { nodeId, devices }, seen: { sightings } }))
    writeFileSync(join(dataDir, `${name}.json`), seal(body, 1, Date.now()));
  const service = await startTestService({ ...setup, dataDir });
  const { deviceId } = makeDevice();
  const binding = { deviceId, clientName: 'Door', screenSlug: 'lobby' };
  expect((await createOperator(service, secret)('POST', '/api/onboarding', binding)).status).toBe(200);
  const bound = await Promise.all([away, deviceId, 'junk-1'].map((each) => isBound(service, each)));
  expect(bound).toEqual([true, true, false]);
});

test('a box that starts again knows no code and no proof of before, and shows the display another code', async () => {
  const service = await startTestService(setup);
  const device = makeDevice();
  const proof = proofOf(service, device);
  const old = String((await askStatus(service, device.deviceId, proof)).headers.get('x-signage-claim'));
  await service.close();
  const again = await startTestService({ ...setup, dataDir: service.dataDir });
  expect(again.nodeId).toBe(service.nodeId);
  expect((await askStatus(again, device.deviceId, proof)).headers.get('x-signage-claim')).toBeNull();
  const guess = (claim: string) => bindByPage(again, device.deviceId, { 'x-signage-claim': claim });
  expect(await refusalOf(await guess(old))).toEqual([403, 'claim_invalid']);
  const code = String(await codeAt(again, device));
  expect(code).not.toBe(old);
  expect(await refusalOf(await guess(old))).toEqual([403, 'claim_invalid']);
  expect((await guess(code)).status).toBe(200);
});

const guessCount = repeats(200, 10_000);

test(`${guessCount} guesses at two boxes bind nothing, and keep nobody who has the code from binding`, async () => {
  const [first, second] = await startSite(setup);
  const [device, other] = [makeDevice(), makeDevice()];
  const codes = [String(await codeAt(first, device)), String(await codeAt(first, other))];
  const tokens = await Promise.all([first, second].map(pageHeaders));
  const statuses = new Map<number, number>();
  let left = guessCount;
  const startedAt = performance.now();
  const guess = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      // The code of a page that is not heard of for a minute would end.
      if (left % 1_000 === 0) expect(await codeAt(first, device)).toBe(codes[0]);
      const [box, token] = left % 10 === 0 ? [second, tokens[1]] : [first, tokens[0]];
      const claim = { 'x-signage-claim': `Z${String(left).padStart(9, '0')}` };
      const body = { deviceId: device.deviceId, clientName: 'Mine', screenSlug: 'gate-4' };
      const response = await box.post('/api/onboarding', body, { ...token, ...claim });
      await response.arrayBuffer();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    }
  };
  const guesses = Array.from({ length: 100 }, guess);
  const [bind] = await Promise.all([
    bindByPage(second, other.deviceId, { 'x-signage-claim': String(codes[1]) }),
    ...guesses,
  ]);
  expect(bind.status).toBe(200);
  expect([...statuses.keys()].toSorted()).toEqual([403, 429]);
  const minutes = (performance.now() - startedAt) / 60_000;
  expect(statuses.get(403)).toBeLessThanOrEqual(20 * Math.floor(1 + minutes));
  for (const box of [first, second]) expect(await isBound(box, device.deviceId)).toBe(false);
  expect((await bindByPage(second, device.deviceId, { 'x-signage-claim': String(codes[0]) })).status).toBe(200);
}, 120_000);

test('without a secret there are no codes, and a page binds as before', async () => {
  const service = await startTestService({ content });
  const device = makeDevice();
  const answer = await askStatus(service, device.deviceId, proofOf(service, device));
  expect(answer.headers.get('x-signage-claim')).toBeNull();
  expect((await bindByPage(service, device.deviceId, {})).status).toBe(200);
});

test('a code is right at every box of the site, and wrong at all after the binding', async () => {
  const [first, second] = await startSite(setup);
  const device = makeDevice();
  const code = String(await codeAt(first, device));
  expect(await refusalOf(await bindByPage(second, device.deviceId, { 'x-signage-claim': 'ABCDEFGH12' }))).toEqual([
    403,
    'claim_invalid',
  ]);
  // A proof is for one box: what one was sent cannot be passed on to another.
  const relayed = { 'x-signage-device-proof': device.prove({ nodeId: first.nodeId }) };
  expect((await askStatus(second, device.deviceId, relayed)).headers.get('x-signage-claim')).toBeNull();
  expect((await bindByPage(second, device.deviceId, { 'x-signage-claim': code })).status).toBe(200);
  for (const box of [first, second]) {
    expect(await isBound(box, device.deviceId)).toBe(true);
    const again = await bindByPage(box, device.deviceId, { 'x-signage-claim': code });
    expect(await refusalOf(again)).toEqual([403, 'claim_invalid']);
  }
  const url = `${first.url}/api/peers/claims`;
  const body = { claims: [{ deviceId: device.deviceId, claim: code }] };
  const signed = signRequest({ secret, method: 'POST', url, body: JSON.stringify(body) });
  expect((await first.post('/api/peers/claims', body, signed)).status).toBe(200);
  expect((await first.post('/api/peers/claims', body, await pageHeaders(first))).status).toBe(403);
});

describe('the life of a code', () => {
  const open = () => {
    let at = 0;
    const alone = { isAlone: () => true, broadcast: async () => ({ answers: [], degraded: false }) };
    const claims = createClaims({ monotonicNow: () => at, tempo: defaultTempo }, alone);
    const wait = (seconds: number): void => {
      at += seconds * 1000;
    };
    return { ...claims, wait };
  };

  it('ends 60 s after the page was last heard of, and after 12 hours', () => {
    const { codeFor, isRightHere, wait } = open();
    const first = codeFor('A', '10.0.0.1') ?? '';
    wait(59);
    expect(codeFor('A', '10.0.0.1')).toBe(first);
    wait(61);
    expect(isRightHere('A', first)).toBe(false);
    const second = codeFor('A', '10.0.0.1') ?? '';
    expect(second).not.toBe(first);
    for (let minutes = 0; minutes < 12 * 60; minutes += 1) {
      expect(codeFor('A', '10.0.0.1')).toBe(second);
      wait(59);
    }
    wait(12 * 60);
    expect(isRightHere('A', second)).toBe(false);
    expect(codeFor('A', '10.0.0.1')).not.toBe(second);
  });

  it('ends with a binding that another box relays, although its screen has not arrived yet', async () => {
    const claims = open();
    const code = claims.codeFor('A', '10.0.0.1') ?? '';
    const { bind: relay } = createOnboarding({
      claims,
      content: { payload: () => undefined },
      devices: { bind: async (deviceId: string) => ({ deviceId }) },
      pending: { needsProof: () => false, add: async () => {} },
      proofs: { mustProve: () => false },
      screens: { onHello: () => {}, onJoin: () => {} },
    } as unknown as Parameters<typeof createOnboarding>[0]);
    const binding = { deviceId: 'A', clientName: 'Door', screenSlug: 'new', updatedAt: '2026-01-01T00:00:00.000Z' };
    await expect(relay(binding, '', true, pino({ level: 'silent' }))).rejects.toMatchObject({
      code: 'screen_not_found',
    });
    expect(claims.isRightHere('A', code)).toBe(false);
  });

  it('of one address there are 50, of all 1,000; none takes the place of another, and the box itself always gets one', () => {
    const { codeFor, isRightHere, wait } = open();
    const first = codeFor('first', '10.0.0.1') ?? '';
    for (let index = 1; index < 50; index += 1) expect(codeFor(`a${index}`, '10.0.0.1')).not.toBeNull();
    expect(codeFor('a51', '10.0.0.1')).toBeNull();
    for (let index = 50; index < 1_000; index += 1) {
      expect(codeFor(`b${index}`, `10.0.1.${Math.floor(index / 50)}`)).not.toBeNull();
    }
    expect(codeFor('c', '10.0.2.1')).toBeNull();
    expect(codeFor('kiosk', '127.0.0.1')).not.toBeNull();
    expect(isRightHere('first', first)).toBe(true);
    wait(61);
    expect(codeFor('c', '10.0.2.1')).not.toBeNull();
  });

  it('where more are asked for than the other boxes are asked at once, those of addresses with wrong ones are refused', async () => {
    const alone = { isAlone: () => false, broadcast: async () => ({ answers: [{ right: [true] }], degraded: false }) };
    const clock = { monotonicNow: () => 0, tempo: { ...defaultTempo, devices: { ...defaultTempo.devices, round: 1 } } };
    const { check } = createClaims(clock, alone as unknown as Parameters<typeof createClaims>[1]);
    const guesses = Array.from({ length: 1_200 }, () => check('A', '0123456789', '10.0.0.1').catch(({ code }) => code));
    await expect(check('A', '0123456789', '10.0.0.2')).resolves.toBeUndefined();
    const refused = (await Promise.all(guesses)).filter((code) => code !== undefined);
    expect(new Set(refused)).toEqual(new Set(['claim_invalid', 'too_many_requests']));
  });

  it('a bound device may show one for ten minutes', () => {
    const { open: allow, isOpened, wait, end } = open();
    expect(isOpened('A')).toBe(false);
    allow('A');
    wait(599);
    expect(isOpened('A')).toBe(true);
    wait(2);
    expect(isOpened('A')).toBe(false);
    allow('A');
    end('A');
    expect(isOpened('A')).toBe(false);
  });
});
