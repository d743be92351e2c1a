/** A virtual machine by QEMU, and what somebody can do to a box: look at its display, press keys, pull the plug. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { expect } from 'vitest';
import { freePort } from '../support/ports.ts';
import { diskOf } from './disk.ts';
import { type Release, sshKey, work } from './tree.ts';

const execute = promisify(execFile);

/** Without KVM a machine is 10 to 20 times slower than a PC. */
export const patience = { timeout: 1_500_000, interval: 2_000 };

const firmware = '/usr/share/OVMF';
/** Where pictures stay (`SIGNAGE_MACHINE_PICTURES`); absent: they go with the run. */
const pictures = process.env['SIGNAGE_MACHINE_PICTURES'] || join(work, 'pictures');

/** KVM where it works: some have a device that cannot run a machine, or stops in the first instructions of its firmware. */
const acceleration = (): string[] => {
  const kvm = ['-accel', 'kvm', '-cpu', 'host'];
  const loader = ['-drive', `if=pflash,format=raw,readonly=on,file=${firmware}/OVMF_CODE_4M.fd`];
  const words = ['-machine', 'q35', ...kvm, ...loader, '-nodefaults', '-display', 'none', '-monitor', 'stdio'];
  const asking = `(sleep 5; echo info status; echo quit) | timeout 20 qemu-system-x86_64 ${words.join(' ')}`;
  const isThere =
    process.env['SIGNAGE_MACHINE_KVM'] !== 'off' &&
    spawnSync('sh', ['-c', asking], { encoding: 'utf8' }).stdout.includes('status: running');
  return isThere ? kvm : ['-accel', 'tcg,thread=multi,tb-size=512', '-cpu', 'max,avx2=off'];
};

/** `swaymsg` in the session, as root. */
export const swaymsg = (words: string): string =>
  `runuser -u signage -- env XDG_RUNTIME_DIR=/run/signage-player SWAYSOCK=/run/signage-player/sway.sock swaymsg ${words}`;

export interface Picture {
  /** When it was taken, s after power-on. */
  at: number;
  width: number;
  height: number;
  /** RGBA. */
  data: Buffer;
  /** Its colours, most frequent first, as `#rrggbb`, with their shares. */
  colours: [string, number][];
}

const coloursOf = (data: Buffer): [string, number][] => {
  const counts = new Map<number, number>();
  for (let at = 0; at < data.length; at += 4) {
    const colour = data.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const share = (count: number): number => (count * 4) / data.length;
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 64)
    .map(([colour, count]) => [`#${colour.toString(16).padStart(6, '0')}`, share(count)]);
};

/** What a phone reads off a picture. */
export const codeOn = ({ data, width, height }: Picture): string | undefined =>
  jsQR(new Uint8ClampedArray(data), width, height)?.data;

/** The background of the kiosk's windows and own pages. */
export const OWN = '#17343a';

/** Neither a code, nor the kiosk's own page, nor a console, nor a page without content. */
const isSlide = (picture: Picture): boolean => {
  const [colour = '', share = 1] = picture.colours[0] ?? [];
  return codeOn(picture) === undefined && share < 0.98 && ![OWN, '#000000', '#ffffff'].includes(colour);
};

/** A disk that is started as it is. */
export interface DiskSource {
  /** The path of a raw file, which stays as it is. */
  disk: string;
  /** Bytes of the machine's disk. */
  size: number;
  /** `secure`: UEFI that starts only what Microsoft's keys have signed. */
  firmware: 'uefi' | 'secure' | 'bios';
  /** Absent: a disk inside of it. */
  isStick?: boolean;
  /** Where each write to the disk is recorded, as dm-log-writes of the kernel does; absent: nowhere. */
  writes?: string;
}

/**
 * @param name of the machine and its files
 * @param options further ones of QEMU
 * @param reachesHost whether it reaches this computer, by 10.0.2.2; absent: it reaches nobody
 */
