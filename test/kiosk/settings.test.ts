import { expect, it } from 'vitest';
import { maintenanceView } from '../../main/maintenance.ts';
import { type DisplayAssignment, withRotation } from '../../main/windows/displays.ts';
import { hoursIn } from '../../renderer/kiosk/hours.ts';
import de from '../../renderer/texts/de.json';
import en from '../../renderer/texts/en.json';
import type { KioskSettings } from '../../service/public.ts';

const assignment = (number: number, label = `TV ${number}`): DisplayAssignment => ({
  number,
  display: { id: 10 + number, label, bounds: { x: number * 100, y: 0, width: 1920, height: 1080 } },
  slot: number,
  deviceId: `box.${number}`,
  screen: null,
  rotation: 0,
  partition: `persist:display-${number}`,
});

it.each<[string, Partial<KioskSettings>, DisplayAssignment[], Partial<KioskSettings>]>([
  ['the only display: all are', { displays: 'all' }, [assignment(1)], { rotation: 90 }],
  [
    'one of several: they are listed by name',
    { displays: 'all' },
    [assignment(1), assignment(2)],
    {
      displays: [
        { display: 'TV 1', rotation: 90 },
        { display: 'TV 2', rotation: 0 },
      ],
    },
  ],
  [
    'one of several without names: by number',
    { displays: 'all' },
    [assignment(1, ''), assignment(2, '')],
    {
      displays: [
        { display: 1, rotation: 90 },
        { display: 2, rotation: 0 },
      ],
    },
  ],
  [
    'one that is listed: what is said of it else stays',
    {
      displays: [
        { display: 2, screen: 'bar' },
        { display: 'TV 1', screen: 'lobby' },
      ],
    },
    [assignment(1), assignment(2)],
    {
      displays: [
        { display: 2, screen: 'bar' },
        { display: 'TV 1', screen: 'lobby', rotation: 90 },
      ],
    },
  ],
])('turning %s', (_, settings, places, expected) => {
  expect(withRotation({ displays: 'all', ...settings }, places, 11, 90)).toEqual(expected);
});

const hours = [
  { days: [1, 7], open: '08:00', close: '20:00' },
  { open: '09:00', close: '01:00' },
  { date: '2026-12-24' },
];

it.each([
  ['en', en, hours, 'Mon, Sun 08:00–20:00; daily 09:00–01:00; Dec 24, 2026 closed'],
  ['de', de, hours, 'Mo, So 08:00–20:00; täglich 09:00–01:00; 24.12.2026 geschlossen'],
  ['de', de, null, 'Immer an'],
  ['en', en, [], 'Always on'],
])('opening hours in words, %s', (tag, { kiosk }, given, words) => {
  expect(hoursIn(given, tag, kiosk.maintenance)).toBe(words);
});

it('the view says what each display shows, and when', () => {
  const view = maintenanceView({
    ...{
      version: '1.2.3',
      address: null,
      root: null,
      timeZone: null,
      site: null,
      startError: null,
      screens: [],
      log: [],
    },
    ...{ sessions: [], signingIn: null, machine: false, canQuit: true, hotspot: { phase: null, shown: null } },
    updates: { ready: '1.3.0', onTrial: false, failed: [], fault: null },
    settings: { displays: [{ display: 1 }], updates: { channel: 'beta', hours: '03:00-05:00' } },
    assignments: [assignment(1), { ...assignment(2, ''), screen: 'bar' }],
    screenOf: () => 'lobby',
    hours: (slug) => (slug === 'lobby' ? hours : null),
  });
  expect(view).toMatchObject({
    displays: 'chosen',
    version: '1.2.3 (beta)',
    updates: { ready: '1.3.0', hours: '03:00-05:00' },
  });
  expect(view.assignments).toMatchObject([
    { name: 'TV 1, 1920 × 1080', screen: 'lobby', isFixed: false, hours },
    { name: 'Display 2, 1920 × 1080', screen: 'bar', isFixed: true, hours: null },
  ]);
});
