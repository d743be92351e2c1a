/** The overview of the site: gathered from all boxes in rounds that all consoles share. */
import type { Content } from '../content/index.ts';
import type { SiteOverview } from '../contract/console/site.ts';
import { mostPeers, type PeerSite } from '../contract/peers.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import type { Devices } from '../devices/index.ts';
import { remember } from '../domain/collections.ts';
import { isOpen } from '../domain/opening-hours.ts';
import { createHeldBodies } from '../http/held-bodies.ts';
import type { Routes } from '../http/routes.ts';
import type { ServiceContext } from '../module.ts';
import type { Peer, Peers } from '../peers/index.ts';
import { createBatcher } from '../platform/batcher.ts';
import type { Takeovers } from '../takeovers/index.ts';
import { countDisplays, type Part, siteScreens, waitingDevices } from './overview.ts';

interface Dependencies {
  content: Pick<Content, 'screens' | 'tags' | 'hours' | 'playing' | 'status'>;
  devices: Pick<Devices, 'list' | 'status' | 'sightings' | 'learn'>;
  peers: Pick<Peers, 'askAll'>;
  takeovers: Pick<Takeovers, 'now' | 'open' | 'isEmergency'>;
  /** What this box contributes. */
  here(): Promise<PeerSite>;
  /** The address of this box for others. */
  url(): string;
}

export type Site = ReturnType<typeof createSite>;

/** Maximum bytes of outdated overviews that slow clients are still reading. */
const MAX_HELD_BYTES = 32 * 1024 ** 2;

/** Displays whose last screen is remembered. */
const MAX_SHOWN = 10_000;

/** Of the last answer of another box: what counts while it is away, for as many boxes as a box can know. */
type Known = Pick<PeerSite, 'name' | 'displays' | 'volume' | 'warnings'>;

