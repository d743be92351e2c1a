/** Finds boxes in the LAN by DNS-SD (RFC 6763) over multicast DNS. */
import type { EventEmitter } from 'node:events';
import { networkInterfaces } from 'node:os';
import { Bonjour, type Service } from 'bonjour-service';
import { advertisedUrls, serviceType } from '../domain/advertised.ts';
import { multicastAddresses } from '../domain/lan-address.ts';

export interface Advertised {
  nodeId: string;
  site: string;
  version: string;
  /** Candidates for its base URL, the likeliest first. */
  urls: string[];
}

/** Queries are sent at these times, ms: packets get lost. */
const QUERIES_MS = [0, 400, 1_200];

/** Boxes taken notice of. */
const MAX_BOXES = 256;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Calls `onBox` once for each box that answers, until `signal` is aborted. Resolves then, with the sockets closed.
 * Errors of multicast DNS are ignored: no box answers in such a network.
 */
export const browse = async (onBox: (box: Advertised) => void, signal: AbortSignal): Promise<void> => {
  const seen = new Set<string>();
  const onService = (service: Service): void => {
    const { id, site, v } = (service.txt ?? {}) as Record<string, unknown>;
    const nodeId = textOf(id);
    const urls = advertisedUrls(service);
    // With the addresses: any host can advertise the id of a box.
    const key = [nodeId, ...urls].join(' ');
    if (nodeId === '' || seen.has(key) || seen.size >= MAX_BOXES) return;
    seen.add(key);
    onBox({ nodeId, site: textOf(site), version: textOf(v), urls });
  };
  const links = multicastAddresses(networkInterfaces()).map((address) => {
    const ignore = (): void => undefined;
    const bonjour = new Bonjour(
      { interface: address, bind: '0.0.0.0' } as ConstructorParameters<typeof Bonjour>[0],
      ignore,
    );
    // An unhandled error would end the process, and the library has no other way to handle it.
    const { mdns } = (bonjour as unknown as { server: { mdns: EventEmitter } }).server;
    mdns.on('error', ignore);
    return { bonjour, browser: bonjour.find({ type: serviceType }, onService) };
  });
  const timers = QUERIES_MS.slice(1).map((ms) =>
    setTimeout(() => {
      for (const { browser } of links) browser.update();
    }, ms),
  );
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  for (const timer of timers) clearTimeout(timer);
  for (const { bonjour, browser } of links) {
    browser.stop();
    bonjour.destroy();
  }
};
