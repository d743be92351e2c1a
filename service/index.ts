/** Wires the modules of the service: each receives only what it needs. */
import { randomUUID } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import { createAccess } from './auth/access.ts';
import { openReplayGuard } from './auth/replay.ts';
import { syncRoutes } from './clock/routes.ts';
import { createSync } from './clock/sync.ts';
import { createEditing } from './console/editing.ts';
import { createOperating } from './console/operating.ts';
import { openContent } from './content/content.ts';
import { contentIssues } from './content/health.ts';
import { openLastKnownGood } from './content/last-known-good.ts';
import type { OpeningTime } from './contract/content.ts';
import type { KioskHealth } from './contract/health.ts';
import type { Screen } from './contract/playlist.ts';
import { deviceIssues } from './devices/health.ts';
import { createLanding } from './devices/landing.ts';
import { createOnboarding } from './devices/onboarding.ts';
import { createPresence } from './devices/presence.ts';
import { createOnboardingRoutes } from './devices/routes.ts';
import { createSightings } from './devices/sightings.ts';
import { createStore } from './devices/store.ts';
import { countBy } from './domain/counts.ts';
import { listensAlone } from './domain/network-scope.ts';
import { openCache } from './feeds/cache.ts';
import { createFeeds } from './feeds/feeds.ts';
import { createFetch } from './feeds/fetch.ts';
import { feedIssues } from './feeds/health.ts';
import { createReader } from './feeds/reader.ts';
import { createHealth } from './health/index.ts';
import { createAdmission } from './http/admission.ts';
import { createApp } from './http/app.ts';
import { createOwnAuthority } from './http/authority.ts';
import { createClientAddress } from './http/client-address.ts';
import { createGate } from './http/gate.ts';
import { listen } from './http/server.ts';
import { createCatalog } from './media/catalog.ts';
import { createCopies } from './media/copies/copies.ts';
import { openLedger } from './media/copies/ledger.ts';
import { copyRoutes } from './media/copies/routes.ts';
import { createDownloads } from './media/downloads.ts';
import { createFolders } from './media/folders.ts';
import { createHasher } from './media/hasher.ts';
import { createLibrary } from './media/library.ts';
import { createStorageQuota } from './media/quota.ts';
import { mediaRoutes } from './media/routes.ts';
import { removeShadowedUpload } from './media/shadowed.ts';
import { createModules, type ServiceContext } from './module.ts';
import { frameRoutes } from './pages/frame-routes.ts';
import { createFrames } from './pages/frames.ts';
import { createPages } from './pages/pages.ts';
import { createCaller } from './peers/call.ts';
import { createAskForConnections } from './peers/connections.ts';
import type { Discovery } from './peers/discovery.ts';
import { openEvictableMedia } from './peers/evictable.ts';
import { peerIssues } from './peers/health.ts';
import { createMediaReplication } from './peers/media-replication.ts';
import { createMissingMedia } from './peers/missing-media.ts';
import { createRegistry } from './peers/registry.ts';
import { createReplication } from './peers/replication.ts';
import { peerRoutes } from './peers/routes.ts';
import { createGather } from './peers/scatter-gather.ts';
import { createOwnState } from './peers/state.ts';
import { type Closers, createClosers } from './platform/closers.ts';
import { type Options, refusal } from './platform/options/index.ts';
import { createGet } from './platform/outbound/get.ts';
import { createTurns } from './platform/outbound/limiter.ts';
import { createSourceLogs } from './platform/source-log.ts';
import { makeFolder } from './platform/store/folder.ts';
import { lockFolder } from './platform/store/lock.ts';
import { createRecords } from './records/index.ts';
import { createCommands } from './screens/commands.ts';
import { createHub } from './screens/hub.ts';
import { createReports } from './screens/reports.ts';
import { createScreenRoutes } from './screens/routes.ts';
import { createSnapshot } from './screens/snapshot.ts';
import { createFfmpeg } from './streams/ffmpeg.ts';
import { createOrphans } from './streams/orphans.ts';
import { createPermission } from './streams/permission.ts';
import { streamRoutes } from './streams/routes.ts';
import { createSessions } from './streams/sessions.ts';
import { updateRoutes } from './updates/routes.ts';

