/** Updates: downloaded in the background, installed at quiet hours, and rolled back if they do not prove healthy. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { isOpen } from '../../service/domain/opening-hours.ts';
import { writePrivate } from '../../service/public.ts';
import { type Downloads, NoRoom, type ReadyUpdate, reasonOf, type Sources } from './downloads.ts';
import * as gate from './gate.ts';
import type { Installer } from './installers.ts';

const isState = (value: unknown): value is gate.GateState => {
  const { trial, failed } = (value ?? {}) as Partial<gate.GateState>;
  const isTrial =
    trial === null ||
    (typeof trial === 'object' &&
      [trial.version, trial.from].every((version) => typeof version === 'string') &&
      Array.isArray(trial.starts));
  return isTrial && Array.isArray(failed) && failed.every((version) => typeof version === 'string');
};

/** The stored state; the empty state if the file is missing or damaged, because an update must never prevent a start. */
const readState = async (path: string): Promise<gate.GateState> => {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isState(value) ? value : gate.emptyState;
  } catch {
    return gate.emptyState;
  }
};

/** @throws the system's error */
const writeState = (path: string, state: gate.GateState): Promise<void> =>
  writePrivate(path, `${JSON.stringify(state)}\n`);

interface UpdatesPorts {
  log: Logger;
  installer: Installer;
  /** Null if this build cannot update itself: it has no public key, or runs from a checkout. */
  downloads: Downloads | null;
  /** The sources and hours of updates; null: not known yet, because the service does not run. */
  settings(): UpdateSettings | null;
  /** Called before this process is replaced by another version. Never rejects. */
  beforeInstall(): Promise<void>;
  /** Whether all displays play, and no page crashed since the previous call; null: there is no display. */
  isHealthy(): boolean | null | Promise<boolean | null>;
  /** Ms since the epoch. Only for the quiet hours, because a clock may be years wrong until it is set. */
  now(): number;
  /** Ms of a monotonic clock. */
  monotonicNow(): number;
  /** From 0 to 1; spreads the checks of the boxes of a site. */
  random(): number;
}

export interface UpdateSettings extends Sources {
  /** `HH:MM-HH:MM` in the time zone of the site. */
  hours: string;
  timeZone: string;
}

interface UpdatesOptions {
  version: string;
  updatesDir: string;
  /** When the program was built, in ms since the epoch; with an earlier, wrong clock no hour is quiet. */
  builtAt: number;
}

const POLL_MS = 5_000;
const HOUR_MS = 3_600_000;
/** The boxes of a site, which get power at one time, ask within this after the first minute. */
const FIRST_CHECKS_MS = 180_000;
const FIRST_CHECK_MS = 60_000;
const CHECK_MS = 6 * HOUR_MS;

