/** Decides whether the host and port of a URL, or of a request, refer to this service. */
import { isIP } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { parseUrl } from '../contract/url.ts';
import { bareHost, blocksOf, isIn, isThisMachine } from '../domain/network-scope.ts';
import { type GateOptions, hostName, systemSearchDomains } from './gate.ts';

/** How a request reached the service. */
interface Reached {
  /** The request's Host header. */
  host: string;
  /** The local port of the connection. */
  port: number;
}

const withoutDot = (name: string): string => name.replace(/\.$/, '').toLowerCase();

/** `host[:port]` as a URL of the scheme spells it, without the default port; null for a malformed host. */
const authority = (scheme: string, host: string): string | null => parseUrl(`${scheme}//${host}`)?.host ?? null;

type Interfaces = () => Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

const isOwnAddress = (host: string, interfaces: Interfaces): boolean => {
  if (isIP(host) === 0) return false;
  const own = Object.values(interfaces()).flatMap((infos = []) => infos.map(({ address }) => bareHost(address)));
  return isIn(blocksOf(own), host);
};

/** Whether a client is on this machine: its address is loopback, or one of the machine's own. */
export const isOwnClient = (address: string): boolean =>
  isThisMachine(address) || isOwnAddress(bareHost(address), networkInterfaces);

/**
 * @param interfaces reads the machine's addresses, as `os.networkInterfaces()` does
 * @returns whether an http(s) URL refers to this service. Accepted are the host and port of the request, those of the
 *   public URL, an allowed host on a default port, and any name or address of this machine on the listening port
 */
export const createOwnAuthority =
  ({ machineName, publicUrl, allowedHosts }: GateOptions, interfaces: Interfaces) =>
  (url: URL, reached: Reached): boolean => {
    const host = withoutDot(bareHost(url.hostname));
    if (url.host === authority(url.protocol, reached.host)) return true;
    if (publicUrl !== null && url.host === new URL(publicUrl).host) return true;
    const isAllowed = allowedHosts.some((name) => withoutDot(name) === host);
    if (isAllowed && url.port === '') return true;
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
    if (port !== reached.port) return false;
    const [shortName = ''] = machineName.toLowerCase().split('.');
    if (
      isAllowed ||
      isThisMachine(host) ||
      [machineName.toLowerCase(), shortName, `${shortName}.local`].includes(host)
    ) {
      return true;
    }
    return isOwnAddress(host, interfaces);
  };

/**
 * @returns whether the Host header of a request names this service and no other box: an address of this machine with one of
 *   the ports that the service listens on, a name of this machine, the public URL's host, or an allowed host on any port
 */
export const createOwnHost = (
  { machineName, searchDomains = systemSearchDomains(), publicUrl, allowedHosts }: GateOptions,
  interfaces: Interfaces,
): ((hostHeader: string, ports: readonly number[]) => boolean) => {
  const full = withoutDot(machineName);
  const short = full.replace(/\..*$/, '');
  const names = new Set([
    full,
    short,
    `${short}.local`,
    ...searchDomains.map((domain) => `${short}.${withoutDot(domain)}`),
    ...allowedHosts.map((name) => hostName(name) ?? withoutDot(name)),
  ]);
  return (header, ports) => {
    const name = hostName(header);
    if (name === null) return false;
    if (
      names.has(name) ||
      (publicUrl !== null && new URL(publicUrl).host === authority(new URL(publicUrl).protocol, header))
    ) {
      return true;
    }
    const named = /:(\d+)$/.exec(header)?.[1];
    const isReached = (named === undefined ? [80, 443] : [Number(named)]).some((port) => ports.includes(port));
    return isReached && (isThisMachine(name) || isOwnAddress(name, interfaces));
  };
};
