/** Updates: found and downloaded in the background, put in when nobody looks, kept only if they prove well. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { wallTimeOf } from '../../service/domain/wall-time.ts';
import type { Downloads, Ready, Sources } from './downloads.ts';
import * as gate from './gate.ts';
import type { Installer } from './installers.ts';
import { isBetween } from './quiet.ts';
import { readState, writeState } from './state-file.ts';

interface Dependencies {
  log: Logger;
  installer: Installer;
  /** Null where this build can't update itself: it has no key, or runs from a checkout. */
  downloads: Downloads | null;
  /** Where updates are, and when they may go in; null: not known yet, because there is no service. */
  settings(): UpdateSettings | null;
  /** Whether the screen plays as it should, and has not crashed since the last look. */
  isWell(): boolean | Promise<boolean>;
  /** Milliseconds since the epoch: for the hours of the site alone, since a clock may be years wrong until it is set. */
  now(): number;
  /** Milliseconds by a clock that nobody sets. */
  steady(): number;
  /** From 0 to 1: so that the boxes of a site don't all ask at once. */
  random(): number;
}

export interface UpdateSettings extends Sources {
  /** Minutes since midnight, by the site's clocks. */
  quiet: { from: number; until: number };
  timeZone: string;
}

interface UpdatesOptions {
  /** The version that runs. */
  version: string;
  updatesDir: string;
  /** Ms since the epoch; before that no clock is right, so that it is no quiet hour either. */
  builtAt: number;
}

export interface Updates {
  /**
   * To be asked first of all at a start: whether this version may run on. Where it may not, the one before it is being
   * put back, and the process is about to end.
   */
  mayRun(): Promise<boolean>;
  /** Begins to watch and to look for updates. */
  start(): void;
  /** One look at everything that is due; what `start` does every few seconds. */
  look(): Promise<void>;
  status(): { ready: string | null; onTrial: boolean; failed: string[] };
  close(): void;
}

const LOOK_MS = 5_000;
const HOUR_MS = 3_600_000;
const FIRST_CHECK_MS = 60_000;
const CHECK_MS = 6 * HOUR_MS;

export const createUpdates = (deps: Dependencies, options: UpdatesOptions): Updates => {
  const { log, installer, downloads, now, steady } = deps;
  const { version, updatesDir, builtAt } = options;
  const path = join(updatesDir, 'state.json');
  let state = gate.emptyState;
  let watch: gate.Watch | null = null;
  let ready: Ready | null = null;
  /** When the update was ordered that is to end this process; null: none was. */
  let orderedAt: number | null = null;
  let nextCheck = steady() + FIRST_CHECK_MS + deps.random() * 10 * FIRST_CHECK_MS;
  let timer: NodeJS.Timeout | undefined;
  let looking = false;

  const record = async (next: gate.GateState): Promise<void> => {
    state = next;
    await writeState(path, next);
  };

  /** A disk that takes nothing must stop neither a start nor the way back. */
  const recordIfPossible = (next: gate.GateState): Promise<void> =>
    record(next).catch((error: unknown) => log.error({ err: error }, 'the state of updates could not be kept'));

  const rollBack = async (): Promise<boolean> => {
    log.error({ version }, 'this version did not prove well and is rolled back; it is not tried again');
    try {
      await installer.rollBack();
      return true;
    } catch (error) {
      log.error({ err: error }, 'there is no version to go back to; this one runs on');
      return false;
    }
  };

  const judge = async (watched: gate.Watch): Promise<void> => {
    const next = gate.look(watched, await deps.isWell(), steady());
    if (next === 'passed') {
      watch = null;
      await record(gate.pass(state));
      log.info({ version }, 'the update has proved well');
    } else if (next === 'failed') {
      watch = null;
      await recordIfPossible(gate.refuse(state));
      await rollBack();
    } else watch = next;
  };

  const check = async (source: Downloads, sources: Sources): Promise<void> => {
    nextCheck = steady() + CHECK_MS * (0.75 + deps.random() / 2);
    try {
      ready = await source.fetch(sources, (offered) => gate.mayTry(state, offered));
      if (ready !== null) log.info({ version: ready.version }, 'an update is ready; it is put in at a quiet hour');
    } catch (error) {
      log.warn({ err: error }, 'no update could be had; the next look is in some hours');
    }
  };

  const abandon = async (): Promise<void> => {
    orderedAt = null;
    await record(gate.abandon(state));
  };

  const install = async (update: Ready): Promise<void> => {
    ready = null;
    orderedAt = steady();
    // On disk before anything is changed: whatever happens from here on, the next start knows of the trial.
    await record(gate.begin(state, update.version, version));
    try {
      log.info({ version: update.version, from: version }, 'the update is put in');
      await installer.install(update.file);
    } catch (error) {
      log.error({ err: error }, 'the update could not be put in; it is looked for again in some hours');
      await abandon();
    }
  };

  const isQuiet = ({ quiet, timeZone }: UpdateSettings): boolean =>
    now() >= builtAt && isBetween(wallTimeOf(now(), timeZone).minutes, quiet.from, quiet.until);

  const act = async (): Promise<void> => {
    if (watch !== null) return judge(watch);
    if (orderedAt !== null && gate.isOverdue(orderedAt, steady())) {
      log.error(
        { version: state.trial?.version },
        'the update was ordered but never came; see the journal of the system',
      );
      await abandon();
    }
    const settings = deps.settings();
    if (state.trial !== null || settings === null) return;
    if (ready !== null && isQuiet(settings)) return install(ready);
    if (downloads !== null && ready === null && steady() >= nextCheck) await check(downloads, settings);
  };

  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      await act();
    } catch (error) {
      log.error({ err: error }, 'the state of updates could not be kept');
    } finally {
      looking = false;
    }
  };

  return {
    mayRun: async () => {
      const { state: next, verdict } = gate.start(await readState(path), version, now());
      await recordIfPossible(next);
      if (verdict === 'roll back') return !(await rollBack());
      if (verdict === 'watch') watch = gate.beginWatch(steady());
      return true;
    },
    start: () => {
      timer = setInterval(() => void look(), LOOK_MS);
    },
    look,
    status: () => ({ ready: ready?.version ?? null, onTrial: watch !== null, failed: [...state.failed] }),
    close: () => clearInterval(timer),
  };
};
