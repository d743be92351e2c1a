/** Opens the modules of the service in order, and joins them to one service. */
import { createAtBox } from './at-box.ts';
import { openAccess, openLocalToken } from './auth/index.ts';
import { createAuthority } from './authority/index.ts';
import { createClock } from './clock/index.ts';
import { createConsole } from './console/index.ts';
import { createContent } from './content/index.ts';
import { createContext, type Ports } from './context.ts';
import { openData } from './data.ts';
import { createDeviceProofs, createDevices } from './devices/index.ts';
import { createDrafts } from './drafts/index.ts';
import { createFeeds } from './feeds/index.ts';
import { createHealth } from './health/index.ts';
import { openHttp } from './http/open.ts';
import { createMedia } from './media/index.ts';
import { createModules } from './module.ts';
import { createPages } from './pages/index.ts';
import { createPeers } from './peers/index.ts';
import { createPeople } from './people/index.ts';
import type { Closers } from './platform/closers.ts';
import type { Options } from './platform/options/index.ts';
import { createRecords } from './records/index.ts';
import { type OnRenewal, type Service, startRenewable, watchRenewals } from './renewal.ts';
import { createScreens } from './screens/index.ts';
import { createSecrets } from './secrets/index.ts';
import { createShared } from './shared/index.ts';
import { createStreams } from './streams/index.ts';
import { createTakeovers } from './takeovers/index.ts';
import { createTriggers } from './triggers/index.ts';
import { createUpdates } from './updates/index.ts';

export type { Ports } from './context.ts';
export type { Service } from './renewal.ts';

const open = async (given: Options, ports: Ports, closers: Closers, onRenewal: OnRenewal): Promise<Service> => {
  const { lock, reserve, own, stored, options } = await openData(given, ports, closers);
  const context = createContext(options, ports, { nodeId: own.nodeId, reserve }, closers);
  const proofs = createDeviceProofs(context, stored);

  const modules = createModules(closers);
  const { add } = modules;
  const shared = await createShared(context);
  const authority = add(await createAuthority(context, { shared }));
  const people = add(await createPeople(context, { shared, authority }));
  const [access, isLocal] = [await openAccess(context, people.keyring), await openLocalToken(context)];
  const feeds = add(await createFeeds(context));
  const takeovers = add(await createTakeovers(context));
  const drafts = add(await createDrafts(context));
  const triggers = add(await createTriggers(context, shared));
  const secrets = add(await createSecrets(context, shared));
  const kept = { takeovers, drafts, triggers, people, secrets };
  const content = add(await createContent(context, { feeds, takeovers, triggers, secrets }));
  const media = add(await createMedia(context, { content, feeds, shared }));
  const streams = add(await createStreams(context, { content }));
  const peers = add(await createPeers(context, { content, media, devices: stored, takeovers, drafts, shared }));
  const clock = add(createClock(context, { peers, media, content, feeds, devices: stored, shared, ...kept }));
  const screens = add(createScreens(context, { content, peers, clock, devices: stored, proofs }));
  const devices = add(await createDevices(context, { stored, proofs, content, peers, screens }));
  const trust = { authority, pageToken: access.pageToken, securePort: () => https?.port() ?? null };
  const pages = add(await createPages(context, { content, screens, devices, proofs, ...trust }));
  add(createUpdates(context));
  const shown = { content, media, streams, peers, screens, devices, proofs, clock };
  const records = add(await createRecords(context, { modules, ...shown }));
  const health = add(createHealth(context, modules, screens));
  if (options.fleetUrl !== null) {
    const { createFleet } = await import('./fleet/index.ts');
    add(await createFleet(context, { summary: health.summary, content, screens, peers, records, secrets }));
  }
  const https = options.https
    ? add((await import('./https/index.ts')).createHttps(context, { authority, peers }))
    : null;
  const box = add(createConsole(context, { content, media, peers, screens, devices, health, records, https, ...kept }));
  if (options.mqttUrl !== null)
    add((await import('./mqtt/index.ts')).createMqtt(context, { box, screens, takeovers, peers, records }));

  const server = await openHttp(context, {
    access,
    audit: records.audit,
    routes: modules.routes(),
    sockets: modules.sockets(),
    answerOpen: screens.answerOpen,
    securePort: trust.securePort,
    sendMissing: pages.sendMissing,
    onDevice: devices.saw,
    isLocal,
    watchKey: people.watchKey,
  });
  const { port, url } = closers.active(server);
  closers.active(watchRenewals(context, { peers, devices, records }, { ...own, port, onRenewal }));
  const isEmergency = (slug: string): boolean => takeovers.isEmergency({ slug, tags: content.tags(slug) });
  await modules.start(server);
  await lock.announce(url);

  return {
    url,
    nodeId: own.nodeId,
    timeZone: () => options.timeZone,
    screens: content.screens,
    hours: (slug) => (isEmergency(slug) ? null : content.hours(slug)),
    isEmergency,
    updateFeeds: peers.updateFeeds,
    beginUpdate: records.beginUpdate,
    screenOf: (deviceId) => devices.status(deviceId, url).screenSlug,
    pageHeaders: secrets.get,
    sessionPages: content.sessionPages,
    rootFingerprint: () => authority.shown()?.root.fingerprint256 ?? null,
    protect: box.protect,
    recover: box.recover,
    ...createAtBox({ records, devices, screens, box }, { url, nodeId: own.nodeId }),
    close: closers.close,
  };
};

/**
 * Starts the player service. A failed start closes everything it opened and can be retried.
 * @throws OptionsError if a folder cannot be created, or the address does not belong to this machine; an Error with a
 *   message for the operator where the port or the data directory is in use; the system error where a folder is not writable
 */
export const startService = (options: Options, ports: Ports): Promise<Service> =>
  startRenewable(options, ports.log, (given, closers, onRenewal) => open(given, ports, closers, onRenewal));
