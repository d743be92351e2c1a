/** Displays through a day, by programs that stand in for the system's: real processes, on a PATH of their own. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { openDark, openOverrides } from '../../main/power/kept.ts';
import { systemPanels } from '../../main/power/panels.ts';
import { createPower, type Dark, type Overrides } from '../../main/power/power.ts';
import { setVolume } from '../../main/power/volume.ts';
import { run } from '../../main/processes.ts';
import { kioskState } from '../../main/service-host.ts';
import type { Hours } from '../../service/public.ts';
import { createDurable, systemDisk } from '../../service/public.ts';
import { temporaryFolder } from '../support/service.ts';

const path = process.env.PATH;
afterEach(() => {
  process.env.PATH = path;
});

/** A machine with these programs and no others of their kind. */
const machineWith = (programs: Record<string, string>) => {
  const folder = temporaryFolder();
  const calls = join(folder, 'calls');
  for (const name of ['cec-client', 'swaymsg', 'xset', 'wpctl', 'amixer']) {
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
const at = (x: number) => ({ rect: { x, y: 0 } });
const sway = (outputs: object[]): string =>
  `if [ "$*" = '-t get_outputs -r' ]; then echo '${JSON.stringify(outputs)}'; else echo "sway $*" >> "$calls"; fi`;
const server = 'if [ "$1" = q ]; then echo "  DPMS is Disabled"; else echo "xset $*" >> "$calls"; fi';

const MINUTE = 60_000;
const open: Hours = [{ open: '08:00', close: '20:00' }];

const boxWith = (hours: Hours[] = [open], panels = systemPanels('linux'), overrides?: Overrides, dark?: Dark) => {
  const seen: string[] = [];
  /** Of what is ordered again at each poll only what is new. */
  const now = new Map<string, string>();
  const note = (each: string): void => {
    const [kind = 'sleep'] = /^(covered|rests)/.exec(each) ?? [];
    if (now.get(kind) === each) return;
    now.set(kind, each);
    seen.push(each);
  };
  const box = { now: Date.UTC(2026, 10, 23, 12), wrongBy: 0, shift: 0, isEmergency: false, isGone: false, hours, seen };
  const power = createPower(
    {
      log: pino({ level: 'silent' }),
      displays: () =>
        box.hours.map((each, index) => ({
          id: index + 1 + box.shift,
          bounds: { x: 1920 * index, y: 0, width: 1920, height: 1080 },
          hours: each,
          isEmergency: box.isEmergency,
          isGone: box.isGone,
        })),
      panels,
      ...(overrides && { overrides }),
      ...(dark && { dark }),
      blackout: (ids) => note(`covered${[...ids].map((id) => ` ${id}`).join('')}`),
      keepAwake: (awake) => note(awake ? 'awake' : 'may sleep'),
      suspendRecovery: (ids) => note(`rests${[...ids].map((id) => ` ${id}`).join('')}`),
      now: () => box.now + box.wrongBy,
      monotonicNow: () => box.now,
    },
    { timeZone: () => 'UTC', builtAt: Date.UTC(2026, 10, 1) },
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
    { swaymsg: sway([{ name: 'HDMI-A-1', dpms: true, ...at(0) }]), xset: server },
    ['sway output HDMI-A-1 dpms off'],
    ['sway output HDMI-A-1 dpms on'],
    'sway',
  ],
  [
    'a compositor of Debian 13',
    {
      swaymsg: sway([
        { name: 'HDMI-A-1', dpms: false, power: false, ...at(0) },
        { name: 'DP-1', dpms: true, power: true, ...at(1920) },
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
  expect(seen).toEqual(['may sleep', 'rests 1', 'covered 1']);
  expect(power.status()).toMatchObject({ on: false, by });
  await until(23);
  await until(24 + 7, 58);
  expect(machine.calls()).toEqual([...on, ...off]);
  await until(24 + 7, 59);
  expect(machine.calls()).toEqual([...on, ...off, ...on]);
  expect(seen).toEqual(['may sleep', 'rests 1', 'covered 1', 'awake', 'rests', 'covered']);
});

/** A television with a compositor beside it; what `on` and `pow` do is given. */
const televisionBeside = (pow: string, on: string) => ({
  'cec-client': `read -r line; case "$line" in pow*) ${pow} ;; on*) ${on} ;; *) echo "cec $line" >> "$calls" ;; esac`,
  swaymsg: sway([{ name: 'HDMI-A-1', power: true, ...at(0) }]),
});
const ON = 'echo "cec $line" >> "$calls"';
const STANDBY = 'echo "power status: standby"';
/** The first time after it was switched off. */
const once = (first: string, later: string): string =>
  `if grep -q standby "$calls" 2>/dev/null && ! [ -e "$calls.once" ]; then touch "$calls.once"; ${first}; else ${later}; fi`;

test.each([
  [
    'does not tell its state once',
    televisionBeside(once('echo "power status: unknown"', STANDBY), ON),
    ['cec on 0', 'cec as'],
  ],
  [
    'does not go on at once',
    televisionBeside(STANDBY, once('exit 1', ON)),
    ['sway output HDMI-A-1 power on', 'cec on 0', 'cec as'],
  ],
])('a television that was switched off and %s is on by the opening', async (_, programs, expected) => {
  const machine = machineWith(programs);
  const { power, until } = boxWith();
  await until(20);
  expect(machine.calls()).toEqual(['cec standby 0']);
  await until(24 + 7, 59);
  await until(24 + 8);
  expect(machine.calls().slice(1)).toEqual(expected);
  expect(power.status()).toMatchObject({ on: true, by: 'cec' });
  await until(24 + 8, 1);
  expect(machine.calls().slice(1)).toEqual(expected);
});

test('what stood in for a television that did not answer at closing is on again, too', async () => {
  const machine = machineWith(
    televisionBeside('[ -e "$calls.once" ] && echo "power status: on"; touch "$calls.once"', ON),
  );
  const { until } = boxWith();
  await until(20);
  expect(machine.calls()).toEqual(['sway output HDMI-A-1 power off']);
  await until(24 + 7, 59);
  expect(machine.calls().slice(1)).toEqual(['cec on 0', 'cec as', 'sway output HDMI-A-1 power on']);
});

test('a television that says nothing, at closing as at opening, is told to go on all the same', async () => {
  const machine = machineWith(televisionBeside('echo "power status: unknown"', ON));
  const { power, until } = boxWith();
  await until(20);
  expect(machine.calls()).toEqual(['sway output HDMI-A-1 power off']);
  await until(24 + 7, 59);
  await until(24 + 9);
  expect(machine.calls().slice(1)).toEqual(['cec on 0', 'cec as', 'sway output HDMI-A-1 power on']);
  expect(power.status()).toMatchObject({ on: true, by: 'sway' });
});

test('where nothing can be switched it is black, and what comes later is switched then', async () => {
  const machine = machineWith({});
  const { power, until, seen } = boxWith();
  await until(21);
  expect([power.status().by, seen]).toEqual(['blackout', ['may sleep', 'rests 1', 'covered 1']]);
  machine.install('xset', server);
  await until(21, 0);
  expect(machine.calls()).toEqual([]);
  await until(21, 1);
  expect([power.status().by, machine.calls()]).toEqual(['dpms', ['xset +dpms dpms force off']]);
  expect(seen).toHaveLength(3);
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
    [[null], 'covered'],
    [[open], 'covered 1'],
  ] as const) {
    box.hours = [...hours];
    seen.length = 0;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(seen.at(-1)).toBe(expected);
    expect(power.status().on).toBe(expected === 'covered');
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

const late: Hours = [{ open: '08:00', close: '22:00' }];
const outputs = sway([
  { name: 'HDMI-A-2', active: false, dpms: false, ...at(0) },
  { name: 'HDMI-A-1', dpms: true, ...at(1920) },
  { name: 'DP-1', dpms: true, ...at(0) },
  { name: 'DP-2', dpms: true, ...at(3840) },
]);

test('each display of a box follows the hours of its own screen, and one without hours is never black', async () => {
  const machine = machineWith({ 'cec-client': television, swaymsg: outputs });
  const { box, power, until, seen } = boxWith([open, late, null]);
  await until(21);
  expect(seen).toEqual(['awake', 'rests 1', 'covered 1']);
  expect(machine.calls()).toEqual([
    ...['cec on 0', 'cec as'],
    ...['sway output HDMI-A-1 dpms on', 'sway output DP-1 dpms off', 'sway output DP-2 dpms on'],
  ]);
  expect(power.status()).toMatchObject({ on: true, by: 'cec' });
  box.hours = [open, late];
  await until(22);
  expect(seen.slice(3)).toEqual(['may sleep', 'rests 1 2', 'covered 1 2']);
  expect(machine.calls().slice(5)).toEqual([
    'cec standby 0',
    ...['sway output HDMI-A-1 dpms off', 'sway output DP-1 dpms off', 'sway output DP-2 dpms off'],
  ]);
  expect(power.status()).toMatchObject({ on: false });
});

test('a display that loses its connection when it is switched off is not switched again at each return', async () => {
  const machine = machineWith({ swaymsg: outputs });
  const { box, until, seen } = boxWith([late, open]);
  await until(21);
  const before = machine.calls().length;
  for (let second = 1; second < 60; second += 5) {
    box.now += 5_000;
    box.hours = second % 2 === 0 ? [late, open] : [late, open, open];
    await until(21, 0);
  }
  expect(machine.calls()).toHaveLength(before);
  expect(seen).toContain('covered 2 3');
  box.hours = [late, open, open];
  await until(21, 1);
  expect(machine.calls().slice(before)).toContain('sway output DP-2 dpms off');
});

test('a display that was connected again at night is switched on in the morning', async () => {
  const machine = machineWith({ 'cec-client': television });
  const { box, until } = boxWith([open]);
  await until(23);
  expect(machine.calls()).toEqual(['cec standby 0']);
  box.shift = 10;
  await until(24 + 7, 59);
  expect(machine.calls()).toEqual(['cec standby 0', 'cec on 0', 'cec as']);
});

/** A compositor that does what it is told, slowly, and tells its state. */
const obedient = (folder: string): string =>
  [
    `state='${folder}/on'`,
    'case "$*" in',
    '  "-t get_outputs -r") p=true; [ -e "$state" ] && p=$(cat "$state"); printf \'[{"name":"HDMI-A-1","power":%s,"rect":{"x":0,"y":0}}]\' "$p" ;;',
    '  *off) echo false > "$state" ;;',
    '  *on) echo true > "$state" ;;',
    'esac',
  ].join('\n');

const never = (): AbortSignal => new AbortController().signal;

test('a display that is switched by hand tells what became of it, and follows its hours again when they change', async () => {
  machineWith({ swaymsg: obedient(temporaryFolder()) });
  const { box, power, until } = boxWith();
  await until(12);
  expect(power.isOffByHand(1)).toBe(false);
  expect(await power.switchTo([1], false, never())).toEqual({ by: 'sway', states: ['off'] });
  expect(power.status()).toMatchObject({ on: false });
  expect([1, 2].map(power.isOffByHand)).toEqual([true, false]);
  await until(19);
  expect(power.status()).toMatchObject({ on: false });
  expect(await power.switchTo([1], true, never())).toEqual({ by: 'sway', states: ['on'] });
  await until(20);
  expect(power.status()).toMatchObject({ on: false });
  expect(power.isOffByHand(1)).toBe(false);
  await power.switchTo([1], true, never());
  expect(power.status()).toMatchObject({ on: true });
  await until(24 + 8);
  await until(24 + 20);
  expect(power.status()).toMatchObject({ on: false });
  box.isEmergency = true;
  box.hours = [null];
  await power.poll();
  expect(power.status()).toMatchObject({ on: true });
});

test('an emergency switches on what was switched off by hand, also where there are no hours', async () => {
  machineWith({ swaymsg: obedient(temporaryFolder()) });
  const { box, power, until } = boxWith([null]);
  await until(12);
  await power.switchTo([1], false, never());
  await until(13);
  expect(power.status()).toMatchObject({ on: false });
  box.isEmergency = true;
  await power.poll();
  expect(power.status()).toMatchObject({ on: true });
  // It is over: the order is still that of the last person who asked for something.
  box.isEmergency = false;
  await power.poll();
  expect(power.status()).toMatchObject({ on: false });
});

/** Opens the kiosk's state file in a folder, as a start of the kiosk does. */
const ordersIn = async (folder: string, devices = ['left', 'right']) => {
  const log = pino({ level: 'silent' });
  const initial = { slots: [], pin: null, past: { started: true, bound: true }, byHand: [] };
  const path = join(folder, 'kiosk.json');
  const state = await createDurable({ path, schema: kioskState, initial, log, disk: systemDisk, now: Date.now });
  const assignmentOf = (id: number) => ({ deviceId: devices[id - 1] ?? '', screen: null });
  return {
    state,
    overrides: openOverrides({ log, state }, (id) => devices[id - 1]),
    dark: openDark({ log, state }, assignmentOf),
  };
};

test('a television that was off when the app ended, and is no display since, is switched on until it is one', async () => {
  const machine = machineWith({ 'cec-client': television.replace('echo "power status: standby"', ':') });
  const folder = temporaryFolder();
  const first = await ordersIn(folder);
  const said = () => machine.calls().length;
  machine.install('cec-client', television);
  const before = boxWith([open], undefined, first.overrides, first.dark);
  await before.until(12);
  await before.until(20);
  expect(machine.calls().at(-1)).toBe('cec standby 0');
  await first.state.close();
  // It answers to nothing.
  machine.install('cec-client', television.replace('echo "power status: standby"', ':'));
  const second = await ordersIn(folder);
  expect(second.dark.displays()).toEqual([{ deviceId: 'left', screen: null }]);
  const after = boxWith([open], undefined, second.overrides, second.dark);
  after.box.isGone = true;
  const off = said();
  await after.until(23);
  await after.until(24 + 7);
  expect([said(), after.power.status().on]).toEqual([off, false]);
  for (const minute of [0, 1, 2]) await after.until(24 + 8, minute);
  expect(machine.calls().slice(off)).toEqual(Array(3).fill(['cec on 0', 'cec as']).flat());
  after.box.isGone = false;
  after.box.shift = 1;
  for (const minute of [3, 4, 5]) await after.until(24 + 8, minute);
  expect(said()).toBe(off + 8);
  await second.state.close();
  expect(second.state.read().dark).toEqual({ by: [], displays: [] });
});

test('a display that was switched off by hand stays off over restarts, until its hours change', async () => {
  const machine = machineWith({ 'cec-client': television });
  const folder = temporaryFolder();
  for (const [hours, hour, isOn] of [
    [null, 12, false],
    [open, 13, false],
    // While it did not run its hours ended and began.
    [open, 24 + 12, true],
  ] as const) {
    const first = await ordersIn(folder);
    const before = boxWith([hours], undefined, first.overrides);
    await before.until(12);
    await before.power.switchTo([1], false, AbortSignal.abort());
    await first.state.close();
    const said = machine.calls().length;
    // The display has another ID: what counts is the device.
    const second = await ordersIn(folder, ['of another display', 'left']);
    const after = boxWith([hours], undefined, second.overrides);
    after.box.shift = 1;
    // Before its clock is set, it stays as it was.
    after.box.wrongBy = -10 * 365 * 24 * 60 * MINUTE;
    await after.until(hour);
    expect(after.power.status().on).toBe(false);
    after.box.wrongBy = 0;
    await after.until(hour);
    expect([after.power.status().on, machine.calls().at(said)]).toEqual([isOn, 'cec standby 0']);
    if (hours !== null) await after.until(20);
    if (hours !== null) await after.until(24 * 2 + 12);
    expect(after.power.status().on).toBe(hours !== null);
    await second.state.close();
  }
});

test('an order by hand lasts until the hours change as they were edited meanwhile', async () => {
  machineWith({ swaymsg: obedient(temporaryFolder()) });
  const { box, power, until } = boxWith();
  await until(12);
  await power.switchTo([1], false, never());
  box.hours = [late];
  for (const [hour, isOffByHand] of [
    [19, true],
    [21, true],
    [22, false],
    [24 + 12, false],
  ] as const) {
    await until(hour);
    expect([hour, power.isOffByHand(1), power.status().on]).toEqual([hour, isOffByHand, hour > 24]);
  }
});

test('as many orders are kept as a box may have displays, the newest ones, and a file of before has none', async () => {
  expect(kioskState.parse({ slots: [], pin: null, past: { started: true, bound: true } }).byHand).toEqual([]);
  const devices = Array.from({ length: 100 }, (_, index) => `device ${index}`);
  const { state, overrides } = await ordersIn(temporaryFolder(), devices);
  for (let id = 1; id <= 100; id += 1) overrides.set(id, { on: false, planned: true, until: null });
  overrides.delete(100);
  await state.close();
  expect(state.read().byHand.map(({ device }) => device)).toEqual(devices.slice(68, 99));
  expect(overrides.get(500)).toBeUndefined();
});

test('a display is never asked for its state while it is switched', async () => {
  const alone = 'mkdir "$calls.busy" || echo busy >> "$calls"; sleep 0.1; rmdir "$calls.busy"';
  const machine = machineWith({ 'cec-client': `${alone}; ${television}` });
  const { power, until } = boxWith();
  await until(12);
  const done = new AbortController();
  const switched = power.switchTo([1], true, done.signal);
  for (const hour of [21, 24 + 12, 24 + 21]) await until(hour);
  done.abort();
  await switched;
  expect(machine.calls()).not.toContain('busy');
});

test.each<[string, Record<string, string>, object]>([
  ['a television that stays as it is', { 'cec-client': television }, { by: 'cec', states: ['standby'] }],
  ['an X server', { xset: server }, { by: 'dpms', states: ['on'] }],
  ['nothing', {}, { by: null, states: [null] }],
])('%s tells what it is when it is told to go on', async (_, programs, expected) => {
  machineWith(programs);
  const { power, until } = boxWith();
  await until(12);
  expect(await power.switchTo([1], true, AbortSignal.abort())).toEqual(expected);
});

test.each<[string, Record<string, string>, number | null | undefined]>([
  ['PipeWire', { wpctl: 'case $1 in get-volume) echo "Volume: 0.40" ;; esac' }, 40],
  [
    'ALSA',
    {
      wpctl: 'exit 1',
      amixer:
        'case "$*" in scontents) printf "Simple mixer control \'PCM\',0\\n  Capabilities: pvolume pswitch\\nSimple mixer control \'Master\',0\\n  Capabilities: pvolume\\n" ;; *sget*Master,0) echo "  Mono: Playback 27 [42%] [on]" ;; *Master,0*) ;; *) exit 1 ;; esac',
    },
    42,
  ],
  ['no sound card', { wpctl: 'exit 1', amixer: 'exit 1' }, undefined],
])('the volume is read back from %s', async (_, programs, level) => {
  machineWith(programs);
  expect(await setVolume(run, 40)).toBe(level);
});
