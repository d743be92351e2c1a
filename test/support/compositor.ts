/** The kiosk's session as it is installed, on outputs without hardware: sway, as an ordinary user since root is refused. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished } from 'vitest';
import type { Run } from '../../main/processes.ts';
import { isSkipped as isBrowserSkipped } from './browser.ts';
import { findProgram } from './program.ts';
import { temporaryFolder } from './service.ts';

const execute = promisify(execFile);
const linux = join(import.meta.dirname, '..', '..', 'resources', 'linux');
const NOBODY = 65_534;
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

const isComplete = ['sway', 'grim', 'wtype'].every((name) => findProgram(name) !== undefined);

/** Where a program of the session is missing these are skipped by name; in CI they fail. */
export const describeCompositor = describe.skipIf((!isComplete && process.env.CI !== 'true') || isBrowserSkipped);

interface Setup {
  /** A shell script in the place of the player. */
  player: string;
  /** Inside another compositor, whose windows are the outputs: so that they can be unplugged. */
  isNested?: boolean;
  /** Further environment variables of the session. */
  more?: NodeJS.ProcessEnv;
}

export type Photograph = ReadonlyMap<string, number>;

/** An output, as `get_outputs` of sway lists it. */
export interface Output {
  name: string;
  rect: { x: number; y: number; width: number; height: number };
}

/** Pixels of a photograph for each one of an output. */
const SCALE = 0.125;

/** An image of binary PPM: as a PNG it would be packed and unpacked. */
const readPpm = (ppm: Buffer): { width: number; pixels: Buffer } => {
  const [header = '', width = 0] = /^P6\s+(\d+)\s+\d+\s+255\s/.exec(ppm.subarray(0, 64).toString('latin1')) ?? [];
  return { width: Number(width), pixels: ppm.subarray(header.length) };
};

/**
 * @param ppm an image of binary PPM
 * @param from its first column, and `to` the one after its last
 */
const sharesIn = (ppm: Buffer, from: number, to: number): Photograph => {
  const { width, pixels } = readPpm(ppm);
  const counts = new Uint32Array(4096);
  const row = width * 3;
  let total = 0;
  for (let start = 0; start + row <= pixels.length; start += row) {
    for (let at = start + from * 3; at < start + to * 3; at += 3) {
      const colour = ((pixels[at] ?? 0) >> 4) * 256 + ((pixels[at + 1] ?? 0) & 0xf0) + ((pixels[at + 2] ?? 0) >> 4);
      counts[colour] = (counts[colour] ?? 0) + 1;
      total += 1;
    }
  }
  const partsOf = (colour: number): string => [(colour >> 4) & 0xf0, colour & 0xf0, (colour << 4) & 0xf0].join();
  return new Map(
    [...counts.entries()].flatMap(([colour, count]) =>
      count === 0 ? [] : [[partsOf(colour), count / total] as const],
    ),
  );
};

export interface CompositorSession {
  /** Holds what the player writes; it is its working directory. */
  folder: string;
  process: ChildProcess;
  /** Runs a program inside the session. */
  run: Run;
  /** The outputs, from left to right. */
  outputs(): Promise<Output[]>;
  /** The colours of an output, as `red,green,blue`, all of them: the pointer, a border or a message are others. */
  coloursOf(output: string): Promise<string[]>;
  /** What a program needs to open windows in the session, as environment variables. */
  env: Record<string, string>;
  /** The share of each colour on outputs side by side, from 0 to 1, as `red,green,blue` in steps of 16. */
  photograph(outputs: readonly Output[]): Promise<Photograph[]>;
  /** Closes an output of a nested session. */
  unplug(output: string): Promise<void>;
  processId(name: string): number | undefined;
  /** Asks it to end as systemd does: the processes that its unit says. */
  stop(): void;
}

/** A setting of a unit. */
const settingOf = (unit: string, name: string): string | undefined =>
  unit
    .split('\n')
    .find((line) => line.startsWith(`${name}=`))
    ?.slice(name.length + 1);

const waitForFile = (folder: string, name: string): Promise<void> =>
  expect.poll(() => readdirSync(folder), { timeout: 20_000, interval: 100 }).toContain(name);

