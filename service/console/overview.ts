/** Puts the overview of a site together from what its boxes contribute. Pure. */
import type { DeviceState, SiteOverview, WaitingDevice } from '../contract/console/site.ts';
import { takeoverSlideId } from '../contract/console/takeover-levels.ts';
import type { Takeover } from '../contract/console/takeovers.ts';
import type { DeviceBinding, DeviceSighting, PeerSite, TakeoverRecord } from '../contract/peers.ts';
import type { Screen, Slide } from '../contract/playlist.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import { kindsWithOwnLength } from '../contract/slide-values.ts';
import { groupBy } from '../domain/collections.ts';
import { order } from '../domain/merge.ts';
import { isTargeted } from '../domain/targets.ts';

type SiteScreen = SiteOverview['screens'][number];
type SiteDevice = SiteScreen['devices'][number];
type Connection = SiteScreen['connections'][number];

interface ContentScreen {
  screen: Screen;
  tags: readonly string[];
  /** Whether it is inside its opening hours, or an emergency is on. */
  isOpen: boolean;
}

/** What a box contributes; only `displays` of one that is away, as it last told them. */
export interface Part {
  nodeId: string;
  site: { displays: readonly string[] } & Partial<
    Pick<PeerSite, 'screens' | 'stuck' | 'faults' | 'waiting' | 'volume' | 'off' | 'names'>
  >;
}

interface Facts {
  screens: readonly ContentScreen[];
  /** The devices that are bound. */
  bindings: readonly DeviceBinding[];
  parts: readonly Part[];
  sightingOf(deviceId: string): DeviceSighting | undefined;
  /** The screen that a display without a binding showed last. */
  shownBy(deviceId: string): string | undefined;
}

interface LiveConnection {
  slug: string;
  nodeId: string;
  connection: Connection;
  isStuck: boolean;
}

interface Expected {
  deviceId: string;
  clientName: string | null;
  /** Null: it is bound to no screen, and shows none. */
  slug: string | null;
  /** The box whose display it is; null: it is bound only. */
  nodeId: string | null;
}

const liveConnections = (parts: readonly Part[]): LiveConnection[] =>
  parts.flatMap(({ nodeId, site: { screens = [], stuck = [] } }) => {
    const stuckIds = new Set(stuck);
    return screens.flatMap(({ slug, connections }) =>
      connections.map((connection) => ({ slug, nodeId, connection, isStuck: stuckIds.has(connection.id) })),
    );
  });

const keyOf = ({ connection: { deviceId } }: LiveConnection): string | null =>
  deviceId === null ? null : canonicalDeviceId(deviceId);

/** Bound devices, and displays of kiosks: if those are not bound, their page reports the screen that they show, or did last. */
const expectedDevices = (
  { bindings, parts, shownBy }: Facts,
  connectionsOf: (deviceId: string) => readonly LiveConnection[],
): Expected[] => {
  const bound = new Map(
    bindings.map(({ deviceId, clientName, screenSlug }): [string, Expected] => [
      canonicalDeviceId(deviceId),
      { deviceId, clientName, slug: screenSlug, nodeId: null },
    ]),
  );
  for (const { nodeId, site } of parts) {
    for (const deviceId of site.displays) {
      const live = connectionsOf(deviceId).at(-1);
      const known = bound.get(canonicalDeviceId(deviceId));
      const { clientName = live?.connection.clientName ?? null } = known ?? {};
      const slug = known?.slug ?? live?.slug ?? shownBy(deviceId) ?? null;
      bound.set(canonicalDeviceId(deviceId), { deviceId, clientName, slug, nodeId });
    }
  }
  return [...bound.values()].toSorted(
    (a, b) => order(a.clientName ?? '', b.clientName ?? '') || order(a.deviceId, b.deviceId),
  );
};

/** The screens of the content with the devices that are expected to show them and the connections that do. */
export const siteScreens = (facts: Facts): SiteScreen[] => {
  const { screens, parts, sightingOf } = facts;
  const live = liveConnections(parts);
  const bySlug = groupBy(live, ({ slug }) => slug);
  const byDevice = groupBy(live, keyOf);
  const connectionsOf = (deviceId: string): readonly LiveConnection[] =>
    byDevice.get(canonicalDeviceId(deviceId)) ?? [];
  const switchedOff = new Set(parts.flatMap(({ site }) => (site.off ?? []).map(canonicalDeviceId)));
  const namesOf = new Map(
    parts.flatMap(({ site }) => (site.names ?? []).map((each) => [canonicalDeviceId(each.deviceId), each.names])),
  );
  const bySlugExpected = groupBy(expectedDevices(facts, connectionsOf), ({ slug }) => slug);

  const deviceOf = ({ deviceId, clientName, nodeId }: Expected, isOpen: boolean): SiteDevice => {
    const connections = connectionsOf(deviceId);
    const newest = connections.toSorted((a, b) => order(a.connection.lastSeenAt, b.connection.lastSeenAt)).at(-1);
    const sighting = sightingOf(deviceId);
    const key = canonicalDeviceId(deviceId);
    const names = namesOf.get(key) ?? [];
    return {
      deviceId,
      clientName,
      nodeId: newest?.nodeId ?? nodeId ?? sighting?.nodeId ?? null,
      lastSeenAt: newest?.connection.lastSeenAt ?? sighting?.at ?? null,
      state: deviceState({ connections, wasSeen: sighting !== undefined, isOpen }),
      ...(switchedOff.has(key) && { off: true, ...(names.length > 0 && { names }) }),
    };
  };

  const faults = new Map(parts.flatMap(({ site }) => (site.faults ?? []).map((each) => [each.connectionId, each])));
  return screens.map(({ screen, tags, isOpen }) => {
    const connections = (bySlug.get(screen.slug) ?? [])
      .map(({ connection }) => connection)
      .toSorted((a, b) => order(a.connectedAt, b.connectedAt));
    const own = connections.flatMap(({ id }) => faults.get(id) ?? []);
    return {
      screen,
      tags: [...tags],
      devices: (bySlugExpected.get(screen.slug) ?? []).map((device) => deviceOf(device, isOpen)),
      connections,
      ...(own.length > 0 && { faults: own }),
    };
  });
};