export const createMachine = async (
  source: Release | DiskSource,
  name: string = typeof source === 'string' ? source : source.firmware,
  options: string[] = [],
  { reachesHost = false } = {},
) => {
  const disk = join(work, `${name}.qcow2`);
  const variables = join(work, `${name}.vars`);
  const {
    disk: base,
    size,
    firmware: starts,
    isStick = false,
    writes,
  } = typeof source === 'string' ? { disk: await diskOf(source), size: undefined, firmware: 'uefi' } : source;
  const drive =
    writes === undefined
      ? `file=${disk},format=qcow2`
      : `driver=blklogwrites,file.driver=qcow2,file.file.driver=file,file.file.filename=${disk},log.driver=file,log.filename=${writes}`;
  const words = ['create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', base, disk, ...(size ? [String(size)] : [])];
  await execute('qemu-img', words);
  const flash = (file: string): string[] => ['-drive', `if=pflash,format=raw,${file}`];
  const keys = starts === 'secure' ? '.ms' : '';
  const loader =
    starts === 'bios'
      ? []
      : [...flash(`readonly=on,file=${firmware}/OVMF_CODE_4M${keys}.fd`), ...flash(`file=${variables}`)];
  // Only code in system management mode writes the variables of Secure Boot.
  if (starts === 'secure') loader.push('-global', 'driver=cfi.pflash01,property=secure,value=on');
  copyFileSync(join(firmware, `OVMF_VARS_4M${keys}.fd`), variables);
  mkdirSync(pictures, { recursive: true });
  const [httpPort, sshPort] = [await freePort(), await freePort()];
  const speed = acceleration();
  let process_: ChildProcess | undefined;
  let socket: Socket | undefined;
  let onAt = 0;
  let lastId = 0;
  let last: { bytes: Buffer; picture: Picture } | undefined;
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();

  const qmp = (command: string, args: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      socket?.write(`${JSON.stringify({ execute: command, arguments: args, id: lastId })}\n`);
    });

  const connect = async (path: string): Promise<void> => {
    while (true) {
      if (!machine.isOn()) throw new Error('qemu-system-x86_64 has ended; its output says why');
      const attempt = createConnection(path);
      const isOpen = await once(attempt, 'connect').then(
        () => true,
        () => false,
      );
      if (isOpen) {
        socket = attempt;
        break;
      }
      await wait(100);
    }
    const lines = createInterface({ input: socket });
    // It emits the error of the socket when the machine ends.
    lines.on('error', () => {});
    lines.on('line', (line) => {
      const { id, return: value, error } = JSON.parse(line);
      const { resolve, reject } = waiting.get(id) ?? {};
      waiting.delete(id);
      if (error === undefined) resolve?.(value);
      else reject?.(new Error(error.desc));
    });
    socket.on('error', () => {});
    await qmp('qmp_capabilities');
  };

  const seconds = (): number => (performance.now() - onAt) / 1000;

  const machine = {
    /** The path of its disk, a qcow2 over what it was made of. */
    disk,
    seconds,
    qmp,
    isOn: () => process_ !== undefined && process_.exitCode === null && process_.signalCode === null,
    /** @param more options of QEMU for this start */
    powerOn: async (...more: string[]): Promise<void> => {
      const path = join(work, `${name}.qmp`);
      rmSync(path, { force: true });
      const restrict = reachesHost ? 'off' : 'on';
      const network = `user,id=net,restrict=${restrict},hostfwd=tcp:127.0.0.1:${httpPort}-:8080,hostfwd=tcp:127.0.0.1:${sshPort}-:22`;
      process_ = spawn(
        'setpriv',
        // A run that is killed takes its machine with it.
        [
          ...['--pdeathsig', 'KILL', '--', 'qemu-system-x86_64'],
          ...[
            '-machine',
            'q35,smm=on',
            ...speed,
            '-smp',
            '2',
            '-m',
            '2048',
            '-nodefaults',
            '-vga',
            'none',
            '-display',
            'none',
          ],
          ...loader,
          ...[
            '-drive',
            `if=none,id=disk,${drive}`,
            '-device',
            'qemu-xhci,id=usb',
            '-device',
            `${isStick ? 'usb-storage,bus=usb.0' : 'virtio-blk-pci'},drive=disk,bootindex=1`,
          ],
          ...['-netdev', network, '-device', 'virtio-net-pci,id=nic,netdev=net,addr=0x5,romfile='],
          ...['-device', 'usb-kbd', '-device', 'virtio-rng-pci'],
          ...['-qmp', `unix:${path},server=on,wait=off`, '-serial', `file:${join(work, `${name}.serial`)}`],
          ...(more.includes('-device') || options.length > 0
            ? []
            : ['-device', 'virtio-gpu-pci,id=gpu,xres=1280,yres=800']),
          ...options,
          ...more,
        ],
        { stdio: ['ignore', 'inherit', 'inherit'] },
      );
      process_.once('exit', (code, signal) => {
        for (const { reject } of waiting.values()) reject(new Error(`qemu-system-x86_64 has ended: ${code ?? signal}`));
        waiting.clear();
      });
      onAt = performance.now();
      await connect(path);
    },
    /** As by its plug. */
    cutPower: async (): Promise<void> => {
      if (process_ === undefined || !machine.isOn()) return;
      const ended = once(process_, 'exit');
      process_.kill('SIGKILL');
      await ended;
      socket?.destroy();
    },
    /** The picture on the cable. @param keep its name in the folder of pictures, where it differs from the one before */
    picture: async (keep?: string): Promise<Picture> => {
      const filename = join(work, `${name}.png`);
      await qmp('screendump', { filename, format: 'png' });
      const bytes = readFileSync(filename);
      const at = Math.round(seconds());
      // Most pictures are like the one before, and decoding takes the processor from the machine.
      if (last?.bytes.equals(bytes)) return { ...last.picture, at };
      const { data, width, height } = PNG.sync.read(bytes);
      const picture = { at, width, height, data, colours: coloursOf(data) };
      last = { bytes, picture };
      if (keep !== undefined) {
        writeFileSync(join(pictures, `${name}-${keep}-${String(at).padStart(4, '0')}.png`), bytes);
      }
      return picture;
    },
    /** Presses keys together, by the names of QEMU: `ctrl-alt-f2`. */
    press: (keys: string, ms = 300): Promise<unknown> =>
      qmp('send-key', { keys: keys.split('-').map((data) => ({ type: 'qcode', data })), 'hold-time': ms }),
    /** Runs a command as root. @returns its output @throws Error if it fails or the machine does not answer */
    inside: async (command: string, input?: string): Promise<string> => {
      const trust = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'ConnectTimeout=60'];
      const args = [
        '-i',
        sshKey,
        '-p',
        String(sshPort),
        ...trust.flatMap((each) => ['-o', each]),
        'root@127.0.0.1',
        command,
      ];
      const running = execute('ssh', args, { timeout: 300_000, maxBuffer: 2 ** 26 });
      running.child.stdin?.end(input);
      return (await running).stdout;
    },
    /** Asks the service. @returns the status, 0 where it does not answer, and the body */
    request: async (path: string, init: RequestInit = {}): Promise<{ status: number; body: string }> => {
      try {
        const answer = await fetch(`http://127.0.0.1:${httpPort}${path}`, {
          signal: AbortSignal.timeout(30_000),
          ...init,
        });
        return { status: answer.status, body: await answer.text() };
      } catch {
        return { status: 0, body: '' };
      }
    },
    health: async () => JSON.parse((await machine.request('/healthz')).body || '{}'),
    /** Waits until a phone can read the display. @returns what it reads */
    showsCode: async (keep = 'code'): Promise<string> => {
      const find = async () => codeOn(await machine.picture(keep));
      await expect.poll(find, patience).toMatch(/\/onboard\?deviceId=.+/);
      return (await find()) ?? '';
    },
    /** Waits until the player says that a slide is on, and the cable shows one: without KVM that is most of a minute later. */
    plays: async (keep = 'slide'): Promise<void> => {
      await expect.poll(async () => (await machine.health()).kiosk?.screens?.[0]?.slide ?? '', patience).toMatch(/./);
      await expect.poll(async () => isSlide(await machine.picture(keep)), patience).toBe(true);
    },
  };
  return machine;
};

