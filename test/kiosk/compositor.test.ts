/** The session of a kiosk on Linux: sway with the kiosk's configuration, judged by photographs of its outputs. */
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { titleOf } from '../../main/windows/displays.ts';
import { createPlacement, type PlacedWindow } from '../../main/windows/placement.ts';
import { type CompositorSession, describeCompositor, startSession } from '../support/compositor.ts';
import { findProgram } from '../support/program.ts';
import { walk } from '../support/soak.ts';
import { movePointer } from '../support/virtual-pointer.ts';

const patience = { timeout: 40_000, interval: 500 };
const BLACK = ['0,0,0'];
const RED = ['255,0,0'];
const BLUE = ['0,0,255'];
const GREEN = ['0,255,0'];

const chromium = findProgram('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable') ?? '';

/** Two windows that stand in for those of displays 11, red, and 12, blue; green once the maintenance chord was pressed. */
const windows = [
  [11, '#f00'],
  [12, '#00f'],
].map(([id, colour]) => {
  const chord = 'if(event.ctrlKey&&event.altKey&&event.key.toLowerCase()===`m`)document.body.style.background=`#0f0`';
  const page = `<title>${titleOf({ id: Number(id) })}</title><body style="background:${colour}" onkeydown="${chord}">`;
  // As Electron's, they find the compositor by the environment of the unit.
  const options = '--no-sandbox --test-type --disable-gpu --no-first-run --kiosk';
  const command = `'${chromium}' ${options} --user-data-dir="$PWD/${id}" --app='data:text/html,${encodeURIComponent(page)}'`;
  // Of two that start together one may crash.
  return `while :; do ${command}; sleep 0.1; done &`;
});
const player = `
trap 'kill $(jobs -p); exit 0' TERM
touch player-started
until [ -e go ]; do sleep 0.1; done
${windows.join('\n')}
while :; do wait; sleep 0.1; done`;

const placed = (id: number, x: number): PlacedWindow => ({
  title: titleOf({ id }),
  bounds: { x, y: 0, width: 1280, height: 720 },
});

const place = ({ run }: CompositorSession, wanted: PlacedWindow[]): void => {
  const placement = createPlacement({ log: pino({ level: 'silent' }), execute: run }, { isSway: true });
  onTestFinished(placement.close);
  placement.arrange(wanted);
};

const namesOf = async (session: CompositorSession): Promise<string[]> =>
  (await session.outputs()).map(({ name }) => name);

const picture = async (session: CompositorSession): Promise<string[][]> => {
  const colours: string[][] = [];
  for (const name of await namesOf(session)) colours.push(await session.coloursOf(name));
  return colours;
};

