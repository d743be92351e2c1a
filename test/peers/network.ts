/** Simulated hosts on one machine: network namespaces (Linux, iproute2), each connected to one bridge. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/service.ts';

const headless = join(import.meta.dirname, '..', '..', 'dist', 'service', 'headless.js');

const ip = (...args: string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });

/** Whether this user may create networks: root, on a Linux kernel with network namespaces. */
export const hasNetworks = ((): boolean => {
  const name = `sg-probe-${process.pid}`;
  const make = (...args: string[]): boolean => spawnSync('ip', args, { stdio: 'ignore' }).status === 0;
  const can =
    make('netns', 'add', name) &&
    make('-n', name, 'link', 'add', 'br0', 'type', 'bridge') &&
    make('-n', name, 'link', 'add', 'veth0', 'type', 'veth', 'peer', 'name', 'veth1');
  make('netns', 'del', name);
  return can;
})();

export interface Host {
  /** Its address in the network. */
  address: string;
  /** Plugs or unplugs its cable at the switch, which the host itself does not notice. */
  plug(isIn: boolean): void;
  /** Gives it another address. */
  move(address: string): void;
  /** Starts a box there. */
  start(env?: Record<string, string>): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts another program there, which ends with the test. */
  spawn(program: string, ...args: string[]): ChildProcess;
  /** Asks the host's own box. */
  get(path: string): Promise<unknown>;
  post(path: string, body: object): Promise<unknown>;
}

let made = 0;

/** Makes a network without a router, as sites have; it ends with the test. */
export const createNetwork = (count: number): Host[] => {
  const prefix = `sg${process.pid}-${made++}`;
  const lan = `${prefix}-lan`;
  ip('netns', 'add', lan);
  onTestFinished(() => ip('netns', 'del', lan));
  ip('-n', lan, 'link', 'add', 'br0', 'type', 'bridge', 'mcast_snooping', '0', 'forward_delay', '0');
  ip('-n', lan, 'link', 'set', 'br0', 'up');

  return Array.from({ length: count }, (_, index) => {
    const name = `${prefix}-${index}`;
    const port = `port${index}`;
    let address = `10.77.0.${index + 1}`;
    let child: ChildProcess | undefined;
    const dataDir = temporaryFolder();
    ip('netns', 'add', name);
    onTestFinished(() => {
      child?.kill('SIGKILL');
      ip('netns', 'del', name);
    });
    ip('-n', lan, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('-n', lan, 'link', 'set', port, 'master', 'br0', 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
    ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    ip('-n', name, 'link', 'set', 'eth0', 'up');

    const spawnThere = (...command: string[]) =>
      spawn('ip', ['netns', 'exec', name, ...command], { stdio: ['ignore', 'pipe', 'ignore'] });

    /** Runs a script there, and reads what it prints. */
    const ask = async (path: string, init: object = {}): Promise<unknown> => {
      const script = `fetch('http://127.0.0.1:8080${path}', ${JSON.stringify(init)}).then((r) => r.text()).then(console.log)`;
      const chunks = await spawnThere(process.execPath, '-e', script).stdout.toArray();
      return JSON.parse(chunks.join('') || 'null');
    };

    return {
      get address() {
        return address;
      },
      plug: (isIn) => ip('-n', lan, 'link', 'set', port, ...(isIn ? ['master', 'br0'] : ['nomaster'])),
      move: (next) => {
        ip('-n', name, 'addr', 'del', `${address}/24`, 'dev', 'eth0');
        address = next;
        ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
      },
      start: async (env = {}) => {
        child = spawn('ip', ['netns', 'exec', name, process.execPath, headless], {
          env: { PATH: process.env.PATH, SIGNAGE_DATA_DIR: dataDir, SIGNAGE_DISCOVERY: 'on', ...env },
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        let printed = '';
        for await (const chunk of child.stdout ?? []) {
          printed += String(chunk);
          if (printed.includes('listening on')) return;
        }
        throw new Error('the service did not start');
      },
      stop: async (signal = 'SIGTERM') => {
        if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
        const exited = once(child, 'exit');
        child.kill(signal);
        await exited;
      },
      spawn: (...command) => {
        const started = spawnThere(...command);
        onTestFinished(() => void started.kill('SIGKILL'));
        return started;
      },
      get: (path) => ask(path),
      post: (path, body) =>
        ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    };
  });
};
