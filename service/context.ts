/** Makes what every module receives from the settings and from what the host of the service provides. */
import { randomUUID } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import type { Logger } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import type { KioskHealth } from './contract/health.ts';
import type { HotspotShown } from './contract/onboarding.ts';
import { type Clock, systemClock } from './domain/time.ts';
import { createOwnAuthority, createOwnHost } from './http/authority.ts';
import { createClientAddress } from './http/client-address.ts';
import type { Operate, ServiceContext } from './module.ts';
import { createClockSync } from './platform/clock-sync.ts';
import type { Closers } from './platform/closers.ts';
import { createConfined, type RunScript } from './platform/confined.ts';
import { createFfmpeg } from './platform/ffmpeg.ts';
import type { Options } from './platform/options/index.ts';
import { createGet } from './platform/outbound/get.ts';
import { createLocator } from './platform/outbound/locate.ts';
import { createOutbound } from './platform/outbound/send.ts';
import { createSourceLogs } from './platform/source-log.ts';
import { defaultTempo, type Tempo } from './tempo.ts';

/** What the service needs from its host. */
export interface Ports {
  log: Logger;
  /** The newest lines of the log, oldest first; absent: none are kept. */
  logLines?: () => readonly string[];
  /** Folder of the built renderer. */
  rendererDir: string;
  /** Folder of the shipped demo content and other resources. */
  resourcesDir: string;
  /** The wall clock; default: that of the machine. */
  now?: Clock['now'];
  /** Whether the system synchronizes that clock; default: asks the system, or false with a clock of the host. */
  isSynchronized?: () => boolean;
  /** Default: {@link defaultTempo}. */
  tempo?: Tempo;
  /** Room on the disk that is set aside for the state; default: 4 MiB. */
  reserveBytes?: number;
  /** State of the displays for /healthz; absent if there are none. */
  kiosk?: () => KioskHealth;
  /**
   * Resolves with a JPEG of the screen that the display of a device shows, its longest side at most 1,280 pixels; may never
   * resolve while nothing is painted. Null: no display is this device, or it shows no screen. Absent: there are no displays.
   */
  capture?: (deviceId: string) => Promise<Uint8Array> | null;
  /** The Wi-Fi of the box itself, for the pages of its own displays; null: it is not open. Absent: there are no displays. */
  hotspot?: () => HotspotShown | null;
  /** Acts on the machine and its displays; absent: there are none. */
  operate?: Operate;
  /** Runs a script where this program itself is no Node.js; absent: it is. */
  runScript?: RunScript;
  /** Ends this process, so that it is restarted; absent: there is no supervisor. */
  restart?: () => void;
}

export const createContext = (
  options: Options,
  {
    log,
    logLines = () => [],
    rendererDir,
    resourcesDir,
    kiosk,
    capture,
    hotspot,
    operate,
    restart,
    runScript,
    now = systemClock.now,
    isSynchronized = now === systemClock.now ? createClockSync(systemClock) : () => false,
    tempo = defaultTempo,
  }: Ports,
  { nodeId, reserve }: { nodeId: string; reserve: ServiceContext['reserve'] },
  { lasting }: Closers,
): ServiceContext => {
  const { dataDir, uploadDir, mediaDir, publicUrl, allowedHosts } = options;
  const machineName = hostname();
  const outbound = createOutbound(options);
  const confined = createConfined(options.childEnvironment);
  return {
    options,
    version: packageJson.version,
    startedAt: new Date(),
    log,
    logLines,
    logs: createSourceLogs(log),
    now,
    monotonicNow: systemClock.monotonicNow,
    isSynchronized,
    random: Math.random,
    tempo,
    ids: { nodeId, instance: randomUUID() },
    dirs: { data: dataDir, uploads: uploadDir, media: mediaDir, renderer: rendererDir, resources: resourcesDir },
    machineName,
    get: createGet(createLocator(), outbound),
    outbound,
    ffmpeg: createFfmpeg(options),
    confined,
    runScript: (job) =>
      runScript?.({ ...job, env: options.childEnvironment }) ??
      confined({ ...job, program: process.execPath, args: [job.script, ...job.args] }),
    clientAddress: createClientAddress(options.trustProxy),
    isOwnAuthority: createOwnAuthority({ machineName, publicUrl, allowedHosts }, networkInterfaces),
    isOwnHost: createOwnHost({ machineName, publicUrl, allowedHosts }, networkInterfaces),
    kiosk,
    capture,
    hotspot,
    operate,
    restart,
    reserve,
    keep: lasting,
  };
};
