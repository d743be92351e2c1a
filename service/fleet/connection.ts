/** The connection to the hub: reconnects with jittered backoff whenever it closes. */
import { setTimeout as delay } from 'node:timers/promises';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { createEmitter } from '../domain/emitter.ts';
import { doubled } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import { connectFault } from '../platform/nats.ts';
import type { SourceLog } from '../platform/source-log.ts';
import { defaultTempo, type Tempo } from '../tempo.ts';
import type { Refusals } from './refusals.ts';

/** What the parts of the module receive. */
export interface FleetContext extends Pick<ServiceContext, 'now' | 'monotonicNow' | 'random' | 'tempo'> {
  site: string;
  nodeId: string;
  log: SourceLog;
}

/** A connection to the hub while it lasts. */
export interface Line {
  nats: NatsConnection;
  /** Aborted when the connection has ended. */
  ended: AbortSignal;
}

/** Delay before the next attempt, ms, with jitter: all sites lose a hub at the same time. Pure. */
export const pauseAfter = (
  failures: number,
  random: number,
  { reconnect, firstReconnect, maxReconnect }: Tempo['fleet'] = defaultTempo.fleet,
): number => reconnect + random * doubled(failures, firstReconnect, maxReconnect);

/** @param open opens a connection, or throws an Error whose message completes "the hub ..." */
export const createConnection = (
  { log, now, random, tempo }: FleetContext,
  refusals: Pick<Refusals, 'set' | 'clear'>,
  open: () => Promise<NatsConnection>,
) => {
  const stop = new AbortController();
  const lines = createEmitter<[Line]>();
  let line: Line | null = null;
  let since = now();
  let reason: string | null = 'has not been asked yet';

  /** Records what the hub does not permit: the caller sees only a request without an answer. */
  const watch = async (nats: NatsConnection): Promise<void> => {
    for await (const status of nats.status()) {
      if (status.type !== 'error') continue;
      const { error } = status;
      if (error instanceof errors.PermissionViolationError) {
        refusals.set(`"${error.operation} ${error.subject}"`, 'these credentials do not permit it');
      }
      log.warn({ err: error }, 'the hub of the fleet reports an error');
    }
  };

  /** Connects, and resolves when the connection has ended. */
  const runOnce = async (onConnected: () => void): Promise<void> => {
    const nats = await open();
    onConnected();
    const ended = new AbortController();
    if (stop.signal.aborted) return nats.close();
    const endNow = (): void => void nats.close();
    stop.signal.addEventListener('abort', endNow);
    line = { nats, ended: ended.signal };
    since = now();
    reason = null;
    refusals.clear();
    log.info({ server: nats.info?.server_name, version: nats.info?.version }, 'connected to the hub of the fleet');
    void watch(nats);
    lines.emit(line);
    const error = await nats.closed();
    stop.signal.removeEventListener('abort', endNow);
    line = null;
    since = now();
    reason = error ? connectFault(error) : 'has closed the connection';
    refusals.clear();
    ended.abort();
  };

  const run = async (): Promise<void> => {
    for (let failures = 0; !stop.signal.aborted; failures += 1) {
      try {
        await runOnce(() => {
          failures = 0;
        });
      } catch (error) {
        reason = connectFault(error);
        log.debug({ err: error }, 'the hub of the fleet could not be reached');
      }
      if (stop.signal.aborted) return;
      if (failures === 0) log.warn({ reason }, `the hub of the fleet ${reason}; it is tried again`);
      const pause = pauseAfter(failures, random(), tempo.fleet);
      await delay(pause, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  };

  return {
    /** The connection; null: there is none. */
    line: (): Line | null => line,
    /** Calls `listener` with each new connection. */
    onLine: lines.on,
    state: () => ({ since: new Date(since).toISOString(), reason }),
    start: (): void => void run(),
    close: (): void => stop.abort(),
  };
};