/** The devices that wait on any box, each once; those that are bound here are left out, whatever other boxes know. */
export const waitingDevices = (parts: readonly Part[], isBound: (deviceId: string) => boolean): WaitingDevice[] => {
  const waiting = new Map<string, WaitingDevice>();
  for (const { nodeId, site } of parts) {
    for (const each of site.waiting ?? []) {
      const deviceId = canonicalDeviceId(each.deviceId);
      if (!isBound(deviceId)) waiting.set(deviceId, { deviceId, nodeId });
    }
  }
  return [...waiting.values()];
};

/**
 * The displays of the targeted screens, each with the slides that it shows: none while it is switched off. A display is an
 * expected device, connected or not, or a connection of a page that is none.
 */
export const displaysOf = (targets: readonly string[], screens: readonly SiteScreen[]) => {
  const displays = new Map<string, Set<string | null>>();
  for (const { screen, tags, devices, connections } of screens) {
    if (!isTargeted(targets, { slug: screen.slug, tags })) continue;
    for (const { deviceId } of devices) {
      const key = canonicalDeviceId(deviceId);
      displays.set(key, displays.get(key) ?? new Set());
    }
    const dark = new Set(devices.flatMap(({ deviceId, off }) => (off ? canonicalDeviceId(deviceId) : [])));
    for (const { id, deviceId, currentSlideId } of connections) {
      const key = deviceId === null ? id : canonicalDeviceId(deviceId);
      if (!dark.has(key)) displays.set(key, (displays.get(key) ?? new Set()).add(currentSlideId));
    }
  }
  return displays;
};

/** A takeover with the number of displays that show it. */
export const countDisplays = (record: TakeoverRecord, screens: readonly SiteScreen[]): Takeover => {
  // By name: a record of a newer version may have more.
  const { id, targets, level, title, body, media_url, from, until, updatedAt } = record;
  const takeover = { id, targets, level, title, body, media_url, from, until, updatedAt };
  const slideId = takeoverSlideId(record.id);
  const displays = [...displaysOf(record.targets, screens).values()];
  return { ...takeover, shown: displays.filter((shows) => shows.has(slideId)).length, expected: displays.length };
};

interface DeviceFacts {
  connections: readonly { isStuck: boolean }[];
  /** Whether any box of the site has ever seen it. */
  wasSeen: boolean;
  /** Whether its screen is inside its opening hours. */
  isOpen: boolean;
}

export const deviceState = ({ connections, wasSeen, isOpen }: DeviceFacts): DeviceState => {
  const isConnected = connections.length > 0;
  if (!isConnected && !wasSeen) return 'never';
  if (!isOpen) return 'closed';
  if (!isConnected) return 'away';
  return connections.every(({ isStuck }) => isStuck) ? 'stuck' : 'playing';
};

interface PageFacts {
  /** The slide that it shows; null: none, or one that the content no longer has. */
  slide: Pick<Slide, 'duration_seconds' | 'kind'> | null;
  /** Since the slide came on, or the page was paused, resumed or given new content, ms. */
  unchangedMs: number;
  /** It shows no slide, and has reported one that it could not show. */
  reportsFaultsAlone: boolean;
  /** Paused, black, redirected or taken over: its slide is not meant to change. */
  isHeld: boolean;
  /** Whether another slide of its screen was on schedule all through the last `ms`. A slide that is alone stays. */
  hasSuccessor(ms: number): boolean;
}

const LENGTHS = 3;
const DEFAULT_MS = 10_000;
/** How long the slide is shown, ms; null: the page determines it. */
const lengthOf = ({ duration_seconds, kind }: NonNullable<PageFacts['slide']>): number | null =>
  duration_seconds !== null ? duration_seconds * 1000 : kindsWithOwnLength.includes(kind) ? null : DEFAULT_MS;

/** Whether a page is stuck: its slide has not changed for three of its lengths, or it reports faults alone. */
export const isStuck = ({ slide, unchangedMs, reportsFaultsAlone, isHeld, hasSuccessor }: PageFacts): boolean => {
  if (isHeld) return false;
  if (reportsFaultsAlone) return true;
  const length = slide === null ? null : lengthOf(slide);
  return length !== null && unchangedMs > LENGTHS * length && hasSuccessor(LENGTHS * length);
};
