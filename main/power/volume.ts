/** The volume of the sound output, by the mixer of the system. */
import type { Run } from '../processes.ts';

interface Mixer {
  /** Sets the volume, and unmutes it unless it is 0. @throws Error if there is no such mixer */
  set(percent: number): Promise<void>;
  /** What the mixer tells, in percent; null: nothing. */
  read(): Promise<number | null>;
}

/** PipeWire, through its session manager. */
const wirePlumber = (execute: Run): Mixer => ({
  set: async (percent) => {
    await execute('wpctl', ['set-mute', '@DEFAULT_AUDIO_SINK@', percent === 0 ? '1' : '0']);
    await execute('wpctl', ['set-volume', '@DEFAULT_AUDIO_SINK@', String(percent / 100)]);
  },
  read: async () => {
    const [, level] = /Volume: ([\d.]+)/.exec(await execute('wpctl', ['get-volume', '@DEFAULT_AUDIO_SINK@'])) ?? [];
    return level === undefined ? null : Math.round(Number(level) * 100);
  },
});

/** ALSA: the first control that has a playback volume, which is `Master` where there is one. */
const alsa = (execute: Run): Mixer => {
  const control = async (): Promise<string> => {
    const list = await execute('amixer', ['scontents']);
    const controls = [...list.matchAll(/^Simple mixer control '([^']+)',(\d+)\n((?: .*\n?)*)/gm)]
      .filter(([, , , body = '']) => /Capabilities:.*\bp?volume\b/.test(body))
      .map(([, name, index]) => `${name},${index}`);
    const found = controls.find((each) => each.startsWith('Master,')) ?? controls[0];
    if (found === undefined) throw new Error('no control of the sound card has a volume');
    return found;
  };
  return {
    set: async (percent) => {
      const name = await control();
      const mute = percent === 0 ? 'mute' : 'unmute';
      await execute('amixer', ['-M', 'sset', name, `${percent}%`, mute]).catch(() =>
        // Not every control can be muted.
        execute('amixer', ['-M', 'sset', name, `${percent}%`]),
      );
    },
    read: async () => {
      const [, level] = /\[(\d{1,3})%\]/.exec(await execute('amixer', ['-M', 'sget', await control()])) ?? [];
      return level === undefined ? null : Number(level);
    },
  };
};

/**
 * Sets the volume with the first mixer that there is.
 * @returns the volume as it was read back, in percent, null where the mixer does not tell; undefined: there is no mixer
 */
export const setVolume = async (execute: Run, percent: number): Promise<number | null | undefined> => {
  for (const mixer of [wirePlumber(execute), alsa(execute)]) {
    try {
      await mixer.set(percent);
    } catch {
      continue;
    }
    return mixer.read().catch(() => null);
  }
  return undefined;
};
