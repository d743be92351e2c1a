/** The overview of the site, followed while the page is visible. */
import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { perObject } from '../../../service/domain/collections.ts';
import { nextFlight } from '../../../service/domain/single-flight.ts';
import { doubled } from '../../../service/domain/time.ts';
import type { Client } from '../api/client.ts';
import type { BoxClock } from '../api/clock.ts';
import { isEqual } from '../model/document.ts';
import type { Site, SiteScreen } from '../model/wire.ts';

export type SiteStore = ReturnType<typeof createSiteStore>;

/** Polling interval: a change is on the page within 2 s, including a second of waiting for a peer. */
const EVERY_MS = 1_000;
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;
/** Screens of an answer that are compared, and rendered, at once: the page answers to people in between. */
const AT_ONCE = 100;

/** Without the times of heartbeats, which are shown only of displays that are away. */
const withoutBeats = perObject(({ devices, connections, ...rest }: SiteScreen) => ({
  rest,
  devices: devices.map((device) => (device.state === 'away' ? device : { ...device, lastSeenAt: null })),
  connections: connections.map((connection) => ({ ...connection, lastSeenAt: null })),
}));

export const createSiteStore = (client: Pick<Client, 'json'>, clock: Pick<BoxClock, 'now'>, page: Document) => {
  const overview = signal<Omit<Site, 'screens' | 'now'> | null>(null);
  const slugs = signal<readonly string[]>([]);
  const error = signal<unknown>(null);
  const lastSeen = signal<number | null>(null);
  const bySlug = new Map<string, Signal<SiteScreen>>();
  /** By how much the time of the site is ahead of what is known of the clock of the box, ms. */
  let ahead = 0;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const take = (each: SiteScreen): void => {
    const known = bySlug.get(each.screen.slug);
    if (known === undefined) bySlug.set(each.screen.slug, signal(each));
    else if (!isEqual(withoutBeats(known.peek()), withoutBeats(each))) known.value = each;
  };
  const update = async ({ screens, now, ...rest }: Site): Promise<void> => {
    ahead = now === undefined ? 0 : Date.parse(now) - clock.now();
    for (let at = 0; at < screens.length; at += AT_ONCE) {
      if (at > 0) await new Promise((resume) => setTimeout(resume));
      batch(() => screens.slice(at, at + AT_ONCE).forEach(take));
    }
    batch(() => {
      error.value = null;
      lastSeen.value = clock.now();
      const next = screens.map(({ screen }) => screen.slug);
      const present = new Set(next);
      for (const slug of bySlug.keys()) if (!present.has(slug)) bySlug.delete(slug);
      if (!isEqual(slugs.peek(), next)) slugs.value = next;
      if (!isEqual(overview.peek(), rest)) overview.value = rest;
    });
  };

  // A pending request may be older than the change that it is polled for.
  const poll = nextFlight<void, void>(async () => {
    try {
      await update(await client.json<Site>('/console/api/site'));
      failures = 0;
    } catch (reason) {
      failures += 1;
      error.value = reason;
    }
  });

  const follow = async (): Promise<void> => {
    clearTimeout(timer);
    const since = performance.now();
    if (!page.hidden) await poll();
    const rest = EVERY_MS - (performance.now() - since);
    const pause = failures > 0 ? doubled(failures - 1, EVERY_MS, LONGEST_PAUSE_MS) : rest;
    clearTimeout(timer);
    timer = setTimeout(() => void follow(), Math.max(PAUSE_MS, pause));
  };

  return {
    /** Null: not loaded yet. Its screens are in {@link SiteStore.screens}, which change one by one. */
    overview: overview as ReadonlySignal<Omit<Site, 'screens' | 'now'> | null>,
    /** The slugs, in the order of the content. */
    slugs: slugs as ReadonlySignal<readonly string[]>,
    /** Why the last poll failed; null: it succeeded. */
    error: error as ReadonlySignal<unknown>,
    /** When the box last answered, ms since the epoch by its clock; null: never. */
    lastSeen: lastSeen as ReadonlySignal<number | null>,
    /** The time by which takeovers begin and end, ms since the epoch. */
    now: (): number => clock.now() + ahead,
    /** The screen of a slug; undefined: there is none. */
    screen: (slug: string): ReadonlySignal<SiteScreen> | undefined => bySlug.get(slug),
    /** All current screens; subscribes to each of them. */
    screens: (): SiteScreen[] => slugs.value.flatMap((slug) => bySlug.get(slug)?.value ?? []),
    /** Polls now, for example after a change. */
    refresh: poll,
    start: (): void => {
      page.addEventListener('visibilitychange', () => {
        if (!page.hidden) void follow();
      });
      void follow();
    },
  };
};
