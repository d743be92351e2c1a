/** When each key was last used at this box; kept over restarts, give or take the last minutes. */
import { z } from 'zod';
import { mostKeys, mostPeople } from '../contract/console/people.ts';
import { remember } from '../domain/collections.ts';
import type { ServiceContext } from '../module.ts';
import { openDurable } from '../platform/store/durable.ts';

const schema = z.object({ used: z.array(z.tuple([z.string(), z.number()])) });
const MAX_USES = 2 * mostKeys * mostPeople;

export const openUses = async (
  context: Pick<ServiceContext, 'dirs' | 'log' | 'keep' | 'now' | 'monotonicNow' | 'tempo'>,
) => {
  const { keep, now, monotonicNow, tempo } = context;
  const durable = keep(
    await openDurable(context, 'key-uses.json', { schema, initial: { used: [] }, isInitialKept: false }),
  );
  const uses = new Map(durable.read().used);
  let storedAt = monotonicNow();
  let hasChanges = false;

  const store = async (): Promise<void> => {
    if (!hasChanges) return;
    hasChanges = false;
    storedAt = monotonicNow();
    // The store reports a disk that cannot be written.
    await durable.update(() => ({ used: [...uses] })).catch(() => undefined);
  };

  return {
    note: (keyId: string): void => {
      remember(uses, keyId, now(), MAX_USES);
      hasChanges = true;
      if (monotonicNow() - storedAt >= tempo.people.store) void store();
    },
    /** By key id, ISO 8601. */
    all: (): Record<string, string> =>
      Object.fromEntries([...uses].map(([keyId, at]) => [keyId, new Date(at).toISOString()])),
    store,
  };
};
