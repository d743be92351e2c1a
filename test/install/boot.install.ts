/**
 * A box from power-on to the QR code that a camera reads off its display: Debian by debootstrap, booted with systemd by
 * systemd-nspawn without a network, and the package installed in it. In place of the runtime there is the mock of Electron
 * with real windows, in place of the displays a headless output; there is no console, no seatd session and no GPU.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { packageApp } from '../package/packaged.ts';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';
import { program, run } from './deb.ts';
import { phasesIn } from './phases.ts';
import { layOutStandIn, standInDeb } from './stand-in.ts';

const patience = { timeout: 120_000, interval: 500 };
const data = '/var/lib/signage-player';
const publicUrl = 'http://192.168.7.20:8080';

/** What a container does not have: a console, and outputs. */
const dropIn = `[Unit]
ConditionPathExists=
[Service]
ExecStartPre=
StandardInput=null
TTYPath=
TTYReset=no
TTYVHangup=no
TTYVTDisallocate=no
Environment=WLR_BACKENDS=headless WLR_HEADLESS_OUTPUTS=1 WLR_RENDERER=pixman
`;

// Without systemd on this machine nobody can be asked for a scope.
const isSystemd = existsSync('/run/systemd/system');

const release = inject('release');

describe.skipIf(findProgram('systemd-nspawn') === undefined)(`a box with Debian ${release}`, () => {
  const work = temporaryFolder(afterAll);
  const system = join(work, 'system');
  let container: ChildProcess | undefined;
  let leader = 0;

  /** Runs a command in the booted system. */
  const inside = (command: string, ...args: string[]): Buffer => {
    const path = 'PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';
    const words = ['-t', String(leader), '-a', 'env', '-i', path, command, ...args];
    return execFileSync('nsenter', words, { stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 26, timeout: 120_000 });
  };
  const attempt = (command: string, ...args: string[]): string => {
    try {
      return String(inside(command, ...args)).trim();
    } catch {
      return '';
    }
  };

  /** @param more further options of systemd-nspawn */
  const powerOn = async (...more: string[]): Promise<void> => {
    const alone = isSystemd ? [] : ['--register=no', '--keep-unit'];
    const own = ['-q', '-D', system, `--machine=signage-${release}`];
    const words = [...own, '--boot', '--private-network', '--console=pipe', ...alone, ...more];
    container = spawn('systemd-nspawn', words, { stdio: 'ignore' });
    const { pid } = container;
    // The first child of systemd-nspawn starts the system, and ends before it runs.
    const stateNow = (): string => {
      leader = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
      return attempt('systemctl', 'is-active', 'multi-user.target');
    };
    await expect.poll(stateNow, patience).toBe('active');
  };
  const cutPower = async (): Promise<void> => {
    if (container === undefined || container.exitCode !== null) return;
    const ended = once(container, 'exit');
    process.kill(leader, 'SIGKILL');
    await ended;
  };
  afterAll(cutPower);

  const request = (path: string, body?: object): string => {
    const options = { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), method: 'POST' };
    const call = `fetch('http://127.0.0.1:8080${path}', ${body === undefined ? '{}' : JSON.stringify(options)})`;
    return attempt('/standin/node', '-e', `${call}.then((answer) => answer.text()).then(console.log)`);
  };
  const slide = (): unknown => JSON.parse(request('/healthz') || '{}').kiosk?.screens[0]?.slide;
  const plays = (): Promise<void> => expect.poll(slide, patience).toMatch(/./);
  /** What a phone reads off the display. */
  const codeOnDisplay = (): string | undefined => {
    try {
      const session = ['XDG_RUNTIME_DIR=/run/signage-player', 'WAYLAND_DISPLAY=wayland-1'];
      const { data: pixels, width, height } = PNG.sync.read(inside('env', ...session, 'grim', '-'));
      return jsQR(new Uint8ClampedArray(pixels), width, height)?.data;
    } catch {
      return undefined;
    }
  };
  const showsCode = (): Promise<void> =>
    expect.poll(codeOnDisplay, patience).toMatch(new RegExp(`^${publicUrl}/onboard\\?deviceId=.`));
  const mainProcess = (): string => attempt('systemctl', 'show', '--property=MainPID', '--value', program);

  beforeAll(async () => {
    const app = await packageApp();
    run('cp', '--archive', inject('base'), system);
    const others = ['systemd', 'systemd-sysv', 'dbus', 'udev', 'procps', 'openssl'];
    const session = ['sway', 'swaybg', 'seatd', 'grim', 'chromium', 'fonts-dejavu-core', 'bindfs'];
    run('chroot', system, 'apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...others, ...session);
    cpSync(standInDeb(app, '0.1.0'), join(system, 'player.deb'));
    cpSync(standInDeb(app, '0.1.1'), join(system, 'upgrade.deb'));
    run('chroot', system, 'apt-get', 'install', '-y', '-qq', '--no-install-recommends', '/player.deb');
    run('chroot', system, 'dpkg', '--purge', program);
    rmSync(join(system, 'usr', 'sbin', 'policy-rc.d'));
    layOutStandIn(app, join(system, 'standin'));
    const units = join(system, 'etc', 'systemd', 'system');
    mkdirSync(join(units, `${program}.service.d`));
    writeFileSync(join(units, `${program}.service.d`, 'container.conf'), dropIn);
    mkdirSync(join(system, 'etc', program));
    writeFileSync(join(system, 'etc', program, 'config.json'), JSON.stringify({ publicUrl }));
  });

  it('becomes a kiosk with the package, though nothing runs in it yet', () => {
    run('chroot', system, 'dpkg', '--install', '/player.deb');
    expect(run('chroot', system, 'systemctl', 'is-enabled', program).trim()).toBe('enabled');
  });

  it('shows the code for its phone after power-on, without a keyboard and without a network', async () => {
    await powerOn();
    await showsCode();
    expect(String(inside('systemctl', 'is-active', program)).trim()).toBe('active');
    expect(JSON.parse(request('/healthz')).kiosk).toMatchObject({
      rendering: 'software',
      compositor: { renderer: 'pixman' },
    });
    const journal = String(inside('journalctl', '--boot', '--unit', program, '--output', 'short-monotonic'));
    console.log(`of the session on ${release}:`, JSON.stringify(phasesIn(journal)));
  });

  it.each([
    ['the player', 'node'],
    ['the compositor', 'sway'],
    ['the session', 'session'],
    ['everything at once', null],
  ])('shows it again after kill -9 of %s', async (_, name) => {
    inside('systemctl', 'reset-failed', program);
    const before = mainProcess();
    // It ends with an error where a process is gone before its turn.
    if (name === null) attempt('systemctl', 'kill', '--signal=KILL', '--kill-whom=all', program);
    else inside('pkill', '-KILL', '--oldest', '-u', 'signage', '-x', name);
    await expect.poll(mainProcess, patience).not.toBe(before);
    await expect.poll(() => attempt('systemctl', 'is-active', program), patience).toBe('active');
    await showsCode();
  });

  it('plays after a power cut what it was bound to a moment before', async () => {
    const deviceId = new URL(codeOnDisplay() ?? '').searchParams.get('deviceId');
    request('/api/onboarding', { deviceId, clientName: 'Hall', screenSlug: 'demo' });
    await cutPower();
    await powerOn();
    await plays();
  });

  it('plays with a state that a newer version wrote', async () => {
    inside('systemctl', 'stop', program);
    for (const name of ['state.json', 'kiosk.json']) {
      const path = join(system, data, name);
      const { format, body, ...rest } = JSON.parse(readFileSync(path, 'utf8'));
      const newer = { format: format + 1, ...rest, body: { ...body, fieldOfTheNextVersion: [1] } };
      writeFileSync(path, JSON.stringify(newer));
    }
    await cutPower();
    await powerOn();
    await plays();
  });

  it('plays from a backup of its data, as the same device', async () => {
    const before = JSON.parse(request('/healthz')).kiosk.screens[0].deviceId;
    inside('systemctl', 'stop', program);
    inside('tar', '--create', '--file=/backup.tar', '--directory', data, '.');
    inside('find', data, '-mindepth', '1', '-delete');
    inside('tar', '--extract', '--file=/backup.tar', '--directory', data);
    inside('systemctl', 'start', program);
    await plays();
    expect(JSON.parse(request('/healthz')).kiosk.screens[0].deviceId).toBe(before);
  });

  it('ends the player before the displays when the system is shut down', async () => {
    inside('systemctl', 'restart', program);
    await plays();
    inside('systemctl', 'stop', program);
    const journal = String(inside('journalctl', '--boot', '--unit', program, '--output=cat'));
    expect(journal).not.toMatch(/the compositor (ended|did not start)/);
    expect(attempt('systemctl', 'show', '--property=Result', '--value', program)).toBe('success');
  });

  it('starts as the new version where the package is upgraded under it', async () => {
    inside('systemctl', 'start', program);
    await plays();
    const before = mainProcess();
    inside('dpkg', '--install', '/upgrade.deb');
    await expect.poll(() => ['0', '', before].includes(mainProcess()), patience).toBe(false);
    await plays();
  });

  it('plays without a configuration beside a USB stick that never answers', async () => {
    const configs = [join(system, 'etc', program, 'config.json'), join(system, data, 'config.json')];
    for (const path of configs) rmSync(path, { force: true });
    await cutPower();
    const stick = join(system, 'media', 'stick');
    mkdirSync(stick);
    if (!existsSync(join(system, 'dev', 'fuse'))) run('mknod', join(system, 'dev', 'fuse'), 'c', '10', '229');
    const driver = spawn('chroot', [system, 'bindfs', '-f', '/srv', '/media/stick'], { stdio: 'ignore' });
    const unplug = (): void => {
      driver.kill('SIGKILL');
      try {
        run('umount', '--lazy', stick);
      } catch {
        // It is unplugged already.
      }
    };
    onTestFinished(unplug);
    await expect.poll(() => readFileSync('/proc/mounts', 'utf8'), patience).toContain(stick);
    driver.kill('SIGSTOP');
    await powerOn();
    await plays();
    // It is looked at again and again.
    await wait(12_000);
    expect(JSON.parse(request('/healthz')).kiosk).toMatchObject({ lastRecovery: null });
    await cutPower();
  });

  it('plays from a disk that is full before it starts', async () => {
    const small = join(work, 'small');
    mkdirSync(small);
    run('mount', '-t', 'tmpfs', '-o', 'size=256m,mode=755', 'tmpfs', small);
    onTestFinished(async () => {
      await cutPower();
      run('umount', '--lazy', small);
    });
    run('cp', '--archive', `${join(system, data)}/.`, small);
    run('chown', '--reference', join(system, data), small);
    try {
      run('dd', 'if=/dev/zero', `of=${join(small, 'filler')}`, 'bs=4096', 'status=none');
    } catch {
      // It is full.
    }
    await powerOn(`--bind=${small}:${data}`);
    await plays();
    expect(JSON.parse(request('/healthz')).kiosk).toMatchObject({ lastRecovery: null });
  });
});
