/** What a service has opened, and how it lets go of it: after it ran, or where its start failed half-way. */
import type { Logger } from 'pino';

interface Closable {
  close(): unknown;
}

export interface Closers {
  /** Takes part in what goes on: connections, timers, children. All of these end first and at once, begun with the newest. */
  active<T extends Closable>(part: T): T;
  /** Is needed until nothing goes on any more, as what keeps the state is. One after another, the newest first. */
  lasting<T extends Closable>(part: T): T;
  /** Closes everything, once; never rejects. */
  close(): Promise<void>;
}

export const createClosers = (log: Pick<Logger, 'error'>): Closers => {
  const active: Closable[] = [];
  const lasting: Closable[] = [];
  let closing: Promise<void> | undefined;

  /** What fails to close must not keep the state from being written. */
  const end = async (part: Closable): Promise<void> => {
    try {
      await part.close();
    } catch (error) {
      log.error({ err: error }, 'a part of the service did not close well');
    }
  };

  const closeAll = async (): Promise<void> => {
    await Promise.all(active.toReversed().map(end));
    for (const part of lasting.toReversed()) await end(part);
  };

  const taken =
    (parts: Closable[]) =>
    <T extends Closable>(part: T): T => {
      parts.push(part);
      return part;
    };

  return { active: taken(active), lasting: taken(lasting), close: () => (closing ??= closeAll()) };
};