/** What the service needs from its host. */
export interface Ports {
  log: Logger;
  /** The newest lines of the log, oldest first; absent: none are kept. */
  logLines?: () => readonly string[];
  /** Folder of the built renderer. */
  rendererDir: string;
  /** Folder of the shipped demo content and other resources. */
  resourcesDir: string;
  /** The wall clock, ms since the epoch; default: Date.now. */
  wall?: () => number;
  /** State of the displays for /healthz; absent where there are none. */
  kiosk?: () => KioskHealth;
}

export interface Service {
  /** The base URL of the service on this machine. */
  url: string;
  /** The id of the box, stored in its data directory. */
  nodeId: string;
  /** The current screens. */
  screens(): Screen[];
  /** The opening times of a screen, in the time zone of the site; null: always open. */
  hours(slug: string): readonly OpeningTime[] | null;
  /** Base URLs of the release folders on the reachable peers. */
  updateFeeds(): string[];
  /** The slug of the screen that a device is bound to; null: not bound, or the screen was deleted. */
  screenOf(deviceId: string): string | null;
  /** Binds a device to a screen, as onboarding does. @throws CodedError as onboarding does */
  bind(deviceId: string, screenSlug: string): Promise<void>;
  /**
   * Stops the service in order: listening, sockets, stores. Takes at most 5 s unless the disk hangs.
   */
  close(): Promise<void>;
}

/**
 * Starts the player service. A failed start closes everything it opened and can be retried.
 * @throws OptionsError where a folder cannot be created, or the address does not belong to this machine; an Error with a
 *   message for the operator where the port or the data directory is in use; the system error where a folder is not writable
 */
export const startService = async (options: Options, ports: Ports): Promise<Service> => {
  const closers = createClosers(ports.log);
  try {
    return await wire(options, ports, closers);
  } catch (error) {
    await closers.close();
    throw error;
  }
};

/** @throws OptionsError */
const makeFolders = async (options: Options): Promise<void> => {
  for (const name of ['dataDir', 'uploadDir', 'mediaDir'] as const) {
    await makeFolder(options[name]).catch((error: NodeJS.ErrnoException) => {
      throw refusal(name, options[name], `a folder that can be made (${error.code})`);
    });
  }
};

