/** Simulated hosts on one machine: network namespaces (Linux, iproute2), each connected to one bridge. */
import { type ChildProcess, execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { isRootOfCi } from '../support/machine.ts';
import { temporaryFolder } from '../support/service.ts';

const headless = join(import.meta.dirname, '..', '..', 'dist', 'service', 'headless.js');

/** Runs commands of iproute2 in one process: each start of a program from the large process of the tests costs 10 ms. */
const ip = (namespace: string, ...commands: string[]): void =>
  void execFileSync('ip', ['-n', namespace, '-batch', '-'], { input: commands.join('\n'), stdio: 'pipe' });

const addNamespace = (name: string): void => {
  execFileSync('ip', ['netns', 'add', name], { stdio: 'pipe' });
  onTestFinished(() => void execFileSync('ip', ['netns', 'del', name], { stdio: 'pipe' }));
};

/** Whether this user may create networks, or must: root, on a Linux kernel with network namespaces. */
export const hasNetworks = ((): boolean => {
  const name = `sg-probe-${process.pid}`;
  const make = (args: string[], input = ''): boolean =>
    spawnSync('ip', args, { input, stdio: ['pipe', 'ignore', 'ignore'] }).status === 0;
  const links = 'link add br0 type bridge\nlink add veth0 type veth peer name veth1';
  const can = make(['netns', 'add', name]) && make(['-n', name, '-batch', '-'], links);
  make(['netns', 'del', name]);
  return can || isRootOfCi;
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

/** Sends requests to the box of its namespace; an empty text is no answer. */
const asker = `process.on('message', ([id, path, init]) =>
  fetch('http://127.0.0.1:8080' + path, init).then((r) => r.text(), () => '').then((text) => process.send([id, text])))`;

/** @param commands of iproute2, which set it up */
const createNamespace = (name: string, ...commands: string[]): Namespace => {
  let child: ChildProcess | undefined;
  const dataDir = temporaryFolder();
  addNamespace(name);
  onTestFinished(() => void child?.kill('SIGKILL'));
  ip(name, 'link set lo up', ...commands);

  const spawnThere = (stdio: StdioOptions, ...command: string[]): ChildProcess => {
    const started = spawn('ip', ['netns', 'exec', name, ...command], { stdio });
    onTestFinished(() => void started.kill('SIGKILL'));
    return started;
  };

  let operator: ChildProcess | undefined;
  let asked = 0;
  const ask = async (path: string, init: object = {}): Promise<unknown> => {
    operator ??= spawnThere(['ignore', 'ignore', 'ignore', 'ipc'], process.execPath, '-e', asker);
    const running = operator;
    asked += 1;
    const id = asked;
    const text = await new Promise<string>((resolve) => {
      const listen = ([answered, body]: [number, string]): void => {
        if (answered !== id) return;
        running.off('message', listen);
        resolve(body);
      };
      running.on('message', listen);
      running.send([id, path, init]);
    });
    return JSON.parse(text || 'null');
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
    spawn: (...command) => spawnThere(['ignore', 'pipe', 'ignore'], ...command),
    get: (path) => ask(path),
    post: (path, body) =>
      ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    run: (module, ...args) => {
      const worker = join(import.meta.dirname, module);
      return spawnThere(['ignore', 'inherit', 'inherit', 'ipc'], process.execPath, '--import', 'tsx', worker, ...args);
    },
  };
};

let made = 0;
const newPrefix = (): string => `sg${process.pid}-${made++}`;

/** Makes a network without a router, as sites have; it ends with the test. */
export const createNetwork = (count: number): Host[] => {
  const prefix = newPrefix();
  const lan = `${prefix}-lan`;
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  const namespaces = names.map((name) => createNamespace(name));
  addNamespace(lan);
  ip(
    lan,
    'link add br0 type bridge mcast_snooping 0 forward_delay 0',
    'link set br0 up',
    ...names.flatMap((name, index) => [
      `link add port${index} type veth peer name eth0 netns ${name}`,
      `link set port${index} master br0 up`,
    ]),
  );

  return namespaces.map((namespace, index) => {
    const { name } = namespace;
    let address = `10.77.0.${index + 1}`;
    ip(name, `addr add ${address}/24 dev eth0`, 'link set eth0 up');

    return {
      ...namespace,
      get address() {
        return address;
      },
      plug: (isIn) => ip(lan, `link set port${index} ${isIn ? 'master br0' : 'nomaster'}`),
      move: (next) => {
        ip(name, `addr del ${address}/24 dev eth0`, `addr add ${next}/24 dev eth0`);
        address = next;
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
  // What arrives for a host ends here; what programs send here goes out to the host.
  const middle = createNamespace(`${prefix}-middle`, 'rule add pref 100 lookup local');
  const settings = ['all/accept_local 1', 'all/forwarding 0'].map((each) => each.split(' ') as [string, string]);
  const script = settings.map(([name, value]) => `echo ${value} > /proc/sys/net/ipv4/conf/${name}`).join(' && ');
  execFileSync('ip', ['netns', 'exec', middle.name, 'sh', '-c', script], { stdio: 'pipe' });
  const hosts = Array.from({ length: count }, (_, index) => {
    const [port, address, gateway] = [`port${index}`, `10.77.0.${index + 1}`, `10.79.${index + 1}.1`];
    const table = String(101 + index);
    const namespace = createNamespace(`${prefix}-${index}`);
    const { name } = namespace;
    ip(
      middle.name,
      `link add ${port} type veth peer name eth0 netns ${name}`,
      `link set ${port} up`,
      `addr add ${gateway}/32 dev ${port}`,
      `addr add ${address}/32 dev lo`,
      `route add ${address} dev ${port} table ${table}`,
      `rule add pref 1 iif lo to ${address} lookup ${table}`,
    );
    ip(
      name,
      'link set eth0 up',
      `addr add ${address}/32 dev eth0`,
      `route add ${gateway} dev eth0`,
      `route add default via ${gateway} src ${address}`,
    );
    return { ...namespace, address };
  });
  ip(middle.name, 'rule del pref 0');
  return { middle, hosts };
};
