/** The stored presence history of this box. */
import type { Logger } from 'pino';
import { z } from 'zod';
import { type KeptAttendance, started } from '../domain/attendance.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable } from '../platform/store/durable.ts';

const span = z.object({ since: z.number(), until: z.number(), left: z.number().nullable() });
const schema = z.object({ attendance: z.object({ ran: span, met: span.nullable() }).nullable() });

/** An end that grows by less is not written. */
const WRITE_MS = 1_800_000;

interface Options {
  path: string;
  log: Logger;
  /** The site's time, ms since the epoch. */
  now(): number;
}

export const openAttendance = async ({ path, log, now }: Options) => {
  const durable = await createDurable<z.infer<typeof schema>>({
    ...{ path, schema, log, now, disk: systemDisk },
    initial: { attendance: null },
  });
  /** In memory first: a disk that cannot be written must not hide an absence. */
  let attendance = started(durable.read().attendance, now());

  const isWorthWriting = (next: KeptAttendance): boolean => {
    const before = durable.read().attendance;
    return (['ran', 'met'] as const).some((key) => {
      const [from, to] = [before?.[key], next[key]];
      const grown = (to?.until ?? 0) - (from?.until ?? 0);
      return from?.since !== to?.since || from?.left !== to?.left || grown >= WRITE_MS;
    });
  };

  return {
    get: (): KeptAttendance | null => attendance,
    /** Replaces it. A write that fails is repeated with the next change; the store reports it. */
    async set(next: KeptAttendance | null): Promise<void> {
      attendance = next;
      if (next !== null && isWorthWriting(next)) {
        await durable.update(() => ({ attendance: next })).catch(() => undefined);
      }
    },
    faults: durable.faults,
    writes: durable.writes,
    close: () => durable.close(),
  };
};
