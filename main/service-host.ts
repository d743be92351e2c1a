/** The only interface between the kiosk and the service that it hosts. */
import { mkdir } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { lanHost } from '../service/domain/lan-address.ts';
import { bareHost, isThisMachine } from '../service/domain/network-scope.ts';
import {
  changeConfig,
  createDurable,
  createLog,
  createLogRing,
  type Durable,
  FolderTaken,
  type KioskSettings,
  lendSecrets,
  mostLogLines,
  type Options,
  type Ports,
  readConfig,
  readKiosk,
  readOptions,
  type Service,
  startService,
  sweepRewrites,
  systemDisk,
  takeEnvironment,
} from '../service/public.ts';
import type { Paths } from './paths.ts';

/** Whether a URL's host is this machine, by name or by any of its IP addresses. */
export const isOwnHost = (host: string): boolean => {
  const bare = bareHost(host).toLowerCase().replace(/\.$/, '');
  const own = hostname().toLowerCase();
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
  return isThisMachine(host) || [own, `${own}.local`, ...addresses].includes(bare);
};

/** The kiosk's own state, in `kiosk.json` next to the service's state. */
export const kioskState = z.object({
  /** As in displays.ts. */
  slots: z.array(z.object({ number: z.int(), displayId: z.number(), label: z.string() })),
  /** The scrypt hash of the PIN of the maintenance page; null: no PIN was set there. */
  pin: z.object({ salt: z.string(), hash: z.string() }).nullable(),
  /** Whether the box was started, and whether one of its displays had a screen. */
  past: z.object({ started: z.boolean(), bound: z.boolean() }),
  /** The displays that were switched by hand, as in power.ts, by device; the newest order last. */
  byHand: z
    .array(z.object({ device: z.string(), on: z.boolean(), planned: z.boolean(), until: z.number().nullable() }))
    .default([]),
  /** The volume that somebody has set, in percent; absent: nobody has. */
  volume: z.number().optional(),
  /** Which displays were switched off, by which panels; absent: none was. */
  dark: z
    .object({
      by: z.array(z.enum(['cec', 'sway', 'dpms'])),
      displays: z.array(z.object({ deviceId: z.string(), screen: z.string().nullable() })),
    })
    .optional(),
});
export type KioskState = z.infer<typeof kioskState>;

export interface HostedService extends Service {
  options: Options;
}

/** The kiosk's own settings, available whether or not the service runs. */
export interface KioskFiles {
  settings: KioskSettings;
  state: Durable<KioskState>;
  /**
   * Writes settings of the kiosk into config.json; other settings are unchanged.
   * @throws Error with a message for the user if a value is not allowed or the file cannot be written
   */
  configure(changes: Partial<KioskSettings>): Promise<void>;
}

export type ServiceHost = ReturnType<typeof createServiceHost>;

/** The number of log lines on the maintenance page. */
const SHOWN_LINES = 200;

