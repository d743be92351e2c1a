/** What the machine tells of itself: memory, disk, temperature, and whether it is slowed down to stay cool. */
import { readdir, readFile, statfs } from 'node:fs/promises';
import { freemem, totalmem, uptime } from 'node:os';
import type { MachineHealth } from '../contract/health.ts';

/** Folders of Linux; tests have their own. */
export interface MachineFolders {
  proc: string;
  sys: string;
}

const linux: MachineFolders = { proc: '/proc', sys: '/sys' };

const textOf = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);
const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** The hottest of the sensors, °C; null: there is none. A sensor without a value reads 0, or far below it. */
const temperatureOf = async (sys: string): Promise<number | null> => {
  const zones = (await namesIn(`${sys}/class/thermal`)).filter((name) => name.startsWith('thermal_zone'));
  // The processors of AMD have no zone.
  const chips = await namesIn(`${sys}/class/hwmon`);
  const processors = await Promise.all(chips.map((chip) => textOf(`${sys}/class/hwmon/${chip}/name`)));
  const sensors = [
    ...zones.map((zone) => `${sys}/class/thermal/${zone}/temp`),
    ...chips
      .filter((_, at) => processors[at]?.trim() === 'k10temp')
      .map((chip) => `${sys}/class/hwmon/${chip}/temp1_input`),
  ];
  const read = await Promise.all(sensors.map(textOf));
  const degrees = read.map((text) => Number.parseInt(text ?? '', 10) / 1000).filter((each) => each > 0 && each < 150);
  return degrees.length === 0 ? null : Math.round(Math.max(...degrees) * 10) / 10;
};

/** How often the processor was slowed down since the start of the system; null: it does not tell. */
const throttlesOf = async (sys: string): Promise<number | null> => {
  const folder = `${sys}/devices/system/cpu`;
  const cores = (await namesIn(folder)).filter((name) => /^cpu\d+$/.test(name));
  const read = await Promise.all(
    cores.flatMap((core) =>
      ['core_throttle_count', 'package_throttle_count'].map((name) =>
        textOf(`${folder}/${core}/thermal_throttle/${name}`),
      ),
    ),
  );
  const counts = read.flatMap((text) => (text === null ? [] : Number.parseInt(text, 10) || 0));
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
};

/** A Raspberry Pi tells in bits 0 to 3 what is so now: too little voltage, a lower clock, throttled, too warm. */
const isPiThrottled = async (sys: string): Promise<boolean | null> => {
  const text = await textOf(`${sys}/devices/platform/soc/soc:firmware/get_throttled`);
  return text === null ? null : (Number.parseInt(text, 16) & 0xf) !== 0;
};

/** A processor that was slowed down within this time counts as slowed down, ms. */
const RECENT_MS = 60_000;

/**
 * Returns a function that reads the state of the machine.
 * @param dataDir a folder on the disk that counts
 */
export const createMachineReader = (
  { dataDir, monotonicNow }: { dataDir: string; monotonicNow(): number },
  { proc, sys }: MachineFolders = linux,
): (() => Promise<MachineHealth>) => {
  let before: { count: number; slowedAt: number } | null = null;

  const isThrottled = async (): Promise<boolean | null> => {
    const ofPi = await isPiThrottled(sys);
    const count = ofPi === null ? await throttlesOf(sys) : null;
    if (count === null) return ofPi;
    const known = before ?? { count, slowedAt: Number.NEGATIVE_INFINITY };
    before = { count, slowedAt: count > known.count ? monotonicNow() : known.slowedAt };
    return monotonicNow() - before.slowedAt < RECENT_MS;
  };

  return async () => {
    const [meminfo, disk, temperature, throttled] = await Promise.all([
      textOf(`${proc}/meminfo`),
      statfs(dataDir).catch(() => null),
      temperatureOf(sys),
      isThrottled(),
    ]);
    const [, kibibytes] = /^MemAvailable:\s+(\d+) kB$/m.exec(meminfo ?? '') ?? [];
    return {
      uptime: Math.round(uptime()),
      memory: { total: totalmem(), available: kibibytes === undefined ? freemem() : Number(kibibytes) * 1024 },
      disk: disk && { total: disk.blocks * disk.bsize, free: disk.bavail * disk.bsize },
      temperature,
      throttled,
    };
  };
};
