import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { blocksOf, isIn, unmapped } from '../domain/network-scope.ts';
import type { Options } from '../platform/options/index.ts';

export const isEncrypted = (socket: Socket): boolean => socket instanceof TLSSocket;

/** An address of `X-Forwarded-For` without the port and the brackets with which some proxies write it. */
const withoutPort = (hop: string): string => hop.replace(/^(?:\[(.*)\]|([\d.]+))(?::\d{1,5})?$/, '$1$2');

/**
 * Returns a function that finds the client address of a request. `X-Forwarded-For` counts only when the connection comes
 * from a trusted proxy. The client is the last address in it that is not a trusted proxy; a client can forge those before.
 * `isSecure` tells whether the client uses https: of this service, or as a trusted proxy tells by `X-Forwarded-Proto`.
 */
export const createClientAddress = (trustProxy: Options['trustProxy']) => {
  const ranges = blocksOf(Array.isArray(trustProxy) ? trustProxy : []);
  const isProxy = (address: string): boolean => isIP(address) !== 0 && isIn(ranges, address);

  return ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>) => {
    const remoteAddress = unmapped(socket.remoteAddress ?? '');
    if (trustProxy === false || !(trustProxy === true || isProxy(remoteAddress))) {
      return { clientIp: remoteAddress, remoteAddress, isSecure: isEncrypted(socket) };
    }
    const hops = String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((hop) => unmapped(withoutPort(hop.trim())));
    // What stands before something else than an address was not added by a proxy that is known here.
    const known = hops.slice(hops.findLastIndex((hop) => isIP(hop) === 0) + 1);
    // The last one is of the proxy that this service trusts; a client can forge those before.
    const proto = String(headers['x-forwarded-proto'] ?? '')
      .split(',')
      .at(-1)
      ?.trim()
      .toLowerCase();
    return {
      clientIp: known.findLast((hop) => !isProxy(hop)) ?? known[0] ?? remoteAddress,
      remoteAddress,
      isSecure: isEncrypted(socket) || proto === 'https',
    };
  };
};
