/** Runs the command line as a shell would, against real boxes. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, onTestFinished, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { signRequest } from '../../service/auth/sign.ts';
import type { Limits } from '../../service/cli/client.ts';
import { createOutput } from '../../service/cli/output.ts';
import { run } from '../../service/cli/program.ts';
import { aliveAt } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

/** The `bin` of the package. */
export const program = join(import.meta.dirname, '..', '..', '.scripts', 'signage');

export const secret = 'a secret of the whole site';

export interface Ended {
  stdout: string;
  stderr: string;
  code: number | null;
}

export interface RunOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Standard input. */
  input?: string;
  /** Called with the standard output so far; true ends the run. */
  until?: (stdout: string) => boolean;
}

/** Runs `signage` in pipes, with nothing of this environment but the PATH. */
export const signage = (
  args: readonly string[],
  { env = {}, cwd, input = '', until }: RunOptions = {},
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const home = env['HOME'] === undefined ? temporaryFolder() : env['HOME'];
    const child = spawn(program, args, { cwd, env: { PATH: process.env.PATH, HOME: home, ...env } });
    const ended: Ended = { stdout: '', stderr: '', code: null };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      ended.stdout += text;
      if (until?.(ended.stdout)) child.kill('SIGTERM');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      ended.stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...ended, code }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });

/** Runs a command line in this process, which takes a tenth of the time. */
export const signageHere = async (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  more: { limits?: Limits; stdin?: Readable } = {},
): Promise<Ended> => {
  const texts = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof texts) =>
    new Writable({
      write: (chunk, _, done) => {
        texts[name] += String(chunk);
        done();
      },
    });
  const code = await run(args, {
    version: packageJson.version,
    out: createOutput({ stdout: sink('stdout'), stderr: sink('stderr'), env }),
    stdin: more.stdin ?? Readable.from([]),
    surroundings: { env, home: '/nowhere', login: null },
    ...(more.limits !== undefined && { limits: more.limits }),
  });
  return { ...texts, code };
};

export interface TestSite {
  one: TestService;
  other: TestService;
  /** Runs `signage` as an operator who has the secret, at the first box; in a process of its own only with options for it. */
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
}

/** Makes a named pipe that a command of the shell reads. @returns resolves once the command has ended */
export const pipeTo = (path: string, command: string): Promise<unknown> => {
  execFileSync('mkfifo', [path]);
  const child = spawn('sh', ['-c', `exec < "$0"; exec ${command}`, path]);
  onTestFinished(() => void child.kill());
  return once(child, 'close');
};

/** Two boxes with one secret, for all tests of a file. */
export const shareSite = (content: unknown): (() => TestSite) => {
  const ends: (() => void | Promise<void>)[] = [];
  let site: TestSite;
  beforeAll(async () => {
    const env = { SIGNAGE_SHARED_SECRET: secret };
    const onEnd = (end: () => void | Promise<void>): void => void ends.unshift(end);
    const one = await startTestService({ content, env }, onEnd);
    const other = await startTestService({ content, env: { ...env, SIGNAGE_PEERS: one.url } }, onEnd);
    await vi.waitUntil(async () => (await aliveAt(one)) + (await aliveAt(other)) === 2, patience);
    site = {
      one,
      other,
      run: (args, { env: more = {}, ...options } = {}) => {
        const all = { SIGNAGE_BOX: one.url, SIGNAGE_SHARED_SECRET: secret, SIGNAGE_OPERATOR: 'Jürgen', ...more };
        return Object.keys(options).length === 0 ? signageHere(args, all) : signage(args, { ...options, env: all });
      },
    };
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => site;
};

/** Opens a page of a screen at a box that has the secret. */
export const joinSite = ({ url }: Pick<TestService, 'url'>, slug: string, hello: Record<string, unknown> = {}) =>
  joinScreen({ url }, slug, hello, {
    headers: signRequest({ secret, method: 'GET', url: `${url}/api/screens/${slug}/socket` }),
  });
