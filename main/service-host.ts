/** The only seam between the kiosk and the service that it hosts. */
import { mkdir } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { KioskHealth } from '../service/contract/health.ts';
import {
  type Beat,
  beat,
  foreignCall,
  type Hours,
  type KioskBridge,
  type MaintenanceAnswer,
  type MaintenanceCall,
  type MaintenanceOrder,
  type MaintenanceView,
  maintenanceCall,
} from '../service/contract/kiosk.ts';
import { readableId } from '../service/contract/readable.ts';
import { lanHost } from '../service/devices/address.ts';
import { mayBeFramed } from '../service/domain/framing.ts';
import { bareHost, isThisMachine } from '../service/domain/network-scope.ts';
import { type Service, startService } from '../service/index.ts';
import { createLog } from '../service/platform/log.ts';
import {
  EXIT_CONFIG,
  lendSecrets,
  type Options,
  OptionsError,
  readConfig,
  readKiosk,
  readOptions,
  takeEnvironment,
} from '../service/platform/options/index.ts';
import type { KioskSettings } from '../service/platform/options/kiosk.ts';
import { createQueue } from '../service/platform/queue.ts';
import { systemDisk } from '../service/platform/store/disk.ts';
import { createDurable, type Durable } from '../service/platform/store/durable.ts';
import { replaceFile } from '../service/platform/store/file.ts';
import { FolderTaken } from '../service/platform/store/lock.ts';
import { rewriteFile, sweepRewrites } from '../service/platform/store/rewrite.ts';
import type { Paths } from './paths.ts';

export type {
  Beat,
  Hours,
  KioskBridge,
  KioskHealth,
  KioskSettings,
  MaintenanceAnswer,
  MaintenanceCall,
  MaintenanceOrder,
  MaintenanceView,
};
export {
  beat as beatSchema,
  createQueue,
  EXIT_CONFIG,
  foreignCall as foreignCallSchema,
  maintenanceCall,
  mayBeFramed,
  readableId,
};

/** Whether a URL's host is this machine, by name or by any of its addresses. */
export const isOwnHost = (host: string): boolean => {
  const bare = bareHost(host).toLowerCase().replace(/\.$/, '');
  const own = hostname().toLowerCase();
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
  return isThisMachine(host) || [own, `${own}.local`, ...addresses].includes(bare);
};

/** Writes a file whole and for good, and its folder where there is none; keeps what was there as `.prev`. */
export const writeWhole = async (path: string, bytes: string | Uint8Array): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(systemDisk, path, Buffer.from(bytes));
};

/** Writes `config.json`, which is the operator's: it keeps its link, its owner and who may read it. Secrets are in it. */
export const writeConfig = async (path: string, bytes: string | Uint8Array): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await rewriteFile(path, Buffer.from(bytes), 0o600);
};

/** What the kiosk keeps for itself, in `kiosk.json` beside the service's state. */
const kioskState = z.object({
  /** As in displays.ts. */
  slots: z.array(z.object({ number: z.int(), displayId: z.number() })),
  /** The PIN of the maintenance page as scrypt made it; null: none has been set there. */
  pin: z.object({ salt: z.string(), hash: z.string() }).nullable(),
});
export type KioskState = z.infer<typeof kioskState>;

export interface HostedService extends Service {
  options: Options;
}

/** What is known of the kiosk's own settings, whether the service runs or not. */
export interface KioskFiles {
  settings: KioskSettings;
  state: Durable<KioskState>;
  /**
   * Writes settings of the kiosk into config.json, and leaves the rest of it as it is.
   * @throws Error with a sentence for a person, where they are not allowed or the file can't be written
   */
  configure(changes: Partial<KioskSettings>): Promise<void>;
}

/** Why the service could not be started, for the page that says so. */
export interface Fault {
  kind: 'port' | 'folder' | 'taken' | 'settings' | 'other';
  /** One sentence, which names the thing at fault. */
  message: string;
}