export const createSite = (
  { options, version, machineName, ids: { nodeId }, now, tempo }: ServiceContext,
  { content, devices, peers, takeovers, here, url }: Dependencies,
) => {
  const known = new Map<string, Known>();
  /** The screen that a display without a binding showed last, by canonical device id: config.json of its box names it. */
  const shown = new Map<string, string>();
  const held = createHeldBodies(MAX_HELD_BYTES);
  const bodies = new WeakMap<SiteOverview, Buffer>();
  let boxes: ReadonlyMap<string, string> = new Map();
  let kiosks: ReadonlySet<string> = new Set();
  let silent: ReadonlySet<string> = new Set();
  let volumes: ReadonlyMap<string, number> = new Map();

  const learn = (peer: Peer, site: PeerSite): void => {
    const { nodeId: box } = peer;
    const { name, displays, volume, warnings, seen, screens } = site;
    if (box !== null) {
      remember(known, box, { name, displays, volume, warnings }, mostPeers);
      devices.learn(
        screens.flatMap(({ connections }) =>
          connections.flatMap(({ deviceId, lastSeenAt }) =>
            deviceId === null ? [] : [{ deviceId, nodeId: box, at: lastSeenAt }],
          ),
        ),
      );
    }
    devices.learn(seen);
  };

  const boxOf = ({ peer, body: site }: { peer: Peer; body: PeerSite | null }): SiteOverview['boxes'][number] => ({
    nodeId: peer.nodeId,
    name: site?.name ?? known.get(peer.nodeId ?? '')?.name ?? new URL(peer.url).hostname,
    url: peer.url,
    version: peer.state?.version ?? null,
    status: site !== null || peer.alive ? 'alive' : 'away',
    lastSeenAt: peer.contactAt === null ? null : new Date(peer.contactAt).toISOString(),
    warnings: (site ?? known.get(peer.nodeId ?? ''))?.warnings ?? [],
  });

  const round = async (): Promise<SiteOverview> => {
    const [own, { answers, degraded }] = await Promise.all([here(), peers.askAll('boxes.site')]);
    for (const { peer, body } of answers) if (body !== null) learn(peer, body);
    const parts: Part[] = [
      { nodeId, site: own },
      ...answers.flatMap(({ peer, body: site }): Part[] => {
        if (peer.nodeId === null) return [];
        return [{ nodeId: peer.nodeId, site: site ?? known.get(peer.nodeId) ?? { displays: [] } }];
      }),
    ];
    boxes = new Map(
      parts.flatMap(({ nodeId: box, site }) =>
        (site.screens ?? []).flatMap(({ connections }) => connections.map(({ id }) => [id, box] as const)),
      ),
    );
    silent = new Set(answers.flatMap(({ peer, body }) => (body === null && peer.nodeId !== null ? peer.nodeId : [])));
    kiosks = new Set(parts.flatMap(({ site: { displays } }) => displays.map(canonicalDeviceId)));
    volumes = new Map(
      parts.flatMap(({ nodeId: box, site: { volume } }) => (volume === undefined ? [] : [[box, volume] as const])),
    );
    const time = now();
    const sightings = new Map(devices.sightings().map((each) => [canonicalDeviceId(each.deviceId), each]));
    // It has no screen any more.
    for (const { site } of parts)
      for (const { deviceId } of site.waiting ?? []) shown.delete(canonicalDeviceId(deviceId));
    const bindings = devices.list().filter(({ screenSlug }) => screenSlug !== null);
    const screens = siteScreens({
      screens: content.screens().map((screen) => {
        const target = { slug: screen.slug, tags: content.tags(screen.slug) };
        const isInHours = isOpen(content.hours(screen.slug), time, options.timeZone);
        return { screen, tags: target.tags, isOpen: isInHours || takeovers.isEmergency(target) };
      }),
      bindings,
      parts,
      sightingOf: (deviceId) => sightings.get(canonicalDeviceId(deviceId)),
      shownBy: (deviceId) => shown.get(canonicalDeviceId(deviceId)),
    });
    const bound = new Set(bindings.map(({ deviceId }) => canonicalDeviceId(deviceId)));
    for (const { screen, devices: expected } of screens) {
      for (const { deviceId } of expected) {
        const key = canonicalDeviceId(deviceId);
        if (bound.has(key)) shown.delete(key);
        else remember(shown, key, screen.slug, MAX_SHOWN);
      }
    }
    const document = content.playing();
    return {
      site: options.site,
      nodeId,
      timeZone: options.timeZone,
      content: {
        sha256: document?.sha256 ?? null,
        changedAt: document?.changedAt ?? null,
        status: content.status().status,
      },
      boxes: [
        {
          nodeId,
          name: machineName,
          url: url(),
          version,
          status: 'here',
          lastSeenAt: new Date(time).toISOString(),
          warnings: own.warnings,
        },
        ...answers.map(boxOf),
      ],
      screens,
      waiting: waitingDevices(parts, (deviceId) => devices.status(deviceId, '').onboarded),
      takeovers: takeovers.open().map((record) => countDisplays(record, screens)),
      degraded,
    };
  };

  const takeFromRound = createBatcher<SiteOverview>({
    intervalMs: tempo.console.round,
    ask: async ([key = '']) => new Map([[key, await round()]]),
  });
  const take = async (): Promise<SiteOverview> => (await takeFromRound('site')) ?? (await round());

  return {
    /** Resolves with an overview that is not older than the call. */
    take,
    /** The box that a connection is of, as of the last overview; null: not known. */
    boxOf: (connectionId: string): string | null => boxes.get(connectionId) ?? null,
    /** The device ids of the displays of kiosks, canonical, as of the last overview. */
    kiosks: (): ReadonlySet<string> => kiosks,
    /** The node ids of the boxes that gave no answer, as of the last overview. */
    silent: (): ReadonlySet<string> => silent,
    /** By node id: the volume, in percent, as the hardware told last, as of the last overview. */
    volumes: (): ReadonlyMap<string, number> => volumes,
    routes: {
      'GET /console/api/site': async (ctx) => {
        const overview = await take();
        const time = new Date(takeovers.now()).toISOString();
        const body = bodies.get(overview) ?? Buffer.from(JSON.stringify({ ...overview, now: time }));
        bodies.set(overview, body);
        ctx.type = 'json';
        held.add(body, ctx.res);
        ctx.body = body;
      },
      'GET /api/peers/site': async (ctx) => {
        ctx.body = await here();
      },
    } satisfies Routes,
  };
};
