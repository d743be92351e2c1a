/** The screens that the content has, and those that it had lately: pages that were offline still report their plays. */
import { z } from 'zod';
import type { Content } from '../../content/index.ts';
import { instant, slug } from '../../contract/terms.ts';
import type { ServiceContext } from '../../module.ts';
import { openDurable } from '../../platform/store/durable.ts';
import { MAX_AGE_MS } from './admission.ts';

/** Removed screens that are remembered; the oldest are forgotten first. */
const MAX_REMOVED = 10_000;

/** Slugs, and when each screen was removed; null: the content has it. */
const schema = z.object({ screens: z.array(z.tuple([slug, instant.nullable()])) });

export const openKnownScreens = async (
  context: Pick<ServiceContext, 'dirs' | 'log' | 'now' | 'keep'>,
  content: Pick<Content, 'screens' | 'onChange'>,
) => {
  const { now, keep } = context;
  const durable = keep(await openDurable(context, 'screens.json', { schema, initial: { screens: [] } }));
  let known: ReadonlyMap<string, string | null> = new Map(durable.read().screens);
  const isRecent = (removedAt: string): boolean => now() - Date.parse(removedAt) <= MAX_AGE_MS;

  const follow = (): void => {
    const present = new Set(content.screens().map((screen) => screen.slug));
    const at = new Date(now()).toISOString();
    const removed = [...known].flatMap(([name, removedAt]): [string, string][] =>
      present.has(name) || !isRecent(removedAt ?? at) ? [] : [[name, removedAt ?? at]],
    );
    const next = new Map<string, string | null>(removed.slice(-MAX_REMOVED));
    for (const name of present) next.set(name, null);
    const isSame = next.size === known.size && [...next].every(([name, removedAt]) => known.get(name) === removedAt);
    if (isSame) return;
    known = next;
    // The store reports a disk that cannot be written.
    durable.update(() => ({ screens: [...next] })).catch(() => {});
  };
  follow();
  content.onChange(follow);

  return {
    /** Whether the content has the screen, or had it within 8 days. */
    has: (name: string): boolean => {
      const removedAt = known.get(name);
      return removedAt !== undefined && (removedAt === null || isRecent(removedAt));
    },
  };
};