export const startSession = async ({ player, isNested = false, more = {} }: Setup): Promise<CompositorSession> => {
  const folder = temporaryFolder();
  const destination = join(folder, 'session');
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    HOME: folder,
    XDG_RUNTIME_DIR: folder,
    WLR_BACKENDS: 'headless',
    WLR_HEADLESS_OUTPUTS: isNested ? '1' : '2',
    WLR_RENDERER: 'pixman',
  };
  // Where its own user may read it.
  cpSync(linux, destination, { recursive: true });
  const unit = readFileSync(join(linux, 'signage-player.service'), 'utf8');
  env.XDG_SESSION_TYPE = settingOf(unit, 'Environment=XDG_SESSION_TYPE') ?? '';
  writeFileSync(join(folder, 'player'), `#!/bin/bash\n${player}\n`);
  chmodSync(join(folder, 'player'), 0o755);
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);

  const start = (program: string, args: string[], more: NodeJS.ProcessEnv): ChildProcess => {
    // A group of its own stands for the unit's control group.
    const options = { ...user, cwd: folder, stdio: 'ignore', detached: true } as const;
    const child = spawn(program, args, { ...options, env: { ...env, ...more } });
    const ended = once(child, 'exit');
    onTestFinished(async () => {
      child.kill();
      await ended;
    });
    return child;
  };

  const outer = join(folder, 'outer.sock');
  const nested = { WLR_BACKENDS: 'wayland', WLR_WL_OUTPUTS: '2', WAYLAND_DISPLAY: 'wayland-1' };
  if (isNested) {
    writeFileSync(join(folder, 'outer.conf'), `xwayland disable\nexec touch '${join(folder, 'outer-ready')}'\n`);
    start('sway', ['--config', join(folder, 'outer.conf')], { SWAYSOCK: outer });
    await waitForFile(folder, 'outer-ready');
  }
  const session = start(join(destination, 'session'), [join(folder, 'player')], isNested ? nested : more);
  await waitForFile(folder, 'player-started');

  const inside = { ...env, SWAYSOCK: join(folder, 'sway.sock'), WAYLAND_DISPLAY: isNested ? 'wayland-2' : 'wayland-1' };
  const run: Run = async (program, args) => (await execute(program, args, { env: inside, timeout: 20_000 })).stdout;

  return {
    folder,
    process: session,
    run,
    env: {
      XDG_SESSION_TYPE: env.XDG_SESSION_TYPE,
      XDG_RUNTIME_DIR: folder,
      SWAYSOCK: inside.SWAYSOCK,
      WAYLAND_DISPLAY: inside.WAYLAND_DISPLAY,
    },
    stop: () => {
      const pid = session.pid ?? Number.NaN;
      process.kill(settingOf(unit, 'KillMode') === 'mixed' ? pid : -pid, 'SIGTERM');
    },
    photograph: async (outputs) => {
      const [left, right] = [outputs[0]?.rect, outputs.at(-1)?.rect];
      if (left === undefined || right === undefined) return [];
      // One picture for all: a process for each would take longer than a frame.
      const area = `${left.x},${left.y} ${right.x + right.width - left.x}x${left.height}`;
      const args = ['-t', 'ppm', '-s', String(SCALE), '-g', area, '-'];
      const { stdout } = await execute('grim', args, { env: inside, encoding: 'buffer', maxBuffer: 2 ** 26 });
      return outputs.map(({ rect }) => {
        const from = Math.round((rect.x - left.x) * SCALE);
        return sharesIn(stdout, from, from + Math.round(rect.width * SCALE));
      });
    },
    outputs: async () => {
      const outputs = JSON.parse(await run('swaymsg', ['-t', 'get_outputs', '-r'])) as Output[];
      return outputs.toSorted((a, b) => a.rect.x - b.rect.x);
    },
    coloursOf: async (output) => {
      // With the pointer, where there is one.
      const args = ['-c', '-t', 'ppm', '-o', output, '-'];
      const { stdout } = await execute('grim', args, { env: inside, encoding: 'buffer', maxBuffer: 2 ** 26 });
      const { pixels } = readPpm(stdout);
      const colours = new Set<number>();
      for (let at = 0; at + 3 <= pixels.length; at += 3) colours.add(pixels.readUIntBE(at, 3));
      return [...colours].map((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255].join(','));
    },
    unplug: async (output) => {
      await execute('swaymsg', ['-s', outer, `[title=".*${output}.*"] kill`], { env: inside });
    },
    processId: (name) =>
      readdirSync('/proc')
        .filter((pid) => /^\d+$/.test(pid))
        .map(Number)
        .find((pid) => {
          try {
            const [, comm, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
            return comm === name && Number(parent) === session.pid;
          } catch {
            return false;
          }
        }),
  };
};