export type Machine = Awaited<ReturnType<typeof createMachine>>;

let shared: Promise<Machine> | undefined;

/** The machine that the cases share, switched on. */
export const theMachine = async (): Promise<Machine> => {
  shared ??= createMachine((process.env['SIGNAGE_MACHINE_RELEASE'] ?? 'trixie') as Release, 'shared');
  const machine = await shared;
  if (!machine.isOn()) await machine.powerOn();
  return machine;
};

/** Switches the machine that the cases share off, for another one: two need too much memory. */
export const switchOff = async (): Promise<void> => (await shared)?.cutPower();

/** The machine that the cases share, with a slide of the demo on its display. */
export const playing = async (): Promise<Machine> => {
  const machine = await theMachine();
  let code = '';
  // While a page loads, the display shows neither a slide nor a code.
  const shown = async (): Promise<string> => {
    const { slide } = (await machine.health()).kiosk?.screens?.[0] ?? {};
    code = slide ? '' : (codeOn(await machine.picture('code')) ?? '');
    return slide || code;
  };
  await expect.poll(shown, patience).toMatch(/./);
  if (code !== '') await bind(machine, new URL(code).searchParams.get('deviceId') ?? '');
  await machine.plays();
  return machine;
};

/** Plugs the display in, or pulls it out, as the kernel has it; a virtual card tells nobody, so an event does. */
export const plug = async (machine: Machine, status: 'detect' | 'off' | 'on'): Promise<void> => {
  const rule = 'mkdir -p /run/udev/rules.d && cat >/run/udev/rules.d/99-plug.rules && udevadm control --reload';
  const event = 'udevadm trigger --action=change --subsystem-match=drm';
  await machine.inside(
    `${rule} && echo ${status} >/sys/class/drm/card0-Virtual-1/status && ${event}`,
    'SUBSYSTEM=="drm", ACTION=="change", ENV{HOTPLUG}="1"',
  );
};

/** Binds a device to the demo, as a phone does. @returns whether the box acknowledged it */
export const bind = async (machine: Machine, deviceId: string, clientName = 'Hall'): Promise<boolean> => {
  const body = JSON.stringify({ deviceId, clientName, screenSlug: 'demo' });
  const headers = { 'Content-Type': 'application/json' };
  return (await machine.request('/api/onboarding', { method: 'POST', headers, body })).status === 200;
};