export const createUpdates = (ports: UpdatesPorts, options: UpdatesOptions) => {
  const { log, installer, downloads, now, monotonicNow } = ports;
  const { version, updatesDir, builtAt } = options;
  const path = join(updatesDir, 'state.json');
  let state = gate.emptyState;
  let watch: gate.Watch | null = null;
  let ready: ReadyUpdate | null = null;
  /** This version where it started without a trial: if it had failed, it was written to the disk by other means. */
  let settled: string | null = null;
  /** Why a newer version is not on its way, and which, where that is known; null: it is, there is none, or no source told of it. */
  let fault: { version: string | null; reason: string } | null = null;
  /** When an installation was ordered that will end this process; null: none. */
  let orderedAt: number | null = null;
  let nextCheck = monotonicNow() + FIRST_CHECK_MS + ports.random() * FIRST_CHECKS_MS;
  let timer: NodeJS.Timeout | undefined;
  let isPolling = false;

  const record = async (next: gate.GateState): Promise<void> => {
    state = next;
    await writeState(path, next);
  };

  /** A full disk must prevent neither a start nor a rollback. */
  const recordIfPossible = (next: gate.GateState): Promise<void> =>
    record(next).catch((error: unknown) => log.error({ err: error }, 'the update state could not be saved'));

  const rollBack = async (): Promise<boolean> => {
    log.error({ version }, 'this version did not prove healthy; it is rolled back and not installed again');
    try {
      await installer.rollBack();
      return true;
    } catch (error) {
      log.error({ err: error }, 'there is no previous version to restore; this one keeps running');
      return false;
    }
  };

  const judge = async (watched: gate.Watch): Promise<void> => {
    const isHealthy = await ports.isHealthy();
    const noted = gate.note(state, isHealthy);
    if (noted !== state) await recordIfPossible(noted);
    const next = gate.check(watched, isHealthy, monotonicNow());
    if (next === 'passed') {
      watch = null;
      await recordIfPossible(gate.pass(state));
      await installer.trial?.end();
      log.info({ version }, 'the update proved healthy');
    } else if (next === 'failed') {
      watch = null;
      await recordIfPossible(gate.reject(state));
      await rollBack();
    } else watch = next;
  };

  const check = async (source: Downloads, sources: Sources): Promise<void> => {
    nextCheck = monotonicNow() + CHECK_MS * (0.75 + ports.random() / 2);
    try {
      ready = await source.fetch(sources, (offered) => gate.mayInstall(state, offered));
      if (ready === null || ready.version !== fault?.version) fault = null;
      if (ready !== null) log.info({ version: ready.version }, 'an update is ready; it is installed at a quiet hour');
    } catch (error) {
      if (error instanceof NoRoom) fault = { version: null, reason: error.message };
      log.warn({ reason: reasonOf(error) }, 'the check for updates failed; it is repeated in some hours');
    }
  };

  const abandon = async (): Promise<void> => {
    orderedAt = null;
    await record(gate.abandon(state));
  };

  const install = async (update: ReadyUpdate): Promise<void> => {
    ready = null;
    orderedAt = monotonicNow();
    // Durable before the installation, so that the next start knows of the trial.
    await record(gate.begin(state, update.version, version));
    try {
      log.info({ version: update.version, from: version }, 'installing the update');
      await ports.beforeInstall();
      await installer.install(update.file);
    } catch (error) {
      log.error({ err: error }, 'the update could not be installed; the check is repeated in some hours');
      fault = { version: update.version, reason: reasonOf(error) };
      await abandon();
    }
  };

  const isQuiet = ({ hours, timeZone }: UpdateSettings): boolean => {
    const [open, close] = hours.split('-');
    return now() >= builtAt && isOpen([{ open, close }], now(), timeZone);
  };

  const act = async (): Promise<void> => {
    // A system whose end of the trial, or whose record, was lost: it would be given up for nothing.
    if (watch === null && state.trial === null && installer.trial?.isOn()) watch = gate.beginWatch(monotonicNow());
    if (watch !== null) return judge(watch);
    if (orderedAt !== null && gate.isOverdue(orderedAt, monotonicNow())) {
      log.error(
        { version: state.trial?.version },
        'the update was ordered but not installed; see the journal of the system',
      );
      fault = { version: state.trial?.version ?? null, reason: 'see the journal of the system' };
      await abandon();
    }
    const settings = ports.settings();
    if (state.trial !== null || settings === null) return;
    if (ready !== null && isQuiet(settings)) return install(ready);
    if (downloads !== null && ready === null && monotonicNow() >= nextCheck) await check(downloads, settings);
  };

  const poll = async (): Promise<void> => {
    if (isPolling) return;
    isPolling = true;
    try {
      await act();
    } catch (error) {
      log.error({ err: error }, 'the update state could not be saved');
    } finally {
      isPolling = false;
    }
  };

  return {
    /**
     * Decides at the start whether this version may run. If not, the previous version is being restored and the process is
     * about to end.
     */
    mayRun: async () => {
      const isSystem = installer.trial !== undefined;
      const before = await readState(path);
      settled = before.trial === null ? version : null;
      const { trial } = before;
      // Without a start it was never installed, or it cannot start at all: then it ends like that a second time.
      const isUnstarted = trial?.starts.length === 0 && trial.version !== version;
      const isMissed = !installer.wasGivenUp && isUnstarted && before.missed !== trial.version;
      const wasGivenUp = installer.wasGivenUp?.() ?? !isMissed;
      const { state: next, verdict } = gate.start(before, version, now(), wasGivenUp, isSystem);
      await recordIfPossible(isMissed ? { ...next, missed: trial.version } : next);
      if (isMissed) nextCheck = monotonicNow() + CHECK_MS;
      if (verdict === 'roll back') return !(await rollBack());
      if (verdict === 'watch') watch = gate.beginWatch(monotonicNow());
      return true;
    },
    /** Starts to watch a version on trial and to check for updates. */
    start: () => {
      timer = setInterval(() => void poll(), POLL_MS);
    },
    /** Does what is due; `start` repeats this every few seconds. */
    poll,
    status: () => ({
      ready: ready?.version ?? null,
      onTrial: watch !== null,
      failed: state.failed.filter((each) => each !== settled),
      fault: fault && (fault.version === null ? fault.reason : `version ${fault.version}: ${fault.reason}`),
    }),
    close: () => clearInterval(timer),
  };
};

export type Updates = ReturnType<typeof createUpdates>;
