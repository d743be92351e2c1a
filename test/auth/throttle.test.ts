import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createThrottle } from '../../service/auth/throttle.ts';
import { outcome } from './support.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

const setUp = (mostAddresses?: number) => {
  const warn = vi.fn();
  const throttle = createThrottle({ log: { warn }, ...(mostAddresses === undefined ? {} : { mostAddresses }) });
  const fail = async (address: string, times = 200): Promise<void> => {
    for (let count = 0; count < times; count += 1) await throttle.fail(address);
  };
  return { throttle, fail, warn, check: (address: string) => outcome(() => throttle.check(address)) };
};

test('two hundred failures are let through, then the address is refused until the minute is over', async () => {
  const { fail, check } = setUp();
  await fail('192.0.2.1', 199);
  expect(await check('192.0.2.1')).toBe('accepted');
  await fail('192.0.2.1', 1);
  expect(await check('192.0.2.1')).toBe('too_many_requests');
  vi.advanceTimersByTime(59_999);
  expect(await check('192.0.2.1')).toBe('too_many_requests');
  vi.advanceTimersByTime(1);
  expect(await check('192.0.2.1')).toBe('accepted');
});

test('of many failures at once, two hundred are answered as such', async () => {
  const { throttle } = setUp();
  const said = await Promise.all(Array.from({ length: 230 }, () => outcome(() => throttle.fail('192.0.2.1'))));
  expect(said.filter((code) => code === 'accepted')).toHaveLength(200);
  expect(said.filter((code) => code === 'too_many_requests')).toHaveLength(30);
});

test('says when to come back, and says it in the log once', async () => {
  const { throttle, fail, warn } = setUp();
  await fail('192.0.2.1');
  vi.advanceTimersByTime(18_500);
  await expect(throttle.check('192.0.2.1')).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '42' } });
  await expect(throttle.fail('192.0.2.1')).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '42' } });
  expect(warn.mock.calls).toEqual([[{ address: '192.0.2.1' }, 'too many wrong credentials']]);
});

test.each([-86_400_000, 86_400_000])('a clock stepped by %i ms asks for no more than a minute', async (step) => {
  const { throttle, fail } = setUp();
  await fail('192.0.2.1');
  vi.setSystemTime(Date.now() + step);
  const error: unknown = await throttle.check('192.0.2.1').catch((refusal: unknown) => refusal);
  const { headers } = error as { headers: Record<string, string> };
  expect(Number(headers['Retry-After'])).toBeGreaterThanOrEqual(1);
  expect(Number(headers['Retry-After'])).toBeLessThanOrEqual(60);
});

describe('who counts as one', () => {
  test.each([
    ['the same address', '192.0.2.1', '192.0.2.1', true],
    ['a neighbour', '192.0.2.1', '192.0.2.2', false],
    ['the same /64', '2001:db8:0:1::1', '2001:db8:0:1:ffff:ffff:ffff:ffff', true],
    ['the same /64 in another spelling', '2001:db8::1', '2001:0DB8:0:0:abcd::', true],
    ['the next /64', '2001:db8:0:1::1', '2001:db8:0:2::1', false],
    ['another /32', '2001:db8::1', '2001:db9::1', false],
    ['other zeros', '2001:db8:0:0:1::', '2001:db8:1::', false],
    ['loopback', '::1', '::1', true],
    ['loopback and something else', '::1', '2001:db8::1', false],
    ['IPv4 in IPv6', '::ffff:192.0.2.1', '::ffff:192.0.2.1', true],
    ['a neighbour in IPv6', '::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
    ['the same link-local address', 'fe80::1', 'fe80:0::1', true],
    ['a link-local neighbour', 'fe80::1', 'fe80::2', false],
    ['a link-local address with its interface', 'fe80::1%eth0', 'fe80::1%eth0', true],
    ['no address at all', '', '', true],
  ])('%s', async (_, failing, other, refused) => {
    const { fail, check } = setUp();
    await fail(failing);
    expect(await check(other)).toBe(refused ? 'too_many_requests' : 'accepted');
  });
});

test('remembers a bounded number of addresses, those that failed last', async () => {
  const { fail, check } = setUp(2);
  await fail('192.0.2.1');
  await fail('192.0.2.2', 199);
  await fail('192.0.2.3', 1);
  expect(await check('192.0.2.1')).toBe('accepted');
  await fail('192.0.2.2', 1);
  await fail('192.0.2.4', 1);
  expect(await check('192.0.2.2')).toBe('too_many_requests');
  await fail('192.0.2.3', 199);
  expect(await check('192.0.2.3')).toBe('accepted');
});