const wire = async (
  options: Options,
  { log, logLines = () => [], rendererDir, resourcesDir, kiosk, wall = Date.now }: Ports,
  closers: Closers,
): Promise<Service> => {
  const { active, lasting, close } = closers;
  const modules = createModules(closers);
  const startedAt = new Date();
  const startedAtMonotonic = performance.now();
  const logs = createSourceLogs(log);
  for (const warning of options.warnings) log.warn(warning);
  const { dataDir, uploadDir, mediaDir, site, timeZone, variant, childEnvironment: environment } = options;
  const { version } = packageJson;
  const monotonicNow = (): number => performance.now();

  // Stored state, feeds and content.
  await makeFolders(options);
  lasting(await lockFolder({ dataDir, environment, log }));
  const store = lasting(await createStore({ dataDir, log }));
  const { nodeId, devices } = store;
  const lastKnownGood = lasting(await openLastKnownGood({ dataDir, log }));
  const get = createGet();
  const instance = randomUUID();
  const machineName = hostname();
  const { publicUrl } = options;
  const names = { machineName, publicUrl, allowedHosts: options.allowedHosts };
  const isOwnAuthority = createOwnAuthority(names, networkInterfaces);
  const clientAddress = createClientAddress(options.trustProxy);
  const context: ServiceContext = {
    options,
    version,
    startedAt,
    log,
    logs,
    now: wall,
    monotonicNow,
    ids: { nodeId, instance },
    dirs: { data: dataDir, uploads: uploadDir, media: mediaDir, renderer: rendererDir, resources: resourcesDir },
    machineName,
    get,
    clientAddress,
    isOwnAuthority,
    kiosk,
    keep: lasting,
  };
  const cache = await openCache({ dataDir, log });
  const turns = createTurns({ total: 8, perHost: 2, gapMs: 1_000 });
  const feeds = lasting(createFeeds({ cache, fetch: createFetch(get), reader: createReader(), turns, logs }));
  const demoDir = join(resourcesDir, 'demo');
  const content = lasting(
    await openContent({ lastKnownGood, feeds, nodeId, log }, { dataDir, mediaDir, demoDir, variant, timeZone }),
  );

  // Peers.
  const caller = createCaller({ secret: options.sharedSecret, now: wall });
  // The baseline variant has no peers.
  const staticPeers = variant === 'extended' ? options.peers : [];
  const peers = active(createRegistry({ logs, caller }, { nodeId, instance, site, staticPeers }));
  const gather = createGather(peers, nodeId);
  const sync = active(createSync({ log, peers, wall }, { nodeId }));

  // Screens and devices.
  const reports = createReports({ logs, slideOf: content.slide });
  const hub = active(
    createHub({
      logs,
      reports,
      revisionOf: (slug) => content.payload(slug)?.revision,
      nameOf: (deviceId) => devices.get(deviceId)?.clientName ?? null,
      siteTime: sync.now,
      onSkew: sync.onSkew,
    }),
  );
  const landing = active(createLanding(logs));
  content.onChange(hub.broadcastRevisions);
  content.onChange(reports.contentChanged);
  const presence = active(createPresence({ hub, devices, peers, content, wall, steady: monotonicNow }, { timeZone }));
  content.onChange(landing.refresh);
  const askPeers = createAskForConnections({ peers, nodeId });
  const takeSnapshot = createSnapshot({ hub, peers, askPeers });
  const frames = createFrames({ isNamed: content.namesPage, get, monotonicNow });
  const commands = createCommands({
    hub,
    rename: devices.rename,
    takeSnapshot,
    gather,
    onRefresh: () => void peers.refresh(),
    onRedirect: frames.allow,
  });
  const sightings = createSightings({ devices, hub, landing, peers, gather });
  const onboarding = createOnboarding({ devices, content, hub, landing, sightings, gather });
  const replication = createReplication({ log, logs, peers, content, devices, follow: onboarding.follow });

  // Media: local files, copies of remote media, and files replicated from peers.
  const hasher = lasting(createHasher());
  const served = [uploadDir, mediaDir];
  const copiesDir = join(mediaDir, 'copies');
  const folders = createFolders([...served, copiesDir]);
  const catalog = lasting(createCatalog({ path: join(dataDir, 'media.json'), served, folders, hasher, log }));
  const ledger = lasting(await openLedger({ path: join(dataDir, 'copies.json'), folder: copiesDir, folders, log }));
  const evictable = lasting(
    await openEvictableMedia({ path: join(dataDir, 'mirrored.json'), mediaDir, folders, content, log }),
  );
  const storage = createStorageQuota({
    folders,
    quota: options.mediaQuotaBytes,
    evict: async (bytes) => ledger.evict(bytes - (await evictable.evict(bytes))),
  });
  const requireRoom = (wanted: number): Promise<void> => storage.require(mediaDir, wanted);
  const limit = options.maxUploadBytes;
  const downloads = active(await createDownloads({ mediaDir, limit, get, hasher, requireRoom, folders, catalog }));
  const mediaReplication = active(
    createMediaReplication({
      logs,
      peers,
      content,
      catalog,
      downloads,
      evictable,
      removeShadowedUpload: async (name) => {
        await removeShadowedUpload(options, name);
        await folders.changed(join(uploadDir, name));
      },
      onArrival: () => hub.sendToAll({ type: 'command', command: 'refresh' }),
    }),
  );
  const missingMedia = active(createMissingMedia({ log, content, mediaReplication }));
  const library = await createLibrary({
    ...options,
    folders,
    hasher,
    catalog,
    storage,
    newest: mediaReplication.newest,
    log,
  });
  const copies = active(createCopies({ content, feeds, ledger, downloads, storage, hasher, logs }));

  // Streams.
  const ffmpeg = createFfmpeg({ environment }, options);
  const orphans = createOrphans({ log, environment }, options);
  const streams = active(await createSessions({ log, ffmpeg, orphans, environment }, options));

  // HTTP.
  const gate = createGate(names);
  const guard =
    options.sharedSecret === null ? null : lasting(await openReplayGuard({ dataDir, log, now: wall, monotonicNow }));
  const access = createAccess({
    secret: options.sharedSecret,
    previous: options.sharedSecretPrevious,
    pageTokenSeconds: options.pageTokenSeconds,
    guard,
    now: wall,
    log,
  });
  const screens = createScreenRoutes({
    content,
    hub,
    takeSnapshot,
    commands,
    clientAddress,
    isOwnAuthority,
    variant,
  });
  const onboardingRoutes = createOnboardingRoutes(
    { onboarding, landing, sightings, content, clientAddress, mediaProgress: mediaReplication.progress },
    { publicUrl, host: options.host, machineName },
  );
  const pages = await createPages(
    { content, pageToken: access.pageToken, wayToForm: onboardingRoutes.wayToForm, onFormOpened: landing.opened },
    { rendererDir, timeZone, variant, hasSecret: options.sharedSecret !== null },
  );
  const uptime = (): number => monotonicNow() - startedAtMonotonic;
  modules.add({
    health: async () => {
      const isEmpty = content.screens().length === 0;
      const status = content.status();
      const media = mediaReplication.health();
      const feedHealth = feeds.health();
      const boxes = peers.health();
      const program = await ffmpeg.find();
      return {
        fields: {
          content: { ...status, warnings: await content.warnings() },
          ...feedHealth,
          peers: boxes,
          ffmpeg: program,
          connections: hub.count(),
          copies: copies.status(),
          replication: { ...(await replication.health()), media },
          ...reports.describe(),
          sync: sync.health(),
        },
        issues: {
          content: contentIssues(status, !isEmpty),
          devices: deviceIssues(presence.away()),
          boxes: peerIssues(boxes, uptime()),
          feeds: feedIssues(feedHealth),
          streams: program === null ? ['ffmpeg is missing, so there are no streams.'] : [],
        },
        isFailing: isEmpty,
        notes: reports.missingGlyphs(),
        contentWarnings: missingMedia.warnings(),
      };
    },
  });
  const ownState = createOwnState(
    { peers, replication, mediaReplication, presence },
    { nodeId, instance, site, version },
  );
  const connections = (slugs: readonly string[] | null) =>
    (slugs ?? content.screens().map(({ slug }) => slug)).map((slug) => ({ slug, connections: hub.snapshot(slug) }));
  let discovery: Discovery | undefined;
  modules.add({
    routes: peerRoutes({
      registry: peers,
      state: ownState,
      connections,
      replication,
      mediaReplication,
      isKnownHere: sightings.isKnownHere,
    }),
    start: async ({ port }) => {
      peers.start(port);
      // Peers do not know yet what was edited while this box was off.
      void peers.settled().then(peers.announce);
      // Finds files that were added to the folders while the service was not running.
      void mediaReplication.scan();
      if (!options.discovery || variant === 'baseline') return;
      // Loaded on demand: a box without discovery starts faster.
      const { startDiscovery } = await import('./peers/discovery.ts');
      const announces = !listensAlone(options.host);
      discovery = startDiscovery({ log, registry: peers }, { nodeId, site, version, port, announces });
    },
    close: () => discovery?.close(),
  });
  modules.add({ routes: syncRoutes(sync), start: sync.start });
  modules.add(screens);
  modules.add(onboardingRoutes);
  modules.add(pages);
  modules.add({ routes: mediaRoutes(library) });
  modules.add({ routes: copyRoutes(copies) });
  modules.add({ routes: frameRoutes(frames) });
  modules.add({
    routes: streamRoutes(
      streams,
      createPermission({ named: content.streams, hasSecret: options.sharedSecret !== null }),
    ),
  });
  modules.add({ routes: updateRoutes({ dataDir }) });
  modules.add(createEditing({ content, missingMedia, catalog, folders, quota: options.mediaQuotaBytes }));
  modules.add(createOperating(context, { content, devices, onboarding, takeSnapshot, logLines }));
  modules.add({
    metrics: async () => {
      const files = await folders.read();
      const bytesIn = (folder: string): number =>
        [...(files.get(folder)?.values() ?? [])].reduce((sum, { size }) => sum + size, 0);
      const { expected, connected } = presence.counts();
      const connectionCounts = hub.counts();
      return {
        signage_devices_expected: expected,
        signage_devices_connected: connected,
        signage_screen_connections: Object.fromEntries(
          content.screens().map(({ slug }) => [slug, connectionCounts.get(slug) ?? 0]),
        ),
        signage_commands_total: commands.counts(),
        signage_peers: countBy(peers.health().map(({ state }) => state)),
        signage_sync_skew_seconds: (sync.health().swaps?.p95 ?? 0) / 1000,
        signage_stream_sessions: countBy(streams.phases()),
        signage_stream_restarts_total: streams.restarts(),
        signage_feed_fetches_total: { ...feeds.fetches() },
        signage_media_bytes: {
          uploads: bytesIn(uploadDir),
          copies: bytesIn(copiesDir),
          peers: mediaDir === uploadDir ? 0 : bytesIn(mediaDir),
        },
        signage_content_valid: Number(content.status().status === 'ok'),
      };
    },
    states: {
      content: () => {
        const { sha256, changedAt } = content.playing() ?? {};
        return sha256 === undefined ? null : { sha256, changedAt };
      },
      device: (deviceId) => {
        const { clientName, screenSlug } = devices.get(deviceId) ?? {};
        return clientName === undefined ? null : { clientName, screenSlug };
      },
      medium: async (name) => {
        const files = await folders.read();
        for (const folder of served) {
          const found = files.get(folder)?.get(name);
          if (found === undefined) continue;
          return { size: found.size, sha256: catalog.hashOf(join(folder, name), found) ?? null };
        }
        return null;
      },
    },
  });
  const { audit } = modules.add(createRecords(context, { modules, reports, gather }));
  modules.add(createHealth(context, modules));

  const { admit, admitSocket } = createAdmission({
    access,
    clientAddress,
    variant,
    onRefused: audit.onRefused,
    socketHandlers: modules.sockets(),
  });
  const hasConsole = options.console && variant === 'extended';
  const app = createApp({
    logs,
    gate,
    clientAddress,
    variant,
    console: hasConsole,
    audit,
    nodeId,
    admit,
    onDevice: sightings.saw,
    sendMissing: pages.sendMissing,
    routers: modules.routes(),
  });
  const { port, url, ...server } = await listen({ log, gate, app, payload: screens.openPayload, admitSocket }, options);
  active(server);
  await modules.start({ port, url });

  return {
    url,
    nodeId,
    screens: content.screens,
    hours: content.hours,
    updateFeeds: () => peers.alive().map((peer) => `${peer.url}/updates/`),
    screenOf: (deviceId) => onboarding.status(deviceId, url).screenSlug,
    bind: async (deviceId, screenSlug) => {
      const clientName = devices.get(deviceId)?.clientName ?? content.payload(screenSlug)?.screen.name ?? screenSlug;
      const rule = { action: 'device.bind', subject: 'device', id: 'deviceId' } as const;
      const change = await audit.begin(rule, { params: { deviceId }, operator: null, address: null });
      await onboarding.bind({ deviceId, clientName, screenSlug }, url, false, logs('kiosk'));
      await change.end('ok');
    },
    close,
  };
};
