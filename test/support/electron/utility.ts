/** `utilityProcess` of the mock: processes of plain Node, which is what Electron's utility processes are for scripts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { app } from './app.ts';

interface ForkOptions {
  env?: Record<string, string>;
  stdio?: readonly string[];
  serviceName?: string;
}

export class UtilityProcess extends EventEmitter {
  readonly #child: ChildProcess;

  constructor(script: string, args: readonly string[], { env, stdio = ['ignore', 'inherit', 'inherit'] }: ForkOptions) {
    super();
    const [input, ...outputs] = stdio as ('ignore' | 'inherit' | 'pipe')[];
    if (input !== 'ignore') throw new Error('stdin value must be ignore');
    this.#child = spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', ...outputs] });
    this.#child.once('spawn', () => this.emit('spawn'));
    this.#child.once('exit', (code) => this.emit('exit', code ?? 1));
  }

  get pid(): number | undefined {
    return this.#child.exitCode === null && this.#child.signalCode === null ? this.#child.pid : undefined;
  }
  get stderr() {
    return this.#child.stderr;
  }
  kill(): boolean {
    return this.#child.kill('SIGTERM');
  }
}

export const utilityProcess = {
  fork: (script: string, args: string[] = [], options: ForkOptions = {}): UtilityProcess => {
    if (!app.isReady()) throw new Error('utilityProcess cannot be created before app is ready.');
    return new UtilityProcess(script, args, options);
  },
};
