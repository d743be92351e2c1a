/** DNS-SD (RFC 6763) over multicast DNS: tells the LAN of this box, and hears of others. What is heard is only a hint. */
import type { EventEmitter } from 'node:events';
import { isIPv4 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Bonjour, type Browser, type Service } from 'bonjour-service';
import type { Logger } from 'pino';
import { isSiteAddress } from '../domain/network-scope.ts';
import type { Registry } from './registry.ts';

interface Dependencies {
  log: Logger;
  registry: Pick<Registry, 'hint' | 'goodbye'>;
  /** Default: the machine's. */
  interfaces?: () => NodeJS.Dict<NetworkInterfaceInfo[]>;
}

interface Options {
  nodeId: string;
  site: string;
  /** Of the program. */
  version: string;
  /** Where this box listens. */
  port: number;
  /** False: it listens where no other machine gets to, and only hears. */
  announces: boolean;
}

export interface Discovery {
  /** Says goodbye; resolves within half a second. */
  close(): Promise<void>;
}

/** How often the interfaces are looked at. */
const LOOK_MS = 2_000;
/** The pause after which it is asked again who is there doubles, from the first to the last (RFC 6762, 5.2). */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 300_000;
const GOODBYE_MS = 500;
/** Of one announcement. */
const MOST_ADDRESSES = 4;
/** Of one answer round; whoever announces more is not heard. */
const MOST_SERVICES = 256;

const type = 'signage-player';

/** The addresses that this machine has in its networks. IPv4: a link has it, or multicast DNS has nobody to talk to. */
const ownAddresses = (interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>): string[] =>
  Object.values(interfaces)
    .flatMap((infos = []) => infos.filter(({ family, internal }) => family === 'IPv4' && !internal))
    .map(({ address }) => address)
    .toSorted();

/**
 * Where a service may be: where its announcement came from, and, since that may be a reflector, what it says itself, as
 * long as that is no way to have the boxes of a site ask somebody in the Internet.
 */
const urlsOf = ({ referer, addresses = [], port }: Service): string[] =>
  [
    ...new Set([
      ...(referer === undefined ? [] : [referer.address]),
      ...addresses.filter((each) => isIPv4(each) && isSiteAddress(each)),
    ]),
  ]
    .slice(0, MOST_ADDRESSES)
    .map((address) => `http://${address}:${port}`);

/** Multicast DNS in one network. */
interface Link {
  address: string;
  ask(): void;
  close(): Promise<void>;
}

export const startDiscovery = (
  { log, registry, interfaces = networkInterfaces }: Dependencies,
  { nodeId, site, version, port, announces }: Options,
): Discovery => {
  let links: Link[] = [];
  let pause = FIRST_PAUSE_MS;
  let asking: NodeJS.Timeout | undefined;

  const hear = (service: Service): void => {
    const txt: unknown = service.txt;
    const { id, site: theirs } = (txt ?? {}) as { id?: unknown; site?: unknown };
    if (theirs !== site || typeof id !== 'string') return;
    const isOwn = ownAddresses(interfaces()).includes(service.referer?.address ?? '');
    if (id === nodeId && isOwn) return;
    for (const url of urlsOf(service)) registry.hint(url, 'announced');
  };

  const open = (address: string): Link => {
    // Bound to the network by its address, since a route to the multicast group may be missing there.
    const bonjour = new Bonjour(
      { interface: address, bind: '0.0.0.0' } as ConstructorParameters<typeof Bonjour>[0],
      (error: Error) => log.debug({ err: error, address }, 'an answer by multicast DNS failed'),
    );
    // What it reports here would else end the process, and the library has no way of its own to ask for it.
    const { mdns } = (bonjour as unknown as { server: { mdns: EventEmitter } }).server;
    mdns.on('error', (error) => {
      log.warn({ err: error, address }, 'no peers are found here by DNS-SD: UDP port 5353 is not to be had');
    });
    mdns.on('warning', (error) => log.debug({ err: error, address }, 'a message by multicast DNS was not understood'));
    if (announces) {
      const host = `signage-${nodeId}.local`;
      const txt = { id: nodeId, site, v: version };
      bonjour.publish({ name: `signage-player-${nodeId}`, type, port, host, txt, probe: false, disableIPv6: true });
    }
    let browser: Browser | undefined;
    return {
      address,
      // Each time with an empty memory: known services would not be told of again, whatever their addresses are by now.
      ask: () => {
        browser?.stop();
        browser?.removeAllListeners();
        const asked = bonjour.find({ type }, (service) => {
          if (asked.services.length > MOST_SERVICES) asked.stop();
          else hear(service);
        });
        asked.on('down', (service) => {
          for (const url of urlsOf(service)) registry.goodbye(url);
        });
        browser = asked;
      },
      close: async () => {
        browser?.stop();
        const said = new Promise<void>((resolve) => bonjour.unpublishAll(() => resolve()));
        await Promise.race([said, delay(GOODBYE_MS, undefined, { ref: false })]);
        await new Promise<void>((resolve) => bonjour.destroy(() => resolve()));
      },
    };
  };

  const ask = (): void => {
    for (const link of links) link.ask();
    asking = setTimeout(ask, pause * (1 + Math.random() / 5));
    asking.unref();
    pause = Math.min(2 * pause, LAST_PAUSE_MS);
  };

  const closeAll = async (): Promise<void> => {
    const closed = await Promise.allSettled(links.map((link) => link.close()));
    for (const { reason } of closed.filter((each) => each.status === 'rejected')) {
      log.debug({ err: reason }, 'a multicast socket could not be closed');
    }
  };

  let known = '';
  /** Where a network came or went, everything is said anew: the addresses that were announced are no longer all. */
  const look = (): void => {
    const addresses = ownAddresses(interfaces());
    if (addresses.join() === known) return;
    known = addresses.join();
    log.info({ addresses }, 'peers are looked for by DNS-SD');
    void closeAll();
    links = addresses.map(open);
    pause = FIRST_PAUSE_MS;
    clearTimeout(asking);
    ask();
  };
  look();
  const looking = setInterval(look, LOOK_MS);
  looking.unref();

  return {
    close: async () => {
      clearInterval(looking);
      clearTimeout(asking);
      await closeAll();
    },
  };
};
