/** What a box sees of devices, and what its alerts make of it. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { DeviceStatus } from '../../../service/devices/presence.ts';
import type { ServiceContext } from '../../../service/module.ts';
import { noOutages, record, reduce, shownSubject, typeOf } from '../../../service/records/alerts/outages.ts';
import { createWatch } from '../../../service/records/alerts/watch.ts';

const GRACE_MS = 300_000;
const WEEK = 7 * 86_400_000;
const start = Date.parse('2026-01-31T08:00:00.000Z');

/** Of a box that is alone, without content, displays and streams. */
const watchOf = (more: Partial<Parameters<typeof createWatch>[1]>) =>
  createWatch(
    {
      ...{
        options: { timeZone: 'UTC', alertGraceSeconds: GRACE_MS / 1000 },
        now: () => start,
        ids: { nodeId: 'a' },
        dirs: {},
        machineName: 'a',
      },
      log: pino({ level: 'silent' }),
    } as unknown as ServiceContext,
    {
      content: {
        screens: () => [],
        hours: () => null,
        sessionPages: () => [],
        status: () => ({ status: 'ok' }) as never,
      },
      streams: { list: () => [] },
      peers: { all: () => [], alive: () => [] },
      screens: { failingSlides: () => [] },
      devices: { statuses: () => [], sightings: () => [] },
      ...more,
    },
  );

test('a device that was unbound while it was missing is watched from the start once it is bound again', () => {
  const device = { deviceId: 'wall 1', clientName: 'Wall', screenSlug: 'lobby', updatedAt: '2026-01-01T00:00:00.000Z' };
  let statuses: DeviceStatus[] = [];
  const watch = watchOf({ devices: { statuses: () => statuses, sightings: () => [] } });
  let outages = noOutages;
  const alertsAt = (at: number, ...observed: DeviceStatus['status'][]): string[] => {
    statuses = observed.map((status) => ({ device, status }));
    const [next, due] = reduce(outages, watch.conditions(outages), { now: start + at, monotonicNow: at }, GRACE_MS);
    outages = next;
    return due.map((alert) => `${typeOf(alert)} ${Date.parse(alert.at) - start}`);
  };

  expect(alertsAt(0, 'missing')).toEqual([]);
  // Not known to be better or worse.
  expect(alertsAt(1_000, 'unknown')).toEqual([]);
  expect(outages.watched.size).toBe(1);
  expect(alertsAt(2_000)).toEqual([]);
  expect(alertsAt(WEEK, 'missing')).toEqual([]);
  expect(alertsAt(WEEK + GRACE_MS, 'missing')).toEqual([`device.away ${WEEK}`]);
});

