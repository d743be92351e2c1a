/** Alerts that this box has sent to the hub: kept, so that the hub gets again what it has lost. */
import { z } from 'zod';
import type { Alert } from '../contract/alerts.ts';
import type { ServiceContext } from '../module.ts';
import { createQueue } from '../platform/queue.ts';
import { openDurable } from '../platform/store/durable.ts';
import { Doubtful, type UpwardChannel } from './upward.ts';

/** Alerts that are kept; further ones take the place of the oldest. */
const MAX_KEPT = 500;

const schema = z.object({ sent: z.array(z.object({ id: z.string(), body: z.looseObject({}) })) });

export const createFleetAlerts = async (
  context: Pick<ServiceContext, 'dirs' | 'log' | 'now' | 'keep'>,
  channel: Pick<UpwardChannel, 'newest' | 'send'>,
) => {
  const store = context.keep(await openDurable(context, 'fleet-alerts.json', { schema, initial: { sent: [] } }));
  const enqueue = createQueue();
  let isKnown = false;

  /** Sends again what the hub has lost. */
  const restore = async (): Promise<void> => {
    const { sent } = store.read();
    const newest = await channel.newest();
    const lost = sent.slice(sent.findIndex(({ id }) => id === newest) + 1);
    if (lost.length > 0) await channel.send(lost);
    isKnown = true;
  };

  return {
    /** Looks again what the hub has: after each connection, and with each status. */
    recheck: (): void => {
      isKnown = false;
      void enqueue(restore).catch(() => undefined);
    },
    /** @throws Error whose message is a clause */
    deliver: (body: Alert, id: string): Promise<void> =>
      enqueue(async () => {
        const record = { id, body: { ...body } };
        if (!isKnown) await restore();
        const last = await channel.send([record]).catch(async (error: unknown) => {
          if (!(error instanceof Doubtful)) throw error;
          await restore();
          return channel.send([record]);
        });
        // What the hub never takes is not sent again.
        if (last === null) return;
        await store
          .update(({ sent }) => ({ sent: [...sent.filter((each) => each.id !== id), record].slice(-MAX_KEPT) }))
          .catch(() => undefined);
      }),
  };
};