export const createServiceHost = (
  { dataDir, rendererDir, resourcesDir }: Pick<Paths, 'dataDir' | 'rendererDir' | 'resourcesDir'>,
  ports: Required<Pick<Ports, 'kiosk' | 'capture' | 'operate' | 'runScript' | 'restart'>> & Pick<Ports, 'hotspot'>,
) => {
  const ring = createLogRing(mostLogLines);
  const environment = takeEnvironment();
  const usedDir = resolve(environment['SIGNAGE_DATA_DIR'] || dataDir);
  const log = createLog('info', join(usedDir, 'logs'), ring.add);
  let files: KioskFiles | null = null;

  const openFiles = async ({ dataDir, kiosk: settings }: Pick<Options, 'dataDir' | 'kiosk'>): Promise<KioskFiles> => {
    await mkdir(dataDir, { recursive: true });
    const path = join(dataDir, 'config.json');
    await sweepRewrites(path).catch(() => undefined);
    const opened: KioskFiles = {
      settings,
      state: await createDurable<KioskState>({
        path: join(dataDir, 'kiosk.json'),
        schema: kioskState,
        initial: { slots: [], pin: null, past: { started: false, bound: false }, byHand: [] },
        log,
        disk: systemDisk,
        now: Date.now,
      }),
      configure: async (changes) => {
        let settings = opened.settings;
        await changeConfig(path, async () => {
          const config = readConfig(path);
          settings = { ...readKiosk(config['kiosk'] ?? {}), ...changes };
          const kiosk = { ...(config['kiosk'] ?? {}), ...changes };
          return `${JSON.stringify({ ...config, kiosk }, null, 2)}\n`;
        }).catch((error: NodeJS.ErrnoException) => {
          throw error.code === undefined ? error : new Error(`${path} cannot be written: ${error.message}`);
        });
        opened.settings = settings;
      },
    };
    return opened;
  };

  const readSettings = async (): Promise<Options> =>
    readOptions({ env: { ...environment }, defaults: { dataDir, discovery: 'on', https: 'on' } });

  /** The kiosk's files while a setting of the service is invalid, so that the maintenance page works. */
  const openWithoutService = async (): Promise<KioskFiles | null> => {
    const kiosk = readKiosk(readConfig(join(usedDir, 'config.json'))['kiosk'] ?? {});
    return openFiles({ dataDir: usedDir, kiosk });
  };

  return {
    log,
    /** The newest lines of the log, oldest first. */
    lines: (): readonly string[] => ring.lines().slice(-SHOWN_LINES),
    /** The folder of all persistent data. */
    dataDir: usedDir,
    /**
     * Validates the `config.json` in a folder.
     * @returns warnings
     * @throws OptionsError for an invalid setting
     */
    checkConfig: (folder: string): readonly string[] =>
      readOptions({
        // The secret may stand in the environment, and settings are only allowed with one.
        env: { SIGNAGE_DATA_DIR: folder, SIGNAGE_SHARED_SECRET: environment['SIGNAGE_SHARED_SECRET'] },
      }).warnings,
    /** The folders of media that the settings name, also while the service does not run. */
    mediaFolders: (): string[] => {
      let config: Readonly<Record<string, unknown>> = {};
      try {
        config = readConfig(join(usedDir, 'config.json'));
      } catch {
        // What cannot be read names none.
      }
      return [['SIGNAGE_UPLOAD_DIR', 'uploadDir'] as const, ['SIGNAGE_MEDIA_DIR', 'mediaDir'] as const]
        .map(([variable, name]) => environment[variable] || (config[name] ?? config[variable]))
        .flatMap((folder) => (typeof folder === 'string' && folder.trim() !== '' ? [resolve(folder)] : []));
    },
    /** Runs a function with the secrets in the environment, to start the app that replaces this one. */
    lendSecrets: (act: () => void): void => lendSecrets(environment, act),
    /** Null if the settings cannot be read or the data folder cannot be used. */
    files: (): KioskFiles | null => files,
    /** The URL at which other machines in the LAN reach the service; null: not reachable. */
    lanUrl: ({ url, options }: Pick<HostedService, 'url' | 'options'>): string | null => {
      const host = lanHost(networkInterfaces(), options.host);
      return host === null ? null : `http://${host}:${new URL(url).port}`;
    },
    /**
     * Starts the service with the kiosk's defaults. May be retried.
     * @throws OptionsError for an invalid setting, else the system's error; see `startErrorOf`
     */
    start: async (): Promise<HostedService> => {
      const options = await readSettings().catch(async (error) => {
        files ??= await openWithoutService().catch(() => null);
        throw error;
      });
      log.level = options.logLevel;
      if (files !== null) files.settings = options.kiosk;
      const service = await startService(options, {
        log,
        logLines: ring.lines,
        rendererDir,
        resourcesDir,
        ...ports,
      }).catch(async (error) => {
        // The folder of another player is not touched. In all other cases the maintenance page must work.
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
        // It changes where another box turns out to have the same one.
        get nodeId() {
          return service.nodeId;
        },
        options,
        close: async () => {
          await service.close();
          await state.close();
        },
      };
    },
  };
};
