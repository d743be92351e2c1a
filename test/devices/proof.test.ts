/** A page proves with its key that it is its device; nobody else can. */
import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { DeviceBinding } from '../../service/contract/peers.ts';
import { canonicalDeviceId, crockford, shownDeviceId } from '../../service/contract/readable.ts';
import { createDeviceProofs } from '../../service/devices/index.ts';
import { deviceIdOf, formatProofNeeds, parseProof, parseProofNeeds } from '../../service/domain/device-proof.ts';
import { systemClock } from '../../service/domain/time.ts';
import type { ServiceContext } from '../../service/module.ts';
import { lobby } from '../content/samples.ts';
import { makeDevice } from '../support/device-key.ts';
import { joinScreen } from '../support/page.ts';
import { shareTestService } from '../support/service.ts';

const site = shareTestService({ content: lobby });

/** Joins with a proof; resolves with the page, and whether the service took the proof. */
const join = async (deviceId: string, proof: string) => {
  const page = await joinScreen(site(), 'lobby', { deviceId, proof });
  return { page, proven: page.welcome.proven };
};

const stranger = makeDevice();

test.each<[string, (own: ReturnType<typeof makeDevice>, nodeId: string) => [deviceId: string, proof: string]]>([
  ['signed with another key', ({ deviceId }, nodeId) => [deviceId, stranger.prove({ nodeId, deviceId })]],
  ['of another device', ({ deviceId }, nodeId) => [deviceId, stranger.prove({ nodeId })]],
  ['for another box', (own) => [own.deviceId, own.prove({ nodeId: 'another-box' })]],
  ['older than 300 s', (own, nodeId) => [own.deviceId, own.prove({ nodeId, at: Date.now() - 301_000 })]],
  [
    'from before the start of the box',
    (own, nodeId) => [own.deviceId, own.prove({ nodeId, at: Date.now() - 120_000 })],
  ],
  ['more than 300 s ahead', (own, nodeId) => [own.deviceId, own.prove({ nodeId, at: Date.now() + 310_000 })]],
  [
    'whose nonce was altered',
    (own, nodeId) => [
      own.deviceId,
      own.prove({ nodeId }).replace(/nonce=(.)/, (_, first) => `nonce=${first === 'A' ? 'B' : 'A'}`),
    ],
  ],
  ['whose key is swapped', (own, nodeId) => [own.deviceId, own.prove({ nodeId }).replace(own.key, stranger.key)]],
  ['that is malformed', ({ deviceId }) => [deviceId, 'v1;key=;at=;nonce=;sig=']],
  [
    'of an id that is derived from no key',
    (own, nodeId) => ['front-door', own.prove({ nodeId, deviceId: 'front-door' })],
  ],
])('a proof %s is not taken', async (_, forge) => {
  const own = makeDevice();
  const { nodeId } = site();
  expect((await join(...forge(own, nodeId))).proven).toBe(false);
});

test('a page proves its device once with each nonce, and may prove it later on the same socket', async () => {
  const own = makeDevice();
  const { nodeId } = site();
  const proof = own.prove({ nodeId });
  expect((await join(own.deviceId, proof)).proven).toBe(true);

  const { page, proven } = await join(own.deviceId, proof);
  expect(proven).toBe(false);
  // 43 characters hold two bits more than the 32 bytes of a key: the same key in another spelling is no other proof.
  const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const respelled = proof.replace(/(?<=key=.{42})./, (last) => base64url.charAt(base64url.indexOf(last) + 1));
  expect((await join(own.deviceId, respelled)).proven).toBe(false);
  const known = { type: 'hello', clientId: 'client-1', page: '/screen/lobby', deviceId: own.deviceId };
  page.send({ ...known, proof: own.prove({ nodeId: String(page.welcome.nodeId) }) });
  const again = await page.message(({ type, proven: isProven }) => type === 'welcome' && isProven === true);
  expect(again.connectionId).toBe(page.connectionId);

  page.send({ ...known, deviceId: stranger.deviceId, proof: stranger.prove({ nodeId }) });
  expect(await page.closed).toBe(1008);
});

test.each([
  ['with a secret the first key of a bound device', 'a-secret-of-some-length', ['front-door'], ['front-door']],
  ['without a secret no key', null, [], []],
])('%s is kept of an id that is derived from none', async (_, sharedSecret, keptOf, refusedOf) => {
  const binding: DeviceBinding = { deviceId: 'front-door', clientName: 'Door', screenSlug: 'lobby', updatedAt: '' };
  const kept: string[] = [];
  const keepKey = async (deviceId: string, key: string): Promise<boolean> => {
    binding.key = key;
    kept.push(deviceId);
    return true;
  };
  const context = {
    options: { sharedSecret },
    ids: { nodeId: 'box' },
    ...systemClock,
    log: pino({ level: 'silent' }),
  } as unknown;
  const proofs = createDeviceProofs(context as ServiceContext, { get: () => binding, keepKey });
  const prove = ({ prove: sign }: ReturnType<typeof makeDevice>): boolean =>
    proofs.verify('front-door', sign({ nodeId: 'box', deviceId: 'front-door' }), '10.0.0.7');
  expect([prove(makeDevice()), prove(stranger)]).toEqual([sharedSecret !== null, false]);
  expect([kept, proofs.refusedLately()]).toEqual([keptOf, refusedOf]);
});

test('a page proves its device to a box whose clock stands in 1970', () => {
  const context = {
    options: { sharedSecret: null },
    ids: { nodeId: 'box' },
    ...systemClock,
    now: () => 300_000,
    log: pino({ level: 'silent' }),
  } as unknown;
  const stored = { get: () => undefined, keepKey: async () => true };
  const proofs = createDeviceProofs(context as ServiceContext, stored);
  const { deviceId, prove } = makeDevice();
  const { nodeId, time } = parseProofNeeds(proofs.needs()) ?? { nodeId: '', time: 0 };
  expect(proofs.verify(deviceId, prove({ nodeId, at: time }), '10.0.0.7')).toBe(true);
});

test('an id has 80 bits of the hash of its key, and is the same in lower case and in groups', () => {
  // RFC 8032, 7.1, test 1.
  const key = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');
  const digest = createHash('sha256').update(key).digest();
  const id = deviceIdOf(digest);
  expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
  expect(BigInt(`0x${digest.subarray(0, 10).toString('hex')}`)).toBe(
    [...id].reduce((sum, digit) => sum * 32n + BigInt('0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(digit)), 0n),
  );
  expect(shownDeviceId(id)).toBe(id.replace(/.{4}(?=.)/g, '$&-'));
  for (const typed of [id.toLowerCase(), shownDeviceId(id), shownDeviceId(id).replaceAll('-', ' ')]) {
    expect(canonicalDeviceId(typed)).toBe(id);
  }
  for (const other of ['dev-1767225600000', 'front-door', 'KIOSK-1']) expect(canonicalDeviceId(other)).toBe(other);
  expect(crockford([0xff, 0xff, 0xff, 0xff, 0xff])).toBe('ZZZZZZZZ');
});

test('what a page signs once more with is read as it was written', () => {
  const needs = { nodeId: '2f1c7a90-5b7e', time: 1767225600000 };
  expect(parseProofNeeds(formatProofNeeds(needs))).toEqual(needs);
  for (const value of [null, '', 'node', 'node;soon']) expect(parseProofNeeds(value)).toBeNull();
  expect(parseProof(makeDevice().prove({ nodeId: 'n' }))).not.toBeNull();
});
