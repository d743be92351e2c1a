/** The ways to switch displays on and off, each by a program of the system. */
import { z } from 'zod';
import { type Run, run } from '../processes.ts';
import type { Display } from '../windows/displays.ts';
import { matchOutputs } from '../windows/placement.ts';

export interface DisplayPower {
  bounds: Display['bounds'];
  on: boolean;
}

export interface Panel {
  name: 'cec' | 'sway' | 'dpms';
  /** Whether it can switch displays individually; otherwise all of them are on while one should be. */
  isSelective: boolean;
  /** Whether there is a display that can be switched this way. */
  isAvailable(): Promise<boolean>;
  /** @throws Error if a display could not be switched */
  setPower(displays: readonly DisplayPower[]): Promise<void>;
  /** What each display tells of itself, in the order given; null: nothing. @throws Error if none can be asked */
  readPower(displays: readonly Pick<DisplayPower, 'bounds'>[]): Promise<(PowerState | null)[]>;
}

/** `switching`: on the way from one to another. */
export type PowerState = 'on' | 'off' | 'standby' | 'switching';

const isAnyOn = (displays: readonly DisplayPower[]): boolean => displays.some(({ on }) => on);

/** The answers of cec-client to `pow`. */
const cecStates: Readonly<Record<string, PowerState>> = { on: 'on', standby: 'standby', 'in transition': 'switching' };

/** A television on HDMI, by CEC: it is really switched off. */
const cec = (execute: Run): Panel => {
  const send = (command: string): Promise<string> => execute('cec-client', ['-s', '-d', '1'], command);
  const read = async (): Promise<PowerState | null> => {
    const [, status = ''] = /power status: (on|standby|in transition)/i.exec(await send('pow 0\n')) ?? [];
    return cecStates[status.toLowerCase()] ?? null;
  };
  return {
    name: 'cec',
    isSelective: false,
    isAvailable: async () => (await read()) !== null,
    setPower: async (displays) => {
      const on = isAnyOn(displays);
      await send(on ? 'on 0\n' : 'standby 0\n');
      if (on) await send('as\n');
    },
    readPower: async (displays) => {
      const state = await read();
      return displays.map(() => state);
    },
  };
};

/**
 * The used part of `swaymsg -t get_outputs`; sway 1.8 replaced `dpms` by `power`. An output that is not active is disabled,
 * and has no place: its rectangle is empty.
 */
const outputsSchema = z.array(
  z.object({
    name: z.string(),
    active: z.boolean().default(true),
    power: z.boolean().optional(),
    dpms: z.boolean().optional(),
    rect: z.object({ x: z.int(), y: z.int() }),
  }),
);

/** The outputs of sway, the kiosk's compositor. Fails outside its session. */
const sway = (execute: Run): Panel => {
  const outputs = async (): Promise<z.infer<typeof outputsSchema>> =>
    outputsSchema
      .parse(JSON.parse(await execute('swaymsg', ['-t', 'get_outputs', '-r'])))
      .filter(({ active }) => active);
  return {
    name: 'sway',
    isSelective: true,
    isAvailable: async () => (await outputs()).length > 0,
    setPower: async (displays) => {
      const connected = await outputs();
      const matched = matchOutputs(displays, connected);
      for (const output of connected) {
        const display = displays.find((each) => matched.get(each) === output);
        const on = display?.on ?? isAnyOn(displays);
        const setting = output.power === undefined ? 'dpms' : 'power';
        await execute('swaymsg', ['output', output.name, setting, on ? 'on' : 'off']);
      }
    },
    readPower: async (displays) => {
      const matched = matchOutputs(displays, await outputs());
      return displays.map((display) => {
        const output = matched.get(display);
        const on = output?.power ?? output?.dpms;
        return on === undefined ? null : on ? 'on' : 'off';
      });
    },
  };
};

const xStates: Readonly<Record<string, PowerState>> = { On: 'on', Off: 'off', Standby: 'standby', Suspend: 'standby' };

/** The displays of an X server, by DPMS. */
const x11 = (execute: Run): Panel => ({
  name: 'dpms',
  isSelective: false,
  isAvailable: async () => /DPMS is (Enabled|Disabled)/.test(await execute('xset', ['q'])),
  setPower: async (displays) => {
    // While the displays are on, the server's own timers must not switch them off.
    await execute(
      'xset',
      isAnyOn(displays) ? ['dpms', 'force', 'on', '-dpms', 's', 'off'] : ['+dpms', 'dpms', 'force', 'off'],
    );
  },
  readPower: async (displays) => {
    const asked = await execute('xset', ['q']);
    // Without DPMS the server leaves the displays on, and says nothing of them.
    const [, word = /DPMS is Disabled/.test(asked) ? 'On' : ''] =
      /Monitor is (?:in )?(On|Off|Standby|Suspend)/.exec(asked) ?? [];
    const state = xStates[word] ?? null;
    return displays.map(() => state);
  },
});

/** All ways that a platform may have, the best one first. */
export const systemPanels = (platform: NodeJS.Platform, execute: Run = run): Panel[] =>
  platform === 'linux' ? [cec(execute), sway(execute), x11(execute)] : [];
