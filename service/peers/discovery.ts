/** DNS-SD (RFC 6763) over multicast DNS: announces this box on the LAN and finds candidates for peers. */
import type { EventEmitter } from 'node:events';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Bonjour, type Browser, type Service } from 'bonjour-service';
import { mostPeers } from '../contract/peers.ts';
import { advertisedUrls, serviceType as type } from '../domain/advertised.ts';
import { multicastAddresses } from '../domain/lan-address.ts';
import { listensAlone } from '../domain/network-scope.ts';
import type { ServiceContext } from '../module.ts';
import type { Registry } from './registry.ts';

type Context = Pick<ServiceContext, 'options' | 'version' | 'log' | 'ids' | 'tempo'>;

export type Discovery = ReturnType<typeof startDiscovery>;

/** Services accepted per query; further announcements are ignored. */
const MAX_SERVICES = mostPeers;

interface Link {
  address: string;
  query(): void;
  close(): Promise<void>;
}

/** @param port on which this box listens */
export const startDiscovery = (
  { options: { host, site }, version, log, ids: { nodeId, instance }, tempo: { peers: tempo } }: Context,
  registry: Pick<Registry, 'addCandidate' | 'goodbye'>,
  port: number,
) => {
  // A box that listens on the loopback interface only browses without announcing itself.
  const announces = !listensAlone(host);
  let links: Link[] = [];
  let pause = tempo.query;
  let queryTimer: NodeJS.Timeout | undefined;

  const onService = (service: Service): void => {
    const txt: unknown = service.txt;
    const { id, site: theirs } = (txt ?? {}) as { id?: unknown; site?: unknown };
    if (theirs !== site || typeof id !== 'string') return;
    const isOwn = multicastAddresses(networkInterfaces()).includes(service.referer?.address ?? '');
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
      // Browsers report each name once, and of boxes of a copied disk each would hear its own answer only.
      const name = `signage-${instance}.local`;
      const txt = { id: nodeId, site, v: version };
      bonjour.publish({
        name: `signage-player-${instance}`,
        type,
        port,
        host: name,
        txt,
        probe: false,
        disableIPv6: true,
      });
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
        await Promise.race([sent, delay(tempo.goodbye, undefined, { ref: false })]);
        await new Promise<void>((resolve) => bonjour.destroy(() => resolve()));
      },
    };
  };

  const query = (): void => {
    for (const link of links) link.query();
    queryTimer = setTimeout(query, pause * (1 + Math.random() / 5));
    queryTimer.unref();
    pause = Math.min(2 * pause, tempo.maxQuery);
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
    const addresses = multicastAddresses(networkInterfaces());
    if (addresses.join() === known) return;
    known = addresses.join();
    log.info({ addresses }, 'peers are looked for by DNS-SD');
    void closeAll();
    links = addresses.map(open);
    pause = tempo.query;
    clearTimeout(queryTimer);
    query();
  };
  poll();
  const polling = setInterval(poll, tempo.interfaces);
  polling.unref();

  return {
    /** Announces the goodbye; resolves soon. */
    close: async (): Promise<void> => {
      clearInterval(polling);
      clearTimeout(queryTimer);
      await closeAll();
    },
  };
};
