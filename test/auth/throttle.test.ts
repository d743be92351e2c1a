import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createThrottle } from '../../service/auth/throttle.ts';
import { outcome } from './support.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

const setUp = (maxAddresses?: number) => {
  const warn = vi.fn();
  const throttle = createThrottle({ log: { warn }, ...(maxAddresses === undefined ? {} : { maxAddresses }) });
  const failOnce = (address: string) => outcome(() => throttle.fail(address, 'signature'));
  const fail = async (address: string, times = 100): Promise<void> => {
    for (let count = 0; count < times; count += 1) await failOnce(address);
  };
  return { throttle, fail, warn, failOnce };
};

test('after a hundred failures, further ones are answered 429 until the minute is over', async () => {
  const { fail, failOnce } = setUp();
  await fail('192.0.2.1', 99);
  expect(await failOnce('192.0.2.1')).toBe('accepted');
  expect(await failOnce('192.0.2.1')).toBe('too_many_requests');
  vi.advanceTimersByTime(59_999);
  expect(await failOnce('192.0.2.1')).toBe('too_many_requests');
  vi.advanceTimersByTime(1);
  expect(await failOnce('192.0.2.1')).toBe('accepted');
});

test('concurrent failures are counted exactly', async () => {
  const { failOnce } = setUp();
  const said = await Promise.all(Array.from({ length: 130 }, () => failOnce('192.0.2.1')));
  expect(said.filter((code) => code === 'accepted')).toHaveLength(100);
  expect(said.filter((code) => code === 'too_many_requests')).toHaveLength(30);
});

test('each kind of credentials is counted separately', async () => {
  const { throttle, fail } = setUp();
  await fail('192.0.2.1', 101);
  expect(await outcome(() => throttle.fail('192.0.2.1', 'page token'))).toBe('accepted');
});

test('sends Retry-After, and logs one line', async () => {
  const { throttle, fail, warn } = setUp();
  await fail('192.0.2.1');
  vi.advanceTimersByTime(18_500);
  for (let count = 0; count < 2; count += 1) {
    expect(() => throttle.fail('192.0.2.1', 'signature')).toThrow(
      expect.objectContaining({ status: 429, headers: { 'Retry-After': '42' } }),
    );
  }
  expect(warn.mock.calls).toEqual([[{ address: '192.0.2.1', kind: 'signature' }, 'too many wrong credentials']]);
});

test('guesses that go on are logged once a minute', async () => {
  const { fail, warn } = setUp();
  for (let second = 0; second < 150; second += 1) {
    await fail('192.0.2.1', 10);
    vi.advanceTimersByTime(1_000);
  }
  expect(warn).toHaveBeenCalledTimes(3);
});

test.each([-86_400_000, 86_400_000])('a clock step of %i ms changes nothing', async (step) => {
  const { throttle, fail } = setUp();
  await fail('192.0.2.1', 101);
  vi.setSystemTime(Date.now() + step);
  expect(() => throttle.fail('192.0.2.1', 'signature')).toThrow(
    expect.objectContaining({ headers: { 'Retry-After': '60' } }),
  );
});

describe('addresses that are counted together', () => {
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
    const { fail, failOnce } = setUp();
    await fail(failing);
    expect(await failOnce(other)).toBe(refused ? 'too_many_requests' : 'accepted');
  });
});

test('remembers a bounded number of addresses, those with the latest failures', async () => {
  const { fail, failOnce } = setUp(2);
  await fail('192.0.2.1');
  await fail('192.0.2.2', 99);
  await fail('192.0.2.3', 1);
  expect(await failOnce('192.0.2.2')).toBe('accepted');
  expect(await failOnce('192.0.2.2')).toBe('too_many_requests');
  expect(await failOnce('192.0.2.1')).toBe('accepted');
});
