/** Displays through a day, by programs that stand in for the system's: real processes, on a PATH of their own. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { systemPanels } from '../../main/power/panels.ts';
import { createPower } from '../../main/power/power.ts';
import type { Hours } from '../../service/public.ts';
import { temporaryFolder } from '../support/service.ts';

const path = process.env.PATH;
afterEach(() => {
  process.env.PATH = path;
});

/** A machine with these programs and no others of their kind. */
const machineWith = (programs: Record<string, string>) => {
  const folder = temporaryFolder();
  const calls = join(folder, 'calls');
  for (const name of ['cec-client', 'swaymsg', 'xset']) {
    const body = programs[name] ?? 'exit 1';
    writeFileSync(join(folder, name), `#!/bin/sh\ncalls='${calls}'\n${body}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  process.env.PATH = `${folder}${delimiter}${path}`;
  return {
    /** What was done to the displays so far. */
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []),
    install: (name: string, body: string) =>
      writeFileSync(join(folder, name), `#!/bin/sh\ncalls='${calls}'\n${body}\n`),
  };
};

const television =
  'read -r line; case "$line" in pow*) echo "power status: standby" ;; *) echo "cec $line" >> "$calls" ;; esac';
const sway = (outputs: object[]): string =>
  `if [ "$*" = '-t get_outputs -r' ]; then echo '${JSON.stringify(outputs)}'; else echo "sway $*" >> "$calls"; fi`;
const server = 'if [ "$1" = q ]; then echo "  DPMS is Disabled"; else echo "xset $*" >> "$calls"; fi';

const MINUTE = 60_000;
const open: Hours = [{ open: '08:00', close: '20:00' }];

const boxWith = (hours: Hours[] = [open], panels = systemPanels('linux')) => {
  const seen: string[] = [];
  const box = { now: Date.UTC(2026, 10, 23, 12), wrongBy: 0, hours, seen };
  const power = createPower(
    {
      log: pino({ level: 'silent' }),
      hours: () => box.hours,
      panels,
      blackout: (on) => seen.push(on ? 'covered' : 'uncovered'),
      keepAwake: (awake) => seen.push(awake ? 'awake' : 'may sleep'),
      suspendRecovery: (resting) => seen.push(resting ? 'rests' : 'paints'),
      now: () => box.now + box.wrongBy,
      monotonicNow: () => box.now,
    },
    { timeZone: 'UTC', builtAt: Date.UTC(2026, 10, 1) },
  );
  const until = async (hour: number, minute = 0): Promise<void> => {
    box.now = Date.UTC(2026, 10, 23, hour, minute);
    await power.poll();
  };
  return { box, power, until, seen };
};

test.each([
  ['a television', { 'cec-client': television, xset: server }, ['cec standby 0'], ['cec on 0', 'cec as'], 'cec'],
  [
    'a compositor of Debian 12',
    { swaymsg: sway([{ name: 'HDMI-A-1', dpms: true }]), xset: server },
    ['sway output HDMI-A-1 dpms off'],
    ['sway output HDMI-A-1 dpms on'],
    'sway',
  ],
  [
    'a compositor of Debian 13',
    {
      swaymsg: sway([
        { name: 'HDMI-A-1', dpms: false, power: false },
        { name: 'DP-1', dpms: true, power: true },
      ]),
    },
    ['sway output HDMI-A-1 power off', 'sway output DP-1 power off'],
    ['sway output HDMI-A-1 power on', 'sway output DP-1 power on'],
    'sway',
  ],
  ['an X server', { xset: server }, ['xset +dpms dpms force off'], ['xset dpms force on -dpms s off'], 'dpms'],
])('%s is on in opening hours, off outside, and awake before they begin', async (_, programs, off, on, by) => {
  const machine = machineWith(programs);
  const { power, until, seen } = boxWith();
  await until(12);
  expect(machine.calls()).toEqual(on);
  await until(19, 59);
  expect(machine.calls()).toEqual(on);
  seen.length = 0;
  await until(20);
  expect(machine.calls()).toEqual([...on, ...off]);
  expect(seen).toEqual(['may sleep', 'rests', 'covered']);
  expect(power.status()).toMatchObject({ on: false, by });
  await until(23);
  await until(24 + 7, 58);
  expect(machine.calls()).toEqual([...on, ...off]);
  await until(24 + 7, 59);
  expect(machine.calls()).toEqual([...on, ...off, ...on]);
  // At every look, since displays come.
  expect(seen).toEqual(['may sleep', 'rests', 'covered', 'covered', 'covered', 'awake', 'paints', 'uncovered']);
});

test('where nothing can be switched it is black, and what comes later is switched then', async () => {
  const machine = machineWith({});
  const { power, until, seen } = boxWith();
  await until(21);
  expect([power.status().by, seen]).toEqual(['blackout', ['may sleep', 'rests', 'covered']]);
  machine.install('xset', server);
  await until(21, 0);
  expect(machine.calls()).toEqual([]);
  await until(21, 1);
  expect([power.status().by, machine.calls()]).toEqual(['dpms', ['xset +dpms dpms force off']]);
  expect(seen.filter((each) => each !== 'covered')).toHaveLength(2);
});

test('a program that hangs up on its input, or fails half way, does not keep the next from being tried', async () => {
  const machine = machineWith({ 'cec-client': 'exec 0<&-; echo "power status: on"; exit 1', xset: server });
  const { power, until } = boxWith();
  await until(21);
  expect([power.status().by, machine.calls()]).toEqual(['dpms', ['xset +dpms dpms force off']]);
});

test('a box without hours, or without a screen, never touches its displays', async () => {
  const machine = machineWith({ xset: server });
  for (const hours of [[null], []]) {
    const { until } = boxWith(hours);
    await until(3);
    await until(12);
  }
  expect(machine.calls()).toEqual([]);
});

test('hours that change count at once', async () => {
  const machine = machineWith({ xset: server });
  const { box, power, until } = boxWith();
  await until(21);
  box.hours = [[{ open: '08:00', close: '22:00' }]];
  box.now += MINUTE;
  await power.poll();
  expect(machine.calls().at(-1)).toBe('xset dpms force on -dpms s off');
  await until(22);
  expect(machine.calls().at(-1)).toBe('xset +dpms dpms force off');
});

test('an emergency, which suspends the hours, uncovers displays within a second, and its end covers them again', async () => {
  vi.useFakeTimers();
  const { box, power, until, seen } = boxWith([open], []);
  onTestFinished(() => {
    power.close();
    vi.useRealTimers();
  });
  await until(21);
  power.start();
  await vi.advanceTimersByTimeAsync(100);
  for (const [hours, expected] of [
    [[null], 'uncovered'],
    [[open], 'covered'],
  ] as const) {
    box.hours = [...hours];
    seen.length = 0;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(seen.at(-1)).toBe(expected);
    expect(power.status().on).toBe(expected === 'uncovered');
  }
});

test('a clock that is not set closes nothing, and one that was wrong keeps nothing from being tried again', async () => {
  const machine = machineWith({});
  const { box, power, until, seen } = boxWith();
  box.wrongBy = -10 * 365 * 24 * 60 * MINUTE;
  await until(21);
  expect([power.status(), seen]).toEqual([{ on: true, changesAt: null, by: 'none' }, []]);
  box.wrongBy *= -1;
  await until(21);
  expect(power.status()).toMatchObject({ on: false, by: 'blackout' });
  machine.install('xset', server);
  box.wrongBy = 0;
  await until(21, 1);
  expect(power.status()).toMatchObject({ on: false, by: 'dpms' });
});
