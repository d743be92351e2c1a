/** Simulated hosts on one machine: network namespaces (Linux, iproute2), each connected to one bridge. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
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

/** A network namespace. */
interface Namespace {
  /** Its name, for `ip -n`. */
  name: string;
  /** Starts a box there. @param content for its content.json; absent: the demo of a first start */
  start(env?: Record<string, string>, content?: unknown): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Asks its own box. */
  get(path: string): Promise<unknown>;
  post(path: string, body: object): Promise<unknown>;
  /** Starts another program there, which ends with the test. */
  spawn(program: string, ...args: string[]): ChildProcess;
  /** Runs a module of this folder there; it speaks by messages and ends with the test. */
  run(module: string, ...args: string[]): ChildProcess;
}

export interface Host extends Namespace {
  /** Its address in the network. */
  address: string;
  /** Plugs or unplugs its cable at the switch, which the host itself does not notice. */
  plug(isIn: boolean): void;
  /** Gives it another address. */
  move(address: string): void;
}

const createNamespace = (name: string): Namespace => {
  let child: ChildProcess | undefined;
  const dataDir = temporaryFolder();
  ip('netns', 'add', name);
  onTestFinished(() => {
    child?.kill('SIGKILL');
    ip('netns', 'del', name);
  });
  ip('-n', name, 'link', 'set', 'lo', 'up');

  const spawnThere = (...command: string[]) =>
    spawn('ip', ['netns', 'exec', name, ...command], { stdio: ['ignore', 'pipe', 'ignore'] });

  /** Runs a script there, and reads what it prints. */
  const ask = async (path: string, init: object = {}): Promise<unknown> => {
    const script = `fetch('http://127.0.0.1:8080${path}', ${JSON.stringify(init)}).then((r) => r.text()).then(console.log)`;
    const chunks = await spawnThere(process.execPath, '-e', script).stdout.toArray();
    return JSON.parse(chunks.join('') || 'null');
  };

  return {
    name,
    start: async (env = {}, content) => {
      if (content !== undefined) writeFileSync(join(dataDir, 'content.json'), JSON.stringify(content));
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
    run: (module, ...args) => {
      const worker = spawn(
        'ip',
        ['netns', 'exec', name, process.execPath, '--import', 'tsx', join(import.meta.dirname, module), ...args],
        { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
      );
      onTestFinished(() => void worker.kill('SIGKILL'));
      return worker;
    },
  };
};

let made = 0;
const newPrefix = (): string => `sg${process.pid}-${made++}`;

/** Makes a network without a router, as sites have; it ends with the test. */
export const createNetwork = (count: number): Host[] => {
  const prefix = newPrefix();
  const lan = `${prefix}-lan`;
  ip('netns', 'add', lan);
  onTestFinished(() => ip('netns', 'del', lan));
  ip('-n', lan, 'link', 'add', 'br0', 'type', 'bridge', 'mcast_snooping', '0', 'forward_delay', '0');
  ip('-n', lan, 'link', 'set', 'br0', 'up');

  return Array.from({ length: count }, (_, index) => {
    const port = `port${index}`;
    let address = `10.77.0.${index + 1}`;
    const namespace = createNamespace(`${prefix}-${index}`);
    const { name } = namespace;
    ip('-n', lan, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('-n', lan, 'link', 'set', port, 'master', 'br0', 'up');
    ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    ip('-n', name, 'link', 'set', 'eth0', 'up');

    return {
      ...namespace,
      get address() {
        return address;
      },
      plug: (isIn) => ip('-n', lan, 'link', 'set', port, ...(isIn ? ['master', 'br0'] : ['nomaster'])),
      move: (next) => {
        ip('-n', name, 'addr', 'del', `${address}/24`, 'dev', 'eth0');
        address = next;
        ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
      },
    };
  });
};

/**
 * Makes hosts whose only way to each other is a host in the middle. Nothing is routed there: each connection ends in a
 * program of the middle, which takes all addresses of the others for its own, and can go on to the true one with the
 * address of the host that made it.
 */
export const createDividedNetwork = (
  count: number,
): { middle: Namespace; hosts: (Namespace & { address: string })[] } => {
  const prefix = newPrefix();
  const middle = createNamespace(`${prefix}-middle`);
  const settings = ['all/accept_local 1', 'all/forwarding 0'].map((each) => each.split(' ') as [string, string]);
  for (const [name, value] of settings) {
    const script = `echo ${value} > /proc/sys/net/ipv4/conf/${name}`;
    execFileSync('ip', ['netns', 'exec', middle.name, 'sh', '-c', script], { stdio: 'pipe' });
  }
  // What arrives for a host ends here; what programs send here goes out to the host.
  ip('-n', middle.name, 'rule', 'add', 'pref', '100', 'lookup', 'local');
  const hosts = Array.from({ length: count }, (_, index) => {
    const [port, address, gateway] = [`port${index}`, `10.77.0.${index + 1}`, `10.79.${index + 1}.1`];
    const table = String(101 + index);
    const namespace = createNamespace(`${prefix}-${index}`);
    const { name } = namespace;
    ip('-n', middle.name, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('-n', middle.name, 'link', 'set', port, 'up');
    ip('-n', middle.name, 'addr', 'add', `${gateway}/32`, 'dev', port);
    ip('-n', middle.name, 'addr', 'add', `${address}/32`, 'dev', 'lo');
    ip('-n', middle.name, 'route', 'add', address, 'dev', port, 'table', table);
    ip('-n', middle.name, 'rule', 'add', 'pref', '1', 'iif', 'lo', 'to', address, 'lookup', table);
    ip('-n', name, 'link', 'set', 'eth0', 'up');
    ip('-n', name, 'addr', 'add', `${address}/32`, 'dev', 'eth0');
    ip('-n', name, 'route', 'add', gateway, 'dev', 'eth0');
    ip('-n', name, 'route', 'add', 'default', 'via', gateway, 'src', address);
    return { ...namespace, address };
  });
  ip('-n', middle.name, 'rule', 'del', 'pref', '0');
  return { middle, hosts };
};
