/** The ways to switch a display, by the programs that the system has for it. */
import { z } from 'zod';
import { type Run, run } from '../programs.ts';

export interface Panel {
  name: 'cec' | 'sway' | 'dpms';
  /** Whether there is something to switch this way, now. */
  isThere(): Promise<boolean>;
  /** @throws Error where it could not be switched */
  set(on: boolean): Promise<void>;
}

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

/** What is used of `swaymsg -t get_outputs`; `power` came with sway 1.8, in place of `dpms`. */
const outputsSchema = z.array(z.object({ name: z.string(), power: z.boolean().optional() }));

/** Outputs of sway, the kiosk's compositor. Fails outside of its session. */
const sway = (execute: Run): Panel => {
  const outputs = async (): Promise<z.infer<typeof outputsSchema>> =>
    outputsSchema.parse(JSON.parse(await execute('swaymsg', ['-t', 'get_outputs', '-r'])));
  return {
    name: 'sway',
    isThere: async () => (await outputs()).length > 0,
    set: async (on) => {
      for (const { name, power } of await outputs()) {
        await execute('swaymsg', ['output', name, power === undefined ? 'dpms' : 'power', on ? 'on' : 'off']);
      }
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
  platform === 'linux' ? [cec(execute), sway(execute), x11(execute)] : [];
