/** Collects the open resources of the service, and closes them at the end or after a failed start. */
import type { Logger } from 'pino';
import type { Writes } from './store/durable.ts';

interface Closable {
  close(): unknown;
}

interface Lasting extends Closable {
  /** One sentence per problem that needs attention. */
  faults?(): string[];
  /** Its durable writes since the start. */
  writes?(): Writes;
}

export type Closers = ReturnType<typeof createClosers>;

export const createClosers = (log: Pick<Logger, 'error'>) => {
  const active: Closable[] = [];
  const lasting: Lasting[] = [];
  let closing: Promise<void> | undefined;

  /** A part that fails to close must not prevent the state from being written. */
  const end = async (part: Closable): Promise<void> => {
    try {
      await part.close();
    } catch (error) {
      log.error({ err: error }, 'a part of the service could not be closed');
    }
  };

  const closeAll = async (): Promise<void> => {
    await Promise.all(active.toReversed().map(end));
    for (const part of lasting.toReversed()) await end(part);
  };

  return {
    /** Adds an active part: connections, timers, child processes. These are closed first, concurrently, newest first. */
    active: <T extends Closable>(part: T): T => {
      active.push(part);
      return part;
    },
    /** Adds a part that active parts need until they are closed, such as a store. Closed one by one, newest first. */
    lasting: <T extends Lasting>(part: T): T => {
      lasting.push(part);
      return part;
    },
    /** The faults of all lasting parts. */
    faults: (): string[] => lasting.flatMap((part) => part.faults?.() ?? []),
    /** The durable writes of all lasting parts. */
    writes: (): Writes =>
      lasting
        .flatMap((part) => part.writes?.() ?? [])
        .reduce((sum, { ok, failed }) => ({ ok: sum.ok + ok, failed: sum.failed + failed }), { ok: 0, failed: 0 }),
    /** Closes everything, once; never rejects. */
    close: (): Promise<void> => (closing ??= closeAll()),
  };
};
