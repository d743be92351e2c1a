/** Carries out orders for the machine and its displays, and reads back what became of them. */
import { access, mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ActionAnswer, BoxOrder, Durable, Operate } from '../service/public.ts';
import { canonicalDeviceId } from '../service/public.ts';
import type { Appliance } from './appliance.ts';
import { setVolume } from './power/volume.ts';
import type { Run } from './processes.ts';
import type { KioskState } from './service-host.ts';
import { orderRoot } from './updates/installers.ts';
import type { DisplayWindow, DisplayWindows } from './windows/display-windows.ts';
import { nameOf } from './windows/displays.ts';
import type { showLabel } from './windows/label.ts';

export interface OperatePorts {
  log: Pick<Logger, 'warn'>;
  windows: Pick<DisplayWindows, 'list'>;
  appliance: Pick<Appliance, 'switchTo' | 'isOnTrial'>;
  showLabel: typeof showLabel;
  execute: Run;
  /** The kiosk's own state; undefined: there is none. */
  state(): Durable<Pick<KioskState, 'volume'>> | undefined;
  /** Folders of media, which may lie outside the data directory. */
  folders(): readonly string[];
}

interface MachineOptions {
  dataDir: string;
  /** Whether systemd runs the app, so that root's units are there. */
  isWatched: boolean;
}

/** How long the hardware is awaited, ms. */
const HARDWARE_MS = 5_000;
const POLL_MS = 50;
/** Steps of a mixer are this coarse, percent. */
const VOLUME_STEP = 3;

type Result = ActionAnswer['result'];

const answer = (result: Result, state: ActionAnswer['state'], message: string): ActionAnswer => ({
  result,
  state,
  message,
});

const isWithin = (folder: string, path: string): boolean => !relative(folder, path).startsWith('..');

const chosen = (windows: readonly DisplayWindow[], display: BoxOrder['display']): DisplayWindow[] =>
  windows.filter(({ assignment: { display: own, number, deviceId } }) => {
    if (display == null || display === number || display === nameOf(own)) return true;
    return typeof display === 'string' && canonicalDeviceId(display) === canonicalDeviceId(deviceId);
  });

const spell = (count: number): string => (count === 1 ? 'The display' : `The ${count} displays`);

