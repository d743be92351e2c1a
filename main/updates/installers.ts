/** How a downloaded version takes the place of the running one, and how it goes again. */
import { spawn } from 'node:child_process';
import { chmod, copyFile, link, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface Installer {
  /**
   * Puts a verified file in, and keeps the running version beside it. The program ends or is restarted soon after.
   * @throws Error where it is not put in; the running version is whole then
   */
  install(file: string): Promise<void>;
  /**
   * Puts the version that was kept back in place.
   * @throws Error where none is kept
   */
  rollBack(): Promise<void>;
}

const syncFile = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
};

/**
 * An AppImage: one file, replaced by rename, so that at every moment there is a whole one in its place.
 * @param program the file that runs
 * @param restart starts what is at `program` now, and ends this process
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
      await syncFile(dirname(program));
      restart();
    },
    rollBack: async () => {
      await rename(kept, program);
      await syncFile(dirname(program));
      restart();
    },
  };
};

/** Has root do what the kiosk's user may not: a systemd path unit sees the order and runs `update-player`. */
export const orderRoot = async (updatesDir: string, word: 'install' | 'roll-back' | 'quit'): Promise<void> => {
  await writeFile(join(updatesDir, 'order.new'), `${word}\n`);
  await rename(join(updatesDir, 'order.new'), join(updatesDir, 'order'));
};

/**
 * A deb: root checks the signature again, copies the installed folder aside, installs and restarts the kiosk.
 * @param updatesDir where `ready/` and the order are
 */
export const debInstaller = (updatesDir: string): Installer => ({
  install: () => orderRoot(updatesDir, 'install'),
  rollBack: () => orderRoot(updatesDir, 'roll-back'),
});

interface NsisOptions {
  /** The installer that the running version came with: NSIS leaves it there. */
  installed: string;
  /** Where it is kept while the next version is on trial. */
  kept: string;
  /** Runs the installer that electron-updater has downloaded, silently, and ends this process. */
  runDownloaded(): void;
  quit(): void;
}

/** Windows: the installers themselves, silently, for one account. */
export const nsisInstaller = ({ installed, kept, runDownloaded, quit }: NsisOptions): Installer => ({
  install: async () => {
    // Without it there is no way back, but no update either is worse.
    await copyFile(installed, kept).catch(() => rm(kept, { force: true }));
    runDownloaded();
  },
  rollBack: async () => {
    await stat(kept);
    spawn(kept, ['--updated', '/S', '--force-run'], { detached: true, stdio: 'ignore' }).unref();
    quit();
  },
});
