/** Delivers the plays that are kept, a few at a time, until the service has acknowledged each of them. */
import type { MAX_PLAYS, PagePlay } from '../../../service/contract/plays.ts';
import { doubled } from '../../../service/domain/time.ts';
import type { PlayStore } from './store.ts';

export type PlayDelivery = ReturnType<typeof createPlayDelivery>;

interface Dependencies {
  store: Pick<PlayStore, 'oldest' | 'remove'>;
  /** Returns false if no socket is open. */
  send(plays: readonly PagePlay[]): boolean;
}

// Typed by the contract's constant, without importing its schemas.
const BATCH: typeof MAX_PLAYS = 50;
/** Sockets of the service accept messages of up to 256 KiB. */
const BATCH_BYTES = 192 * 1024;
/** Four messages a second are a fifth of a socket's limit. */
const GAP_MS = 250;
/** How long to wait for an acknowledgement, doubled after each failure in a row. */
const ACK_MS = 10_000;
const MAX_ACK_MS = 300_000;
/** How long to wait after a refusal, which closes the socket. */
const REFUSED_MS = 600_000;

/** As many of the plays as fit into a message, at least one. */
export const batchOf = (plays: readonly PagePlay[]): PagePlay[] => {
  const encoder = new TextEncoder();
  let bytes = 0;
  return plays.filter((play, index) => {
    bytes += encoder.encode(JSON.stringify(play)).length + 1;
    return index === 0 || bytes <= BATCH_BYTES;
  });
};

export const createPlayDelivery = ({ store, send }: Dependencies) => {
  let isOpen = false;
  /** The ids that the service has not acknowledged yet. */
  let inFlight: ReadonlySet<string> | null = null;
  let isReading = false;
  /** One after a refusal, so that a record that is not valid is found, and then more with each acknowledgement. */
  let size: number = BATCH;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Nothing is sent before this reading of `performance.now`. */
  let notBefore = 0;

  const patience = (): number => doubled(failures, ACK_MS, MAX_ACK_MS);

  const wait = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void deliver(), ms);
  };

  const onLate = (): void => {
    inFlight = null;
    failures += 1;
    void deliver();
  };

  const deliver = async (): Promise<void> => {
    if (!isOpen || inFlight !== null || isReading) return;
    const left = notBefore - performance.now();
    if (left > 0) return wait(left);
    isReading = true;
    const plays = batchOf(await store.oldest(size).catch(() => []));
    isReading = false;
    if (plays.length === 0 || !isOpen || !send(plays)) return;
    inFlight = new Set(plays.map(({ play_id }) => play_id));
    notBefore = performance.now() + GAP_MS;
    clearTimeout(timer);
    timer = setTimeout(onLate, patience());
  };

  return {
    /** There may be something to deliver. */
    wake: (): void => void deliver(),
    onOpen: (): void => {
      isOpen = true;
      inFlight = null;
      failures = 0;
      void deliver();
    },
    /** The service acknowledged these plays. */
    onAck: (playIds: readonly string[]): void => {
      const acknowledged = playIds.filter((id) => inFlight?.has(id));
      if (acknowledged.length === 0) return;
      clearTimeout(timer);
      failures = acknowledged.length === inFlight?.size ? 0 : failures + 1;
      size = Math.min(size * 2, BATCH);
      const next = (): void => {
        inFlight = null;
        if (failures > 0) notBefore = performance.now() + patience();
        void deliver();
      };
      // A record that can't be removed is delivered again, but not at full speed.
      store.remove(acknowledged).then(next, () => {
        failures += 1;
        next();
      });
    },
    /** The socket was closed; `isRefused`: for a message that is not valid. A play that is refused alone is dropped. */
    onClose: (isRefused: boolean): void => {
      isOpen = false;
      clearTimeout(timer);
      if (isRefused && inFlight !== null) {
        notBefore = performance.now() + REFUSED_MS;
        size = 1;
        if (inFlight.size === 1) void store.remove([...inFlight]).catch(() => {});
      }
      inFlight = null;
    },
  };
};