describeCompositor('the session of a kiosk', { timeout: 120_000 }, () => {
  it('shows each display its own window and nothing else, black before, and the chord reaches the player', async () => {
    const session = await startSession({ player });
    await expect.poll(() => picture(session), patience).toEqual([BLACK, BLACK]);
    writeFileSync(join(session.folder, 'go'), '');
    place(session, [placed(11, 1280), placed(12, 0)]);
    await expect.poll(() => picture(session), patience).toEqual([BLUE, RED]);

    // What closes a window or opens a menu in sway's own configuration does nothing.
    for (const key of ['q', 'e', 'd', 'Return']) await session.run('wtype', ['-M', 'logo', '-M', 'shift', '-k', key]);
    expect(await picture(session)).toEqual([BLUE, RED]);
    const pressChord = async (): Promise<string[]> => {
      await session.run('wtype', ['-M', 'ctrl', '-M', 'alt', '-M', 'shift', '-k', 'm']);
      return (await picture(session)).flat();
    };
    await expect.poll(pressChord, patience).toContain(GREEN[0]);
  });

  it('draws no pointer, not even while a mouse is moved before there is a picture', async () => {
    const session = await startSession({ player });
    // Sway's own grey until its background has painted.
    await expect.poll(() => picture(session), patience).toEqual([BLACK, BLACK]);
    movePointer(join(session.folder, 'wayland-1'));
    const [output = ''] = await namesOf(session);
    for (let photographs = 0; photographs < 10; photographs += 1) {
      expect(await session.coloursOf(output)).toEqual(BLACK);
    }
  });

  it('survives the loss of every output, and shows each display its own again when they are back', walk, async () => {
    const session = await startSession({ player, isNested: true });
    const [first = '', second = ''] = await namesOf(session);
    writeFileSync(join(session.folder, 'go'), '');
    const { rect } = (
      JSON.parse(await session.run('swaymsg', ['-t', 'get_outputs', '-r'])) as { name: string; rect: { x: number } }[]
    ).find(({ name }) => name === second) ?? { rect: { x: 0 } };
    place(session, [placed(11, rect.x), placed(12, 0)]);
    await expect.poll(() => picture(session), patience).toEqual([BLUE, RED]);

    await session.unplug(second);
    await expect.poll(() => namesOf(session), patience).toEqual([first]);
    await session.unplug(first);
    await expect.poll(() => namesOf(session), patience).toEqual([]);
    await session.run('swaymsg', ['create_output']);
    await session.run('swaymsg', ['create_output']);
    await expect.poll(() => picture(session), patience).toEqual([BLUE, RED]);
  });

  it('starts the player without a display, and again once one is plugged in', walk, async () => {
    const options = '--no-sandbox --test-type --no-first-run --remote-debugging-port=0';
    const session = await startSession({
      player: `
trap 'kill $!; wait $!; exit 0' TERM
echo "$KIOSK_RENDERER $*" >told
'${chromium}' ${options} --user-data-dir="$PWD/profile" "$@" about:blank &
touch player-started
wait`,
      more: { WLR_HEADLESS_OUTPUTS: '0' },
    });
    // Chromium opens its port when it is ready, which needs an output, unless it runs on the headless platform.
    await expect.poll(() => existsSync(join(session.folder, 'profile/DevToolsActivePort')), patience).toBe(true);
    expect(readFileSync(join(session.folder, 'told'), 'utf8')).toMatch(/^(gpu|pixman) --ozone-platform=headless /);
    expect(session.process.exitCode).toBe(null);
    const ended = once(session.process, 'exit');
    await session.run('swaymsg', ['create_output']);
    // systemd starts both again, and the player finds its display.
    expect(await ended).toEqual([1, null]);
  });

  // Needs its displays for a moment after it was asked to end.
  const shell = `
trap 'sleep 0.5; echo ended >>journal; [ -S sway.sock ] && echo with displays >>journal; exit 7' TERM
echo "$TMPDIR" >tmpdir
touch player-started
until [ -e leave ]; do sleep 0.1; done
exit 9`;
  const journal = ({ folder }: CompositorSession): string =>
    existsSync(join(folder, 'journal')) ? readFileSync(join(folder, 'journal'), 'utf8') : '';

  it('gives the player temporary files where no disk is full, and ends with it, and with its exit code', async () => {
    const session = await startSession({ player: shell });
    expect(readFileSync(join(session.folder, 'tmpdir'), 'utf8').trim()).toBe(session.folder);
    const compositor = session.processId('sway') ?? 0;
    writeFileSync(join(session.folder, 'leave'), '');
    expect(await once(session.process, 'exit')).toEqual([9, null]);
    expect(existsSync(`/proc/${compositor}`)).toBe(false);
  });

  it('ends the player before the compositor when systemd stops it', async () => {
    const session = await startSession({ player: shell });
    session.stop();
    expect(await once(session.process, 'exit')).toEqual([7, null]);
    expect(journal(session)).toBe('ended\nwith displays\n');
  });

  it('ends the player and fails where the compositor dies', async () => {
    const session = await startSession({ player: shell });
    process.kill(session.processId('sway') ?? 0, 'SIGKILL');
    expect(await once(session.process, 'exit')).toEqual([1, null]);
    expect(journal(session)).toMatch(/^ended\n/);
  });

  describe('without a GPU', () => {
    const tell = 'echo "$KIOSK_RENDERER $KIOSK_FAULT" >>told; echo "$*" >>arguments; touch player-started';
    const telling = `${tell}\ntrap 'exit 0' TERM\nwhile :; do sleep 0.1; done`;
    const told = ({ folder }: CompositorSession, name = 'told'): string => readFileSync(join(folder, name), 'utf8');
    /** A `sway` that runs a script, and then is the real one; and, where one is given, another `swaymsg`. */
    const withSway = (script: string, swaymsg?: string): NodeJS.ProcessEnv => {
      const bin = join(mkdtempSync(join(tmpdir(), 'signage-sway-')), 'bin');
      onTestFinished(() => rmSync(join(bin, '..'), { recursive: true }));
      mkdirSync(bin);
      chmodSync(join(bin, '..'), 0o755);
      writeFileSync(join(bin, 'sway'), `#!/bin/sh\n${script}\nexec ${findProgram('sway')} "$@"\n`, { mode: 0o755 });
      if (swaymsg !== undefined) writeFileSync(join(bin, 'swaymsg'), `#!/bin/sh\n${swaymsg}\n`, { mode: 0o755 });
      return { PATH: `${bin}:${process.env.PATH}`, WLR_RENDERER: 'gles2' };
    };

    it('a compositor that ends before it is ready is started with pixman, also after the next start', async () => {
      const more = withSway('[ "$WLR_RENDERER" = pixman ] || { echo started >>attempts; exit 139; }');
      const session = await startSession({ player: telling, more });
      expect(told(session)).toMatch(
        /^pixman the compositor does not start|^pixman this machine has no graphics device/,
      );
      expect(told(session, 'arguments')).toBe('\n');
      expect((await session.outputs()).length).toBe(2);
      expect(told(session, 'attempts')).toBe('started\n');
      expect(told(session, 'compositor-software')).toMatch(/./);
    });

    it.each([
      ['is ready', 'export WLR_RENDERER=pixman'],
      ['is not ready yet', 'exec sleep 600'],
    ])(
      'one whose graphics library draws in software, and that %s, is started with pixman in its place',
      async (_, then) => {
        const warning = 'libEGL warning: NEEDS EXTENSION: falling back to kms_swrast';
        const session = await startSession({
          player: telling,
          more: withSway(`[ "$WLR_RENDERER" = pixman ] || { echo '${warning}' >&2; ${then}; }`),
        });
        expect(told(session)).toMatch(/^pixman the graphics driver .*has no GPU\n$/);
        expect((await session.outputs()).length).toBe(2);
      },
    );

    it('one that is ready late is heard at whichever moment it says so', async () => {
      // Whether the session listens, asked as often as can be.
      const ask = `const { closeSync, constants, openSync, writeFileSync } = require('node:fs');
        let deaf = 0;
        for (const end = Date.now() + 2500; Date.now() < end; ) {
          try { closeSync(openSync('compositor-ready', constants.O_WRONLY | constants.O_NONBLOCK)); } catch { deaf += 1; }
        }
        writeFileSync('deaf', String(deaf));`;
      const more = withSway(`export WLR_RENDERER=pixman; '${process.execPath}' -e "${ask}"`);
      const session = await startSession({ player: telling, more });
      expect([told(session), told(session, 'deaf')]).toEqual(['gpu \n', '0']);
    });

    it('what it says is heard whole, also in two parts', async () => {
      const more = withSway(
        "printf wayl >compositor-ready; sleep 1.5; printf 'and-9\\n' >compositor-ready; exec sleep 600",
        `echo '"active": true'`,
      );
      const session = await startSession({ player: `echo "$WAYLAND_DISPLAY" >display\n${telling}`, more });
      expect(told(session, 'display')).toBe('wayland-9\n');
    });

    it('one that ends as soon as it is ready is started with pixman in its place, and the player again', async () => {
      const early = 'exec timeout --signal=KILL --preserve-status 1.5';
      const session = await startSession({
        player: telling,
        more: withSway(
          `[ "$WLR_RENDERER" = pixman ] || { export WLR_RENDERER=pixman; ${early} ${findProgram('sway')} "$@"; }`,
        ),
      });
      await expect
        .poll(() => told(session), patience)
        .toMatch(/^gpu \npixman the compositor ended, with \d+, as soon as/);
      expect((await session.outputs()).length).toBe(2);
    });

    it('without any compositor the player runs without windows, and is told why', async () => {
      const sysfs = mkdtempSync(join(tmpdir(), 'signage-sysfs-'));
      onTestFinished(() => rmSync(sysfs, { recursive: true }));
      chmodSync(sysfs, 0o755);
      const device = join(sysfs, 'class/drm/card0/device');
      mkdirSync(device, { recursive: true });
      mkdirSync(join(sysfs, 'drivers/bochs-drm'), { recursive: true });
      symlinkSync(join(sysfs, 'drivers/bochs-drm'), join(device, 'driver'));
      const session = await startSession({ player: telling, more: { ...withSway('exit 1'), SYSFS: sysfs } });
      expect(told(session)).toBe(
        'none the compositor cannot use the graphics driver bochs-drm; choose virtio-gpu for a virtual machine\n',
      );
      expect(told(session, 'arguments')).toBe('--ozone-platform=headless --disable-gpu\n');
      session.stop();
      expect(await once(session.process, 'exit')).toEqual([0, null]);
    });
  });
});
