import { BlockList, isIP, isIPv6 } from 'node:net';

/** Networks that are nobody else's: this machine, the LAN, its carrier's (RFC 6890; RFC 4193; RFC 4291). */
const networks: readonly (readonly [address: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
];

const createList = (): BlockList => {
  const list = new BlockList();
  for (const [address, prefix] of networks) list.addSubnet(address, prefix, isIPv6(address) ? 'ipv6' : 'ipv4');
  return list;
};

/** Whether an IP address can be reached from here alone. One of IPv4 in IPv6 is what it is in IPv4. */
export const isPrivate = (address: string): boolean => {
  const plain = address.replace(/%.*$/, '');
  return createList().check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
};

/** Whether a URL's host says by itself that it is in here: a private address, or a name of the local network. */
export const isInside = ({ hostname }: URL): boolean => {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? !host.includes('.') || /\.(local|localhost)$/.test(host) : isPrivate(host);
};