test('a slide whose page is signed out is said of once, until it is signed in, and forgotten with the slide', () => {
  const page = { slideId: 'wall', title: 'Wall', session: 'figures', address: 'https://a.test/', signedInAt: null };
  let pages = [page];
  let out: string[] = [];
  let yard: { subject: string; name: string }[] = [];
  const watch = createWatch(
    {
      ...{ options: { timeZone: 'UTC' }, now: () => start, ids: { nodeId: 'a' }, dirs: {}, machineName: 'hall' },
      kiosk: () => ({
        sessions: [{ name: 'figures', origin: 'https://a.test', signed_in_at: null, signed_out: out }],
      }),
      log: pino({ level: 'silent' }),
    } as unknown as ServiceContext,
    {
      content: {
        screens: () => [],
        hours: () => null,
        sessionPages: () => pages,
        status: () => ({ status: 'ok' }) as never,
      },
      streams: { list: () => [] },
      peers: {
        all: () => [{ nodeId: 'b', url: 'http://b', alive: true, reason: null }] as never,
        alive: () =>
          [{ nodeId: 'b', url: 'http://b', state: { alerts: { failing: [], live: [], signedOut: yard } } }] as never,
      },
      screens: { failingSlides: () => [] },
      devices: { statuses: () => [], sightings: () => [] },
    },
  );
  let outages = noOutages;
  const alertsAt = (at: number): string[] => {
    const [next, due] = reduce(outages, watch.conditions(outages), { now: start + at, monotonicNow: at }, 0);
    const sent = due.map((alert) => ({ ...alert, isSent: true }));
    outages = record(next, sent, start + at);
    return due.map((alert) => `${typeOf(alert)} ${shownSubject(alert)} ${alert.message}`);
  };
  expect(alertsAt(0)).toEqual([]);
  out = ['https://a.test/'];
  const sentence =
    'The page of the slide "Wall" (session figures) on the box hall is signed out: somebody must sign in on the maintenance page of that box.';
  expect(watch.signedOut()).toEqual([sentence]);
  expect(watch.own().signedOut).toEqual([{ subject: 'wall', name: expect.stringContaining('hall') }]);
  expect(alertsAt(1_000)).toEqual([`slide.signed_out wall ${sentence}`]);
  // Another box, whose page is signed out later, and signed in first.
  yard = [{ subject: 'wall', name: 'The page on the box yard' }];
  expect(alertsAt(2_000)).toEqual([expect.stringMatching(/^slide\.signed_out wall The page on the box yard/)]);
  yard = [];
  alertsAt(3_000);
  const underway = () =>
    [...outages.records.values()].flatMap(({ subject, isFailing }) => (isFailing ? [subject] : []));
  expect(underway()).toEqual(['wall a']);
  pages = [];
  expect(watch.conditions(outages)).not.toContainEqual(expect.objectContaining({ status: 'failing' }));
});

test('a slide that a box could not show is said of once, though that box answers late', () => {
  let boxes: {
    nodeId: string | null;
    alive: boolean;
    contactAt: number | null;
    isForeign: boolean;
    failing: object[];
  }[] = [];
  const fault = { kind: 'fault', subject: 'film', name: 'The slide "Film"', detail: 'cannot be shown' };
  const peers = () =>
    boxes.map(({ failing, ...box }) => ({
      ...box,
      ...{ url: 'http://b', reason: box.alive ? null : 'is late', state: { alerts: { failing, live: [] } } },
    })) as never[];
  const watch = watchOf({ peers: { all: peers, alive: () => peers().filter(({ alive }) => alive) } });
  let outages = noOutages;
  const alertsAt = (at: number): string[] => {
    const [next, due] = reduce(outages, watch.conditions(outages), { now: start + at, monotonicNow: at }, GRACE_MS);
    const sent = due.map((alert) => ({ ...alert, isSent: true }));
    outages = record(next, sent, start + at);
    return due.flatMap((alert) => (alert.kind === 'fault' ? `${typeOf(alert)} ${alert.subject}` : []));
  };
  const box = { nodeId: 'b', alive: true, contactAt: start as number | null, isForeign: false, failing: [fault] };
  const course = [[box], [{ ...box, alive: false }], [box], [{ ...box, failing: [] }], [box]];
  // An address where no box has answered yet, and a box of another version, tell nothing.
  const others = [
    { ...box, nodeId: null, alive: false, contactAt: null },
    { ...box, nodeId: 'c', alive: false, isForeign: true },
  ];
  const gone = { ...box, alive: false, contactAt: start - 2 * GRACE_MS };
  const said = [course, course.map((each) => [...each, ...others]), [[box], [gone], [box]]].map((each) => {
    outages = noOutages;
    return each.map((seen, step) => {
      boxes = seen;
      alertsAt(step * 2 * GRACE_MS);
      return alertsAt(step * 2 * GRACE_MS + GRACE_MS);
    });
  });
  const once = [['slide.failed film'], [], [], [], ['slide.failed film']];
  expect(said.slice(0, 2)).toEqual([once, once]);
  // Of a box that is away for long nothing holds up an end.
  expect(said[2]).toEqual([['slide.failed film'], [], ['slide.failed film']]);
});
