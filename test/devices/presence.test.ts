/** Which devices are away: by the clocks, the opening hours and what other boxes say. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OpeningTime } from '../../service/contract/content.ts';
import { createPresence } from '../../service/devices/presence.ts';
import type { Peer } from '../../service/peers/index.ts';
import type { LivePeer } from '../../service/peers/registry.ts';
import { defaultTempo } from '../../service/tempo.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const device = { deviceId: 'wall', clientName: 'Wall', screenSlug: 'lobby', updatedAt: '2026-01-01T00:00:00.000Z' };

const setUp = ({ hours = null }: { hours?: OpeningTime[] | null } = {}) => {
  const connected = new Set<string>();
  let peers: Partial<Peer>[] = [];
  let join: (place: { connectionId: string; deviceId: string; slug: string; proven: boolean }) => void = () => {};
  // Monday, 07:00 UTC.
  const start = Date.parse('2026-06-01T07:00:00Z');
  let at = 0;
  const presence = createPresence(
    {
      options: { timeZone: 'UTC', variant: 'extended' },
      now: () => start + at,
      monotonicNow: () => at,
      tempo: defaultTempo,
    },
    {
      screens: {
        deviceIds: () => connected,
        onJoin: (listener) => {
          join = listener;
        },
      },
      devices: { list: () => [device, { ...device, deviceId: 'unbound', screenSlug: null }] },
      peers: { all: () => peers as Peer[], alive: () => peers.filter(({ alive }) => alive) as LivePeer[] },
      content: { payload: (slug) => (slug === 'lobby' ? ({} as never) : undefined), hours: () => hours },
    },
  );
  presence.start();
  return {
    presence,
    away: () => presence.away().map(({ deviceId }) => deviceId),
    wait: (seconds: number): void => {
      for (let second = 0; second < seconds; second++) {
        at += 1_000;
        vi.advanceTimersByTime(1_000);
      }
    },
    connect: () => {
      connected.add('wall');
      join({ connectionId: 'c', deviceId: 'wall', slug: 'lobby', proven: false });
    },
    disconnect: () => connected.delete('wall'),
    peers: (next: Partial<Peer>[]) => {
      peers = next;
    },
  };
};
const peerWith = (devices: string[] | undefined, alive = true): Partial<Peer> => ({
  ...{ nodeId: 'b', alive },
  state: { devices } as Peer['state'],
});

test('a device that has not come since the start is away after a minute and a half, and not before', () => {
  const { away, wait } = setUp();
  wait(85);
  expect(away()).toEqual([]);
  wait(10);
  expect(away()).toEqual(['wall']);
});

test('a page that reloads is not away', () => {
  const { away, wait, connect, disconnect } = setUp();
  connect();
  wait(10);
  for (let round = 0; round < 5; round++) {
    disconnect();
    wait(4);
    expect(away()).toEqual([]);
    connect();
    wait(2);
  }
  disconnect();
  wait(10);
  expect(away()).toEqual(['wall']);
});

test('a device that another box has is not away, and one that may be at a box that does not say is not either', () => {
  const { away, wait, peers } = setUp();
  peers([peerWith(['wall'])]);
  wait(300);
  expect(away()).toEqual([]);
  peers([peerWith(undefined)]);
  wait(300);
  expect(away()).toEqual([]);
  peers([peerWith([])]);
  wait(100);
  expect(away()).toEqual(['wall']);
});

test('a device of a box that is away is away too, after the grace period', () => {
  const { presence, away, wait, peers } = setUp();
  peers([peerWith(['wall'])]);
  wait(300);
  peers([peerWith(['wall'], false)]);
  wait(80);
  expect(away()).toEqual([]);
  expect(presence.counts()).toEqual({ expected: 1, connected: 0 });
  wait(20);
  expect(away()).toEqual(['wall']);
  expect(presence.statuses()).toMatchObject([{ status: 'missing' }]);
});

test('an address at which no box was ever found hides no device', () => {
  const { away, wait, connect, disconnect, peers } = setUp();
  peers([{ nodeId: null, alive: false, state: null }]);
  wait(100);
  expect(away()).toEqual(['wall']);
  connect();
  wait(10);
  disconnect();
  wait(10);
  expect(away()).toEqual(['wall']);
});

test('in closed hours nothing is away, and after they open a device is given time to start', () => {
  const { away, wait, connect, disconnect } = setUp({ hours: [{ days: [1], open: '08:00', close: '09:00' }] });
  connect();
  wait(60);
  disconnect();
  wait(3_480);
  expect(away()).toEqual([]);
  wait(140);
  expect(away()).toEqual([]);
  wait(20);
  expect(away()).toEqual(['wall']);
  wait(3_600);
  expect(away()).toEqual([]);
});

test('other boxes are told of bound devices alone', () => {
  const { presence, connect } = setUp();
  expect(presence.state()).toEqual({ devices: [] });
  connect();
  expect(presence.state()).toEqual({ devices: ['wall'] });
});