export interface ServiceHost {
  log: Logger;
  /** The newest lines of the log, oldest first. */
  lines(): readonly string[];
  /** Where everything that lasts is kept. */
  dataDir: string;
  /**
   * Judges the `config.json` in a folder.
   * @throws OptionsError for a bad setting
   * @returns what else is amiss, in sentences
   */
  checkConfig(folder: string): readonly string[];
  /** Does something while the secrets are in the environment, for an app that takes this one's place. */
  lendSecrets(act: () => void): void;
  /** Null while the settings could not be read, or the data folder not be used. */
  files(): KioskFiles | null;
  /** Where other machines in the LAN reach a service; null: nowhere. */
  lanUrl(service: Pick<HostedService, 'url' | 'options'>): string | null;
  /**
   * Starts the service with the kiosk's defaults. May be tried as often as need be.
   * @throws OptionsError for a bad setting, else the system's error: {@link faultOf} tells
   */
  start(): Promise<HostedService>;
}

const MOST_LINES = 200;

const folders: readonly (string | null)[] = ['dataDir', 'uploadDir', 'mediaDir'] satisfies (keyof Options)[];
const diskCodes: readonly (string | undefined)[] = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EIO', 'ENOTDIR', 'EDQUOT'];

export const faultOf = (error: unknown): Fault => {
  const { message } = error instanceof Error ? error : { message: String(error) };
  if (error instanceof OptionsError) {
    return { kind: folders.includes(error.setting) ? 'folder' : 'settings', message };
  }
  if (error instanceof FolderTaken) return { kind: 'taken', message };
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  if (cause?.code === 'EADDRINUSE') return { kind: 'port', message };
  return { kind: diskCodes.includes(code) ? 'folder' : 'other', message };
};

export const createServiceHost = (
  { dataDir, rendererDir, resourcesDir }: Pick<Paths, 'dataDir' | 'rendererDir' | 'resourcesDir'>,
  kiosk: () => KioskHealth,
): ServiceHost => {
  const lines: string[] = [];
  const log = createLog('info', (line) => {
    lines.push(line);
    if (lines.length > MOST_LINES) lines.shift();
  });
  const environment = takeEnvironment();
  let files: KioskFiles | null = null;

  const openFiles = async ({ dataDir, kiosk: settings }: Options): Promise<KioskFiles> => {
    await mkdir(dataDir, { recursive: true });
    const path = join(dataDir, 'config.json');
    await sweepRewrites(path).catch(() => undefined);
    // Each change on top of the one before it.
    const inTurn = createQueue();
    const opened: KioskFiles = {
      settings,
      state: await createDurable<KioskState>({
        path: join(dataDir, 'kiosk.json'),
        schema: kioskState,
        initial: { slots: [], pin: null },
        log,
        disk: systemDisk,
        now: Date.now,
      }),
      configure: (changes) =>
        inTurn(async () => {
          const config = readConfig(path);
          const settings = { ...readKiosk(config['kiosk'] ?? {}), ...changes };
          const kiosk = { ...(config['kiosk'] ?? {}), ...changes };
          await writeConfig(path, `${JSON.stringify({ ...config, kiosk }, null, 2)}\n`).catch((error: Error) => {
            throw new Error(`${path} can't be written: ${error.message}`);
          });
          opened.settings = settings;
        }),
    };
    return opened;
  };

  return {
    log,
    lines: () => lines,
    dataDir: resolve(environment['SIGNAGE_DATA_DIR'] || dataDir),
    checkConfig: (folder) => readOptions({ env: { SIGNAGE_DATA_DIR: folder } }).warnings,
    lendSecrets: (act) => lendSecrets(environment, act),
    files: () => files,
    lanUrl: ({ url, options }) => {
      const host = lanHost(networkInterfaces(), options.host);
      return host === null ? null : `http://${host}:${new URL(url).port}`;
    },
    start: async () => {
      const options = readOptions({ env: { ...environment }, defaults: { dataDir, discovery: 'on' } });
      log.level = options.logLevel;
      if (files !== null) files.settings = options.kiosk;
      const service = await startService(options, { log, rendererDir, resourcesDir, kiosk }).catch(async (error) => {
        // What is another player's is not touched; in all other cases the maintenance page is what helps.
        if (!(error instanceof FolderTaken)) files ??= await openFiles(options).catch(() => null);
        throw error;
      });
      files ??= await openFiles(options).catch(async (error) => {
        await service.close();
        throw error;
      });
      const { state } = files;
      return {
        ...service,
        options,
        close: async () => {
          await service.close();
          await state.close();
        },
      };
    },
  };
};
