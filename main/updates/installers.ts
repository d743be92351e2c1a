/** Installs a downloaded version, and rolls it back. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { reserveFile, syncFile, systemDisk, writeWithReserve } from '../../service/public.ts';
import type { readSystem } from '../system.ts';

export interface Installer {
  /**
   * Installs a verified file and keeps the running version for a rollback. The app ends or restarts soon after.
   * @throws Error if it is not installed; the running version is intact then
   */
  install(file: string): Promise<void>;
  /**
   * Restores the previous version.
   * @throws Error if no earlier package is kept
   */
  rollBack(): Promise<void>;
  /** Whether the installed version was replaced because it failed its trial; false: it was never installed. Absent: unknown. */
  wasGivenUp?(): boolean;
  /** Of a system that would be given up after some starts; absent: what is installed stays. */
  trial?: {
    /** Whether what runs is on trial. */
    isOn(): boolean;
    /** Ends it: what runs is kept. */
    end(): Promise<void>;
  };
}

/**
 * Replaces an AppImage by rename, so that its path always holds a complete file.
 * @param program the path of the AppImage
 * @param restart ends this process and starts the AppImage
 */
export const appImageInstaller = (program: string, restart: () => void): Installer => {
  const kept = `${program}.previous`;
  const next = `${program}.next`;
  return {
    install: async (file) => {
      await copyFile(file, next);
      await chmod(next, 0o755);
      await syncFile(next);
      await rm(kept, { force: true });
      await link(program, kept);
      await rename(next, program);
      await systemDisk.syncFolder(dirname(program));
      restart();
    },
    rollBack: async () => {
      await rename(kept, program);
      await systemDisk.syncFolder(dirname(program));
      restart();
    },
    wasGivenUp: () => !existsSync(next),
  };
};

/**
 * Orders an action that needs root: a systemd path unit watches for the file and runs `update-player`. It takes the place of
 * one that root has not taken yet, unless it is for the Wi-Fi of the box itself.
 * @param updatesDir in the data directory, whose reserve is used on a full disk
 * @param order a word of `update-player`: install, roll-back, keep, quit, reboot, power-off, hotspot-open, hotspot-close,
 * hotspot-join, or reset, which has folders below it
 * @throws Error if it is for the Wi-Fi, and another order waits
 */
export const orderRoot = async (updatesDir: string, order: string): Promise<void> => {
  const [word = ''] = order.split('\n');
  const draft = join(updatesDir, `${word}.new`);
  const reserve = { release: () => rm(join(dirname(updatesDir), reserveFile), { force: true }) };
  await writeWithReserve(reserve, async () => {
    await mkdir(updatesDir, { recursive: true });
    await writeFile(draft, `${order}\n`);
  });
  const path = join(updatesDir, 'order');
  if (!word.startsWith('hotspot-')) return rename(draft, path);
  const replaceWish = async (error: unknown): Promise<void> => {
    const waiting = await readFile(path, 'utf8').catch(() => '');
    if (!waiting.startsWith('hotspot-')) throw error;
    await rename(draft, path);
  };
  await link(draft, path)
    .catch(replaceWish)
    .finally(() => rm(draft, { force: true }));
};

/**
 * Installs a deb: root verifies the signature again, keeps the installed folder, installs and restarts the kiosk.
 * @param updatesDir contains the folder `ready`, the order, and what root tells of a version that it gave up
 */
export const debInstaller = (updatesDir: string): Installer => {
  const givenUp = join(updatesDir, 'given-up');
  return {
    install: async () => {
      await rm(givenUp, { force: true });
      await orderRoot(updatesDir, 'install');
    },
    rollBack: () => orderRoot(updatesDir, 'roll-back'),
    wasGivenUp: () => existsSync(givenUp),
  };
};

/** As {@link debInstaller}, for a whole system in the other slot of an image. @param system what root tells of the slots */
export const imageInstaller = (updatesDir: string, system: () => ReturnType<typeof readSystem>): Installer => ({
  ...debInstaller(updatesDir),
  wasGivenUp: () => (system()?.left ?? null) !== null,
  trial: {
    isOn: () => system()?.onTrial === true,
    end: () => orderRoot(updatesDir, 'keep'),
  },
});

interface NsisOptions {
  /** The path of the running version's installer, which NSIS leaves there. */
  installed: string;
  /** Where that is kept while the next version is on trial. */
  kept: string;
  /** Whether the kept installer starts the program that it has installed. */
  starts: boolean;
  /** How many bytes are free where the program is. */
  free(): Promise<number>;
  /** Runs the installer that electron-updater has downloaded, silently, and ends this process. */
  runDownloaded(): void;
  quit(): void;
}

/** The space that an installer needs, in sizes of its file: its archive, what is in there twice, and the one that is kept. */
const NSIS_SIZES = 8;

/** Runs the NSIS installers on Windows, silently and for one account. */
export const nsisInstaller = ({ installed, kept, starts, free, runDownloaded, quit }: NsisOptions): Installer => ({
  install: async (file) => {
    // It removes the running version before it unpacks its own, and does not look whether that fits.
    const missing = NSIS_SIZES * (await stat(file)).size - (await free());
    if (missing > 0) throw new Error(`the update needs ${Math.ceil(missing / 1e6)} MB more than the disk has free`);
    // Without it a rollback is not possible, but staying on an old version is worse.
    await copyFile(installed, kept).catch(() => rm(kept, { force: true }));
    runDownloaded();
  },
  rollBack: async () => {
    await stat(kept);
    const words = ['--updated', '/S', ...(starts ? ['--force-run'] : [])];
    spawn(kept, words, { detached: true, stdio: 'ignore' }).unref();
    quit();
  },
});
