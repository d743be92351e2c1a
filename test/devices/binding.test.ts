import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { CodedError } from '../../service/contract/errors.ts';
import { onboardingResult } from '../../service/contract/onboarding.ts';
import { createOnboarding } from '../../service/devices/onboarding.ts';
import { startTestService } from '../support/service.ts';
import { bind, content } from './support.ts';

describe('binding a device', () => {
  it('answers what it is bound to', async () => {
    const service = await startTestService({ content });
    const response = await bind(service, { clientName: '  Counter 2  ', screenSlug: 'cafe' });
    expect(response.status).toBe(200);
    const result = await response.json();
    expect(Object.keys(result)).toHaveLength(Object.keys(onboardingResult.shape).length);
    expect(onboardingResult.parse(result)).toMatchObject({
      deviceId: 'device-1',
      clientName: 'Counter 2',
      screenId: 'cafe',
      screenSlug: 'cafe',
      screenName: 'Café',
      playerUrl: expect.stringMatching(/^http:\/\/.+\/screen\/cafe$/),
      queued: true,
    });
  });

  it('replaces the binding before', async () => {
    const service = await startTestService({ content });
    await bind(service, {});
    await bind(service, { clientName: 'Counter', screenSlug: 'cafe' });
    const status = await (await service.get('/api/onboarding/status?deviceId=device-1')).json();
    expect(status).toMatchObject({ clientName: 'Counter', screenSlug: 'cafe' });
  });

  it('lasts from one start to the next', async () => {
    const first = await startTestService({ content });
    await bind(first, {});
    await first.close();
    const second = await startTestService({ dataDir: first.dataDir });
    const status = await (await second.get('/api/onboarding/status?deviceId=device-1')).json();
    expect(status).toMatchObject({ onboarded: true, clientName: 'Front desk', screenSlug: 'lobby' });
  });

  it.each<[string, Record<string, unknown>, number, string, string]>([
    ['no device id', { deviceId: undefined }, 400, 'missing_field', 'deviceId'],
    ['no name', { clientName: null }, 400, 'missing_field', 'clientName'],
    ['no screen', { screenSlug: undefined }, 400, 'missing_field', 'screenSlug'],
    ['a bad device id', { deviceId: 'a b' }, 400, 'invalid_field', 'deviceId'],
    ['a device id that is a number', { deviceId: 7 }, 400, 'invalid_field', 'deviceId'],
    ['a name of blanks', { clientName: '   ' }, 400, 'invalid_field', 'clientName'],
    ['a name that is too long', { clientName: 'x'.repeat(65) }, 400, 'invalid_field', 'clientName'],
    ['a name with control characters', { clientName: 'a\u0000b\nc' }, 400, 'invalid_field', 'clientName'],
    ['a name with an unpaired surrogate', { clientName: 'a\ud800' }, 400, 'invalid_field', 'clientName'],
    ['a screen that is no slug', { screenSlug: ['lobby'] }, 400, 'invalid_field', 'screenSlug'],
    ['a screen that does not exist', { screenSlug: 'attic' }, 404, 'screen_not_found', 'screenSlug'],
    ['a screen whose name is no slug', { screenSlug: 'no_such' }, 404, 'screen_not_found', 'screenSlug'],
    ['a screen called like a property', { screenSlug: 'constructor' }, 404, 'screen_not_found', 'screenSlug'],
  ])('refuses %s, and keeps nothing', async (_, binding, status, code, field) => {
    const service = await startTestService({ content });
    const response = await bind(service, binding);
    expect(response.status).toBe(status);
    expect(await response.json()).toStrictEqual({ error: { code, message: expect.any(String), field } });
    const known = await (await service.get('/api/onboarding/status?deviceId=device-1')).json();
    expect(known).toMatchObject({ onboarded: false, clientName: null });
  });

  it('refuses other origins', async () => {
    const service = await startTestService({ content });
    expect((await bind(service, {}, { Origin: 'http://evil.example' })).status).toBe(403);
  });

  it('tells nobody where the disk is full', async () => {
    const told: unknown[] = [];
    const onboarding = createOnboarding({
      content: { payload: (slug) => ({ screen: { slug } }) as never },
      devices: {
        get: () => undefined,
        bind: () => Promise.reject(new CodedError('insufficient_storage')),
        forget: () => Promise.reject(new CodedError('insufficient_storage')),
      },
      pending: { has: () => false, needsProof: () => false, add: async () => {}, remove() {}, take: () => false },
      proofs: { mustProve: () => false },
      claims: { end() {} },
      screens: {
        deviceIds: () => new Set(['device-1']),
        locationsOf: () => [{ connectionId: 'c', deviceId: 'device-1', slug: 'cafe', proven: false }],
        onHello: () => {},
        onJoin: () => {},
        whenHeard: (...args) => told.push(args),
        rename: (...args) => told.push(args),
        send: (...args) => told.push(args),
      },
      landing: { notify: (...args) => told.push(args) },
      knownDevices: { saw() {} },
      peers: { broadcast: async () => ({ answers: [], degraded: told.push('peers') > 0 }) },
    });
    const binding = { deviceId: 'device-1', clientName: 'Front desk', screenSlug: 'lobby' };
    await expect(onboarding.bind(binding, 'http://box', false, pino({ level: 'silent' }))).rejects.toMatchObject({
      status: 507,
    });
    expect(told).toStrictEqual([]);
  });

  it('waits for a page that proves to be the device, although its key goes and others have answered', async () => {
    const sent: unknown[] = [];
    const waiting = new Set<string>();
    const heard: (() => void)[] = [];
    let isKeyed = true;
    const at = (connectionId: string, proven: boolean) => ({
      connectionId,
      deviceId: 'device-1',
      slug: 'cafe',
      proven,
    });
    const live = [at('stranger', false)];
    const onboarding = createOnboarding({
      content: { payload: (slug: string) => ({ screen: { slug } }) },
      devices: {
        bind: async () => {
          isKeyed = false;
          return { updatedAt: '2026-01-01T00:00:00.000Z' };
        },
      },
      pending: {
        needsProof: () => false,
        add: async (deviceId: string) => void waiting.add(deviceId),
        remove: (deviceId: string) => void waiting.delete(deviceId),
        take: (deviceId: string, isProven: boolean) => isProven && waiting.delete(deviceId),
      },
      proofs: { mustProve: () => isKeyed },
      claims: { end() {} },
      screens: {
        locationsOf: () => live,
        whenHeard: (_: string, then: () => void) => heard.push(then),
        onHello() {},
        onJoin() {},
        rename() {},
        send: (ids: string[]) => {
          sent.push(...ids);
          return ids.length;
        },
      },
      landing: { notify: () => 0 },
      peers: { broadcast: async () => ({ answers: [{ queued: false }], degraded: false }) },
    } as unknown as Parameters<typeof createOnboarding>[0]);
    const binding = { deviceId: 'device-1', clientName: 'Front desk', screenSlug: 'lobby' };
    const rebind = () => onboarding.bind(binding, 'http://box', false, pino({ level: 'silent' }));
    await rebind();
    expect([sent, [...waiting]]).toEqual([[], ['device-1']]);
    isKeyed = true;
    live.push(at('own', true));
    await rebind();
    expect([new Set(sent), waiting.size]).toEqual([new Set(['own']), 1]);
    for (const then of heard) then();
    expect(waiting.size).toBe(0);
  });

  it.each([
    ['names the pages of a device that was renamed, and moves none', 'lobby', ['setclientname'], []],
    ['moves those of a device that was bound', 'cafe', ['setclientname', 'redirect'], [true]],
  ])('that another box has made %s', async (_, before, commands, waiting) => {
    const sent: string[] = [];
    const added: boolean[] = [];
    const onboarding = createOnboarding({
      pending: {
        needsProof: () => false,
        add: async (_: string, isProofNeeded: boolean) => void added.push(isProofNeeded),
      },
      content: { payload: () => ({}) },
      // The new binding has dropped the key.
      proofs: { mustProve: (_: string, binding?: { key: string }) => binding?.key !== undefined },
      claims: { end() {} },
      screens: {
        locationsOf: () => [{ connectionId: 'c', deviceId: 'device-1', slug: 'gate-4', proven: true }],
        whenHeard() {},
        onHello() {},
        onJoin() {},
        rename() {},
        send: (ids: string[], { command }: { command: string }) => sent.push(command) && ids.length,
      },
      landing: { notify: () => 0 },
    } as unknown as Parameters<typeof createOnboarding>[0]);
    const binding = { deviceId: 'device-1', clientName: 'Front desk', screenSlug: 'lobby', updatedAt: '' };
    onboarding.follow([{ binding, before: { ...binding, screenSlug: before, clientName: 'Before', key: 'key' } }]);
    expect([sent, added]).toEqual([commands, waiting]);
  });
});