/** @returns a function that carries out an order */
export const createOperate = (
  { log, windows, appliance, showLabel: show, execute, state, folders }: OperatePorts,
  { dataDir, isWatched }: MachineOptions,
): Operate => {
  const updatesDir = join(dataDir, 'updates');

  /** Settles with what `work` resolves to, or with null after {@link HARDWARE_MS}. */
  const inTime = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | null> => {
    const signal = AbortSignal.timeout(HARDWARE_MS);
    const late = new Promise<null>((resolve) =>
      signal.addEventListener('abort', () => setTimeout(resolve, POLL_MS, null)),
    );
    return Promise.race([work(signal), late]);
  };

  const identify = async (
    targets: readonly DisplayWindow[],
    box: { name: string; address: string | null },
  ): Promise<ActionAnswer> => {
    let shown = 0;
    const showing = targets.map(async ({ window, assignment: { number, rotation }, toggleMaintenance }) => {
      await show(window, { ...box, number }, { rotation, onChord: toggleMaintenance });
      shown += 1;
    });
    await inTime(() => Promise.allSettled(showing));
    const isDone = shown === targets.length && shown > 0;
    return answer(
      isDone ? 'done' : 'unknown',
      shown,
      `${shown} of ${targets.length} displays show the name of the box.`,
    );
  };

  const switchDisplays = async (targets: readonly DisplayWindow[], on: boolean): Promise<ActionAnswer> => {
    const ids = targets.map(({ assignment }) => assignment.display.id);
    const switched = await inTime((signal) => appliance.switchTo(ids, on, signal) ?? Promise.resolve(null));
    const word = on ? 'on' : 'off';
    if (switched === null) return answer('unknown', null, 'The hardware did not answer within 5 s.');
    const { by, states } = switched;
    if (by === null) {
      const instead = on ? 'shows its page' : 'is black instead';
      return answer('not_supported', null, `Nothing here can switch a display; it ${instead}.`);
    }
    const told = [...new Set(states.map((state) => state ?? 'unknown'))];
    const state = told.length === 1 && told[0] !== 'unknown' ? (told[0] ?? null) : null;
    const isDone = told.length > 0 && told.every((each) => (on ? each === 'on' : each === 'off' || each === 'standby'));
    if (isDone) return answer('done', told.join(', '), `${spell(ids.length)} told, by ${by}: ${told.join(', ')}.`);
    return answer('unknown', state, `${spell(ids.length)} should be ${word} and told, by ${by}: ${told.join(', ')}.`);
  };

  const changeVolume = async (percent: number): Promise<ActionAnswer> => {
    const level = await inTime(() => setVolume(execute, percent));
    if (level === undefined) return answer('not_supported', null, 'This box has no sound output with a volume.');
    // A mixer forgets it where the power goes.
    state()
      ?.update((before) => ({ ...before, volume: percent }))
      .catch((error: unknown) => log.warn({ err: error }, 'the volume could not be saved'));
    if (level === null) return answer('unknown', null, 'The mixer does not tell its volume.');
    const isSet = Math.abs(level - percent) <= VOLUME_STEP;
    return answer(isSet ? 'done' : 'unknown', level, `The volume is ${level}.`);
  };

  /** Resolves with whether root has taken the order. One that it does not take is withdrawn. */
  const askRoot = async (order: string): Promise<boolean> => {
    const path = join(updatesDir, 'order');
    const isTaken = (): Promise<boolean> =>
      access(path).then(
        () => false,
        () => true,
      );
    await mkdir(updatesDir, { recursive: true });
    await orderRoot(updatesDir, order);
    const deadline = performance.now() + HARDWARE_MS;
    while (performance.now() < deadline) {
      if (await isTaken()) return true;
      await pause(POLL_MS);
    }
    await rm(path, { force: true });
    return false;
  };

  const endings = {
    reboot: ['rebooting', 'The box restarts.'],
    'power-off': ['powering off', 'The box switches itself off.'],
    reset: ['resetting', 'The box removes everything that it keeps, and starts as it came.'],
  } as const;

  const end = async (action: keyof typeof endings): Promise<ActionAnswer> => {
    if (!isWatched) return answer('not_supported', null, 'This player was not installed as a kiosk of the system.');
    const outside = folders().filter((folder) => !isWithin(dataDir, folder));
    const order = action === 'reset' ? [action, ...outside].join('\n') : action;
    const isTaken = await askRoot(order).catch((error: unknown) => {
      log.warn({ err: error, action }, 'an order for root could not be written');
      return false;
    });
    const [state, message] = endings[action];
    if (isTaken) return answer('done', state, message);
    return answer(
      'unknown',
      null,
      'The system did not take the order within 5 s: see systemctl status signage-player-update.path.',
    );
  };

  return async (order, box) => {
    const { action, display, value } = order;
    if (action === 'volume') return changeVolume(Number(value));
    if (action === 'reboot' && appliance.isOnTrial()) return { refusal: 'update_in_trial' };
    if (action === 'reboot' || action === 'power-off' || action === 'reset') return end(action);
    const targets = chosen(windows.list(), display);
    if (targets.length === 0 && display != null) {
      const names = windows.list().map(({ assignment: { number, display: own } }) => `${number} (${nameOf(own)})`);
      const message = `display is not valid: the box has no such display; it has ${names.join(', ') || 'none'}.`;
      return { refusal: 'invalid_field', field: 'display', message };
    }
    return action === 'identify' ? identify(targets, box) : switchDisplays(targets, action === 'display-on');
  };
};
