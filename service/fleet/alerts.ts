/** Alerts for the hub: kept, so that it gets those of a time when it was away, and again what it has lost. */
import { z } from 'zod';
import type { Alert } from '../contract/alerts.ts';
import type { ServiceContext } from '../module.ts';
import { createQueue } from '../platform/queue.ts';
import { openDurable } from '../platform/store/durable.ts';
import type { UpwardChannel, UpwardRecord } from './uplink.ts';

/** Alerts that are kept, sent or not; further ones take the place of the oldest. */
const MAX_KEPT = 500;
/** Older ones are no longer in the stream of the hub, and would be news there. */
const MAX_AGE_MS = 90 * 86_400_000;

const schema = z.object({
  sent: z.array(z.object({ id: z.string(), body: z.looseObject({}) })),
  /** Id of the last one that the hub took. */
  taken: z.string().nullable().default(null),
});

export const createFleetAlerts = async (
  context: Pick<ServiceContext, 'dirs' | 'log' | 'now' | 'keep'>,
  channel: Pick<UpwardChannel, 'newest' | 'send'>,
) => {
  const store = context.keep(
    await openDurable(context, 'fleet-alerts.json', { schema, initial: { sent: [], taken: null } }),
  );
  const enqueue = createQueue();

  /** Keeps the `last` that the hub took, and forgets what comes after it: the hub never takes that. */
  const settle = async (given: readonly UpwardRecord[], last: string | null): Promise<void> => {
    const never = new Set(given.slice(given.findIndex(({ id }) => id === last) + 1).map(({ id }) => id));
    if (never.size === 0 && (last === null || last === store.read().taken)) return;
    const settled = ({ sent, taken }: z.infer<typeof schema>) => ({
      sent: sent.filter(({ id }) => !never.has(id)),
      taken: last ?? taken,
    });
    await store.update(settled).catch(() => undefined);
  };

  /** Sends what the hub does not have yet or has lost, and one that could not be kept. */
  const send = async (unkept: readonly UpwardRecord[] = []): Promise<void> => {
    const { sent, taken } = store.read();
    const all = [...sent, ...unkept];
    const takenAt = all.findIndex(({ id }) => id === taken);
    const newest = await channel.newest();
    const oldest = context.now() - MAX_AGE_MS;
    const isOld = ({ body }: UpwardRecord): boolean => Date.parse((body as Partial<Alert>).at ?? '') < oldest;
    const from = all.findIndex(({ id }) => id === newest) + 1;
    const missing = all.filter((each, index) => index >= from && !(index <= takenAt && isOld(each)));
    const { count, last } = await channel.send(missing);
    await settle(missing.slice(0, count), last ?? all[from - 1]?.id ?? null);
    if (count < missing.length) throw new Error('the hub of the fleet does not take them');
  };

  return {
    /** Looks again what the hub has: after each connection, and with each status. */
    recheck: (): void => void enqueue(() => send()).catch(() => undefined),
    /**
     * Keeps an alert, and sends it unless the hub has it.
     * @throws Error whose message is a clause; what is kept is sent when the hub is back
     */
    deliver: async (body: Alert, id: string): Promise<void> => {
      const record = { id, body: { ...body } };
      const isKept = (): boolean => store.read().sent.some((each) => each.id === id);
      if (!isKept()) {
        await store
          .update(({ sent, taken }) => ({ sent: [...sent, record].slice(-MAX_KEPT), taken }))
          .catch(() => undefined);
      }
      await enqueue(() => send(isKept() ? [] : [record]));
    },
  };
};
