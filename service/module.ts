/**
 * What the modules of the service have in common. A module is a folder whose `index.ts` exports
 * `createX(context, dependencies)`, which returns a {@link Module} with the functions that other modules may call.
 */
import type { Logger } from 'pino';
import type { ActionAnswer, BoxOrder } from './contract/console/actions.ts';
import type { AuditSubject } from './contract/console/site.ts';
import type { ErrorCode } from './contract/errors.ts';
import type { Health, KioskHealth } from './contract/health.ts';
import type { MetricReport } from './contract/metrics.ts';
import type { HotspotShown } from './contract/onboarding.ts';
import type { Clock } from './domain/time.ts';
import type { createOwnAuthority, createOwnHost } from './http/authority.ts';
import type { createClientAddress } from './http/client-address.ts';
import type { Routes, Sockets } from './http/routes.ts';
import type { Server } from './http/server.ts';
import type { Closers } from './platform/closers.ts';
import type { Confined, ScriptJob, ScriptOutput } from './platform/confined.ts';
import type { Ffmpeg } from './platform/ffmpeg.ts';
import type { Options } from './platform/options/index.ts';
import type { Get } from './platform/outbound/get.ts';
import type { Outbound } from './platform/outbound/send.ts';
import type { SourceLogs } from './platform/source-log.ts';
import type { Reserve } from './platform/store/reserve.ts';
import type { Tempo } from './tempo.ts';

/** Why an order is refused before anything is tried. */
export interface OrderRefusal {
  refusal: Extract<ErrorCode, 'update_in_trial' | 'invalid_field'>;
  /** Absent: that of the code. */
  message?: string;
  /** Of the request, where one is at fault. */
  field?: string;
}

/**
 * Acts on the machine of this box and on its displays, and reads back what became of it, within 5 s.
 * @param box name and address, which `identify` shows
 */
export type Operate = (
  order: BoxOrder,
  box: { name: string; address: string | null },
) => Promise<ActionAnswer | OrderRefusal>;

/** What every module receives. */
export interface ServiceContext extends Clock {
  options: Options;
  version: string;
  /** When the service was started. */
  startedAt: Date;
  log: Logger;
  /** The newest lines of this box's log, oldest first: a JSON object each. */
  logLines(): readonly string[];
  /** Logs of one source each, with a bounded number of lines. */
  logs: SourceLogs;
  /** Whether the system calls its clock synchronized. */
  isSynchronized(): boolean;
  /** From 0 up to 1, as Math.random. */
  random(): number;
  /** How long to wait. */
  tempo: Tempo;
  ids: {
    /** Of this box; kept in its data directory. */
    nodeId: string;
    /** Of this start of the service. */
    instance: string;
  };
  dirs: {
    data: string;
    uploads: string;
    media: string;
    renderer: string;
    /** The shipped demo content and other resources. */
    resources: string;
  };
  /** The host name of the machine. */
  machineName: string;
  /** Requests to other hosts, with redirects. */
  get: Get;
  /** One request to another host, or a connection through the proxy. */
  outbound: Outbound;
  /** The ffmpeg of this box. */
  ffmpeg: Ffmpeg;
  /** Runs a program that reads a file of somebody's. */
  confined: Confined;
  /** Runs a script of the service in a process of its own. */
  runScript(job: Omit<ScriptJob, 'env'>): Promise<ScriptOutput>;
  clientAddress: ReturnType<typeof createClientAddress>;
  isOwnAuthority: ReturnType<typeof createOwnAuthority>;
  isOwnHost: ReturnType<typeof createOwnHost>;
  /** State of the displays; absent if there are none. */
  kiosk: (() => KioskHealth) | undefined;
  /** Captures the display of a device, as described in {@link Ports}; absent if there are no displays. */
  capture: ((deviceId: string) => Promise<Uint8Array> | null) | undefined;
  /** The Wi-Fi of the box itself, as described in {@link Ports}. */
  hotspot: (() => HotspotShown | null) | undefined;
  /** Acts on the machine and its displays; absent if there are no displays. */
  operate: Operate | undefined;
  /** Restarts the player; absent if there is no supervisor. */
  restart: (() => void) | undefined;
  /** Disk space for state that must be written though the disk is full. */
  reserve: Pick<Reserve, 'release'>;
  /**
   * Keeps a store open until all modules are closed, even if the start fails after it. Stores are closed one by one,
   * newest first; what their `faults` return is reported in `/healthz`.
   */
  keep: Closers['lasting'];
}

/** The part of a module in `GET /healthz`. */
export interface HealthReport {
  fields?: Partial<Health>;
  /** Sentences about what is wrong, each of which degrades the status, by subject: `{ devices: ['The device ...'] }`. */
  issues?: Readonly<Record<string, readonly string[]>>;
  /** Nothing can be shown. */
  isFailing?: boolean;
  /** Sentences that do not affect the status. */
  notes?: readonly string[];
  /** What in the content will not play as intended; added to `content.warnings`. */
  contentWarnings?: Health['content']['warnings'];
}

/** The state of things, by their ids, as the audit shows it before and after a change; null: it is not there. */
export type StateReaders = Readonly<Partial<Record<AuditSubject, (id: string) => unknown>>>;

/** The port on which the service listens, its base URL on this machine, and how further ports give the same answers. */
export type Listening = Pick<Server, 'port' | 'url' | 'serve' | 'maxConnections'>;

export interface Module {
  routes?: Routes;
  sockets?: Sockets;
  health?(): HealthReport | Promise<HealthReport>;
  /** The numbers of the module in `GET /metrics`, as they are now. */
  metrics?(): MetricReport | Promise<MetricReport>;
  states?: StateReaders;
  /** One sentence per problem with what the module stores; each is part of `/healthz` and degrades the status. */
  faults?(): string[];
  /** Starts timers and requests to others: called in the order of the modules, once the service listens. */
  start?(at: Listening): unknown;
  /** Ends what `start` and requests have begun. All modules close concurrently, the newest first; stores are still open. */
  close?(): unknown;
}

export type Modules = ReturnType<typeof createModules>;

/** Collects the modules of the service. */
export const createModules = ({ active, faults, writes }: Closers) => {
  const modules: Module[] = [];
  return {
    /** Adds a module, which is closed even if the start fails after it. */
    add: <T extends Module>(module: T): T => {
      modules.push(module);
      active({ close: () => module.close?.() });
      return module;
    },
    routes: (): Routes[] => modules.flatMap(({ routes }) => routes ?? []),
    sockets: (): Sockets => Object.assign({}, ...modules.map(({ sockets }) => sockets)),
    faults: (): string[] => [...faults(), ...modules.flatMap((module) => module.faults?.() ?? [])],
    reports: (): Promise<HealthReport[]> => Promise.all(modules.map(async (module) => (await module.health?.()) ?? {})),
    metrics: async (): Promise<MetricReport[]> => [
      { signage_store_writes_total: { ...writes() } },
      ...(await Promise.all(modules.map(async (module) => (await module.metrics?.()) ?? {}))),
    ],
    states: (): StateReaders => Object.assign({}, ...modules.map(({ states }) => states)),
    // Concurrently: no module waits for what another one loads.
    start: async (at: Listening): Promise<void> =>
      void (await Promise.all(modules.map((module) => module.start?.(at)))),
  };
};
