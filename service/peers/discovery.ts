/** DNS-SD (RFC 6763) over multicast DNS: announces this box on the LAN and finds candidates for peers. */
import type { EventEmitter } from 'node:events';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Bonjour, type Browser, type Service } from 'bonjour-service';
import type { Logger } from 'pino';
import { mostPeers } from '../contract/peers.ts';
import { advertisedUrls, serviceType as type } from '../domain/advertised.ts';
import type { Registry } from './peer.ts';

interface Dependencies {
  log: Logger;
  registry: Pick<Registry, 'addCandidate' | 'goodbye'>;
  /** Default: the machine's. */
  interfaces?: () => NodeJS.Dict<NetworkInterfaceInfo[]>;
}

interface Options {
  nodeId: string;
  site: string;
  /** Version of the program. */
  version: string;
  /** Port on which this box listens. */
  port: number;
  /** False if this box listens on the loopback interface only: it then browses without announcing itself. */
  announces: boolean;
}

export interface Discovery {
  /** Announces the goodbye; resolves within half a second. */
  close(): Promise<void>;
}

/** Interval at which the network interfaces are polled. */
const POLL_MS = 2_000;
/** The pause between queries doubles from the first to the last value (RFC 6762, 5.2). */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 300_000;
const GOODBYE_MS = 500;
/** Services accepted per query; further announcements are ignored. */
const MAX_SERVICES = mostPeers;

/** The IPv4 addresses of this machine. Multicast DNS uses IPv4 only. */
const ownAddresses = (interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>): string[] =>
  Object.values(interfaces)
    .flatMap((infos = []) => infos.filter(({ family, internal }) => family === 'IPv4' && !internal))
    .map(({ address }) => address)
    .toSorted();

/** Multicast DNS in one network. */
interface Link {
  address: string;
  query(): void;
  close(): Promise<void>;
}

export const startDiscovery = (
  { log, registry, interfaces = networkInterfaces }: Dependencies,
  { nodeId, site, version, port, announces }: Options,
): Discovery => {
  let links: Link[] = [];
  let pause = FIRST_PAUSE_MS;
  let queryTimer: NodeJS.Timeout | undefined;

  const onService = (service: Service): void => {
    const txt: unknown = service.txt;
    const { id, site: theirs } = (txt ?? {}) as { id?: unknown; site?: unknown };
    if (theirs !== site || typeof id !== 'string') return;
    const isOwn = ownAddresses(interfaces()).includes(service.referer?.address ?? '');
    if (id === nodeId && isOwn) return;
    for (const url of advertisedUrls(service)) registry.addCandidate(url, 'discovered');
  };

  const open = (address: string): Link => {
    // Bound to the network by its address, since a route to the multicast group may be missing there.
    const bonjour = new Bonjour(
      { interface: address, bind: '0.0.0.0' } as ConstructorParameters<typeof Bonjour>[0],
      (error: Error) => log.debug({ err: error, address }, 'an answer by multicast DNS failed'),
    );
    // An unhandled error would end the process, and the library has no other way to handle it.
    const { mdns } = (bonjour as unknown as { server: { mdns: EventEmitter } }).server;
    mdns.on('error', (error) => {
      log.warn({ err: error, address }, 'DNS-SD finds no peers on this address: UDP port 5353 is not available');
    });
    mdns.on('warning', (error) => log.debug({ err: error, address }, 'ignored an invalid multicast DNS message'));
    if (announces) {
      const host = `signage-${nodeId}.local`;
      const txt = { id: nodeId, site, v: version };
      bonjour.publish({ name: `signage-player-${nodeId}`, type, port, host, txt, probe: false, disableIPv6: true });
    }
    let browser: Browser | undefined;
    return {
      address,
      // A new browser each time: an old one does not report known services again, even if their addresses changed.
      query: () => {
        browser?.stop();
        browser?.removeAllListeners();
        const current = bonjour.find({ type }, (service) => {
          if (current.services.length > MAX_SERVICES) current.stop();
          else onService(service);
        });
        current.on('down', (service) => {
          for (const url of advertisedUrls(service)) registry.goodbye(url);
        });
        browser = current;
      },
      close: async () => {
        browser?.stop();
        const sent = new Promise<void>((resolve) => bonjour.unpublishAll(() => resolve()));
        await Promise.race([sent, delay(GOODBYE_MS, undefined, { ref: false })]);
        await new Promise<void>((resolve) => bonjour.destroy(() => resolve()));
      },
    };
  };

  const query = (): void => {
    for (const link of links) link.query();
    queryTimer = setTimeout(query, pause * (1 + Math.random() / 5));
    queryTimer.unref();
    pause = Math.min(2 * pause, LAST_PAUSE_MS);
  };

  const closeAll = async (): Promise<void> => {
    const closed = await Promise.allSettled(links.map((link) => link.close()));
    for (const { reason } of closed.filter((each) => each.status === 'rejected')) {
      log.debug({ err: reason }, 'a multicast socket could not be closed');
    }
  };

  let known = '';
  /** Restarts discovery when the addresses of this machine change, since the announced addresses are outdated. */
  const poll = (): void => {
    const addresses = ownAddresses(interfaces());
    if (addresses.join() === known) return;
    known = addresses.join();
    log.info({ addresses }, 'peers are looked for by DNS-SD');
    void closeAll();
    links = addresses.map(open);
    pause = FIRST_PAUSE_MS;
    clearTimeout(queryTimer);
    query();
  };
  poll();
  const polling = setInterval(poll, POLL_MS);
  polling.unref();

  return {
    close: async () => {
      clearInterval(polling);
      clearTimeout(queryTimer);
      await closeAll();
    },
  };
};
