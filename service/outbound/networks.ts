/** Whose networks there are, and how near: the one table by which everybody here judges where requests may go. */
import { BlockList, isIP, isIPv6 } from 'node:net';

const list = (...subnets: [net: string, prefix: number][]): BlockList => {
  const blocks = new BlockList();
  for (const [net, prefix] of subnets) blocks.addSubnet(net, prefix, isIPv6(net) ? 'ipv6' : 'ipv4');
  return blocks;
};

/** This machine: loopback, and "any address", which leads there too (RFC 1122, RFC 4291). */
const machine = list(['0.0.0.0', 8], ['127.0.0.0', 8], ['::', 96]);
/** Where cloud machines are handed their credentials: the link of IPv4 (RFC 3927), and Amazon's address of IPv6. */
const link = list(['169.254.0.0', 16], ['fd00:ec2::254', 128]);
/** The link of IPv6 (RFC 4291), where any machine of a site may be found by its name. */
const link6 = list(['fe80::', 10]);
/** Networks of a site, and its carrier's (RFC 1918, RFC 6598, RFC 4193). */
const site = list(['10.0.0.0', 8], ['100.64.0.0', 10], ['172.16.0.0', 12], ['192.168.0.0', 16], ['fc00::', 7]);

/** An address of IPv4 in IPv6 is what it is in IPv4. */
const isIn = (blocks: BlockList, address: string): boolean => blocks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

/** A socket's address of IPv4 in IPv6 (RFC 4291, 2.5.5.2) as it is in IPv4; any other as it is. */
export const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');

/** A URL's host without the brackets of IPv6, or a socket's address without its zone. */
export const bareHost = (host: string): string => host.replace(/^\[|\]$|%.*$/g, '');

/** Whether an address leads nowhere without the zone that it is of (RFC 4007), which a URL can't have. */
export const needsZone = (address: string): boolean => isIn(link6, bareHost(address));

/** 0 for the Internet, 1 for the site's network, 2 for this machine and who answers to it alone. */
export type Nearness = 0 | 1 | 2;

/** How near an IP address is. */
export const nearness = (address: string): Nearness => {
  const bare = bareHost(address);
  if (isIn(machine, bare) || isIn(link, bare)) return 2;
  return isIn(site, bare) || isIn(link6, bare) ? 1 : 0;
};

/** Whether a URL's host is an IP address that a machine has in a network of a site, with a router or without one. */
export const isSiteAddress = (host: string): boolean => {
  const bare = bareHost(host);
  return isIP(bare) > 0 && [site, link, link6].some((blocks) => isIn(blocks, bare));
};

/** Whether a host, as a URL has it, is this machine to whoever asks there: loopback by address or by name, or "any". */
export const isThisMachine = (host: string): boolean => {
  const bare = bareHost(host);
  return isIP(bare) > 0 ? isIn(machine, bare) : /^(.*\.)?localhost\.?$/i.test(bare);
};

/** Whether no other machine gets to an address to listen on. "Any" is all that the machine has. */
export const listensAlone = (host: string): boolean => !['0.0.0.0', '::'].includes(host) && isThisMachine(host);

/** How near a URL says by itself to be, at least: by its address, or by a name that only a local network can have. */
export const saidNearness = ({ hostname }: URL): Nearness => {
  if (isThisMachine(hostname)) return 2;
  const bare = bareHost(hostname).replace(/\.$/, '');
  if (isIP(bare) > 0) return nearness(bare);
  return !bare.includes('.') || bare.endsWith('.local') ? 1 : 0;
};
