/** The address that a phone in the same network can open. */
import type { NetworkInterfaceInfo } from 'node:os';
import { parseUrl } from '../contract/url.ts';
import { bareHost, isThisMachine, listensAlone } from './network-scope.ts';

/** As `os.networkInterfaces()` gives them. */
export type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** The address by which a client reached the service. */
export interface Reached {
  /** The request's Host header. */
  host: string;
  /** The scheme that the client used, by default http; a trusted proxy may have ended its TLS. */
  scheme?: Scheme;
  /** The local port of the connection, and its own scheme. */
  port: number;
  portScheme?: Scheme;
}

type Scheme = 'http:' | 'https:';

/**
 * Virtual interfaces: containers, virtual machines, VPNs. A bridge that an administrator made (`br0`, `vmbr0`) holds the
 * LAN address and is not one of them.
 */
const virtualNames: readonly RegExp[] = [
  /^(docker|br-[0-9a-f]{6}|veth|virbr|vnet|vmnet|vboxnet|lxc|lxdbr|podman|cni|flannel|cali|kube|dummy)/,
  /^(tun|tap|utun|wg|zt|tailscale|nordlynx|ppp|ipsec|gre|sit|ip6tnl|gif|stf|awdl|llw|anpi|bridge1\d\d)/,
  /vEthernet|VirtualBox|VMware|Hyper-V|Tailscale|ZeroTier|WireGuard|OpenVPN|Bluetooth|\* \d+$/,
];

/** The IPv4 addresses of this machine: multicast DNS uses IPv4 only. */
export const multicastAddresses = (interfaces: Interfaces): string[] =>
  Object.values(interfaces)
    .flatMap((infos = []) => infos.filter(({ family, internal }) => family === 'IPv4' && !internal))
    .map(({ address }) => address)
    .sort();

/** Kinds of address, most likely reachable from a phone first (RFC 1918; RFC 4193; RFC 3927). */
const kinds: readonly RegExp[] = [
  /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/,
  /^(?!169\.254\.)\d+\.\d+\.\d+\.\d+$/,
  /^f[cd]/i,
  /:/,
  /^169\.254\./,
];

/** Of a box in the Wi-Fi that it opens itself for phones, over which its service does not answer. */
export const hotspotAddress = '10.20.30.1';

/** Not reachable from other machines. A link-local IPv6 address needs a zone, which URLs in browsers cannot have. */
const unreachable = /^(127\.|0\.|::1?$|fe[89ab])/i;

const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

const rank = (name: string, address: string): number =>
  kinds.findIndex((kind) => kind.test(address)) + (virtualNames.some((kind) => kind.test(name)) ? kinds.length : 0);

/**
 * The LAN address of the service, as the host of a URL; null without one. Physical interfaces come before virtual ones,
 * then the kind of address decides, then the system's order.
 * @param listenHost the listen address: `::` and `0.0.0.0` stand for every address of their family
 */
export const lanHost = (interfaces: Interfaces, listenHost: string): string | null => {
  if (listensAlone(listenHost)) return null;
  if (!['0.0.0.0', '::'].includes(listenHost)) return inUrl(bareHost(listenHost));
  const [best] = Object.entries(interfaces)
    .flatMap(([name, infos = []]) => infos.map(({ address, internal }) => ({ name, address, internal })))
    .filter(({ address, internal }) => !internal && !unreachable.test(address) && address !== hotspotAddress)
    .filter(({ address }) => listenHost === '::' || !address.includes(':'))
    .sort((a, b) => rank(a.name, a.address) - rank(b.name, b.address));
  return best === undefined ? null : inUrl(best.address);
};

/** The base URL of a service that only this machine can reach: that of its port, or of a proxy here that ends TLS. */
export const ownBase = (listenHost: string, { host, scheme, port, portScheme = 'http:' }: Reached): string =>
  scheme === 'https:' && portScheme === 'http:'
    ? `https://${host}`
    : `${portScheme}//${inUrl(bareHost(listenHost))}:${port}`;

/**
 * The public base URL without a trailing slash: `publicUrl`, else the origin of the request, else the LAN address of this
 * machine. Null if no other machine can reach the service.
 * @param listenHost as for {@link lanHost}
 */
export const publicBase = (
  publicUrl: string | null,
  { host, scheme = 'http:', port, portScheme = 'http:' }: Reached,
  interfaces: Interfaces,
  listenHost: string,
): string | null => {
  if (publicUrl !== null) return publicUrl;
  const reached = parseUrl(`${scheme}//${host}`);
  if (reached !== null && !isThisMachine(reached.hostname)) return reached.origin;
  const lan = lanHost(interfaces, listenHost);
  return lan === null ? null : new URL(`${portScheme}//${lan}:${port}`).origin;
};
