/** The ways to switch a display, by the programs that the system has for it. */
import { execFile } from 'node:child_process';

export interface Panel {
  name: 'cec' | 'wlr-randr' | 'dpms';
  /** Whether there is something to switch this way, now. */
  isThere(): Promise<boolean>;
  /** @throws Error where it could not be switched */
  set(on: boolean): Promise<void>;
}

/**
 * Runs a program, and gives it something to read.
 * @returns what it printed
 * @throws Error where it is not there, fails, or takes too long
 */
export type Run = (program: string, args: readonly string[], input?: string) => Promise<string>;

/** A display that does not answer must not hold up the others. */
const TIMEOUT_MS = 20_000;

export const run: Run = (program, args, input = '') =>
  new Promise((resolve, reject) => {
    const child = execFile(program, args, { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(error);
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });

/** A television on HDMI, by CEC: it really switches off. */
const cec = (execute: Run): Panel => {
  const tell = (words: string): Promise<string> => execute('cec-client', ['-s', '-d', '1'], words);
  return {
    name: 'cec',
    isThere: async () => /power status: (on|standby|in transition)/i.test(await tell('pow 0\n')),
    set: async (on) => {
      await tell(on ? 'on 0\n' : 'standby 0\n');
      if (on) await tell('as\n');
    },
  };
};

/** Outputs of a Wayland compositor of the wlroots family, such as cage. */
const wayland = (execute: Run): Panel => {
  const outputs = async (): Promise<string[]> =>
    (await execute('wlr-randr', [])).split('\n').flatMap((line) => /^(\S+) /.exec(line)?.[1] ?? []);
  return {
    name: 'wlr-randr',
    isThere: async () => (await outputs()).length > 0,
    set: async (on) => {
      for (const output of await outputs()) await execute('wlr-randr', ['--output', output, on ? '--on' : '--off']);
    },
  };
};

/** Displays of an X server, by DPMS. */
const x11 = (execute: Run): Panel => ({
  name: 'dpms',
  isThere: async () => /DPMS is (Enabled|Disabled)/.test(await execute('xset', ['q'])),
  set: async (on) => {
    // While it is on, no timer of the server's own may switch it off.
    await execute('xset', on ? ['dpms', 'force', 'on', '-dpms', 's', 'off'] : ['+dpms', 'dpms', 'force', 'off']);
  },
});

/** All that a system may have, the best first. */
export const systemPanels = (platform: NodeJS.Platform, execute: Run = run): Panel[] =>
  platform === 'linux' ? [cec(execute), wayland(execute), x11(execute)] : [];
