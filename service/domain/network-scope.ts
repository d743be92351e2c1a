/** Network scope of addresses: the only table that decides where requests may go. */
import { BlockList, isIP, isIPv6 } from 'node:net';

/** The family of what is known to be an address; the expression behind `isIPv6` takes milliseconds of a start to compile. */
const familyOf = (address: string): 'ipv4' | 'ipv6' => (address.includes(':') ? 'ipv6' : 'ipv4');

export const blocksOf = (entries: readonly string[]): BlockList => {
  const blocks = new BlockList();
  for (const entry of entries) {
    const [net = '', prefix] = entry.split('/');
    if (prefix === undefined) blocks.addAddress(net, familyOf(net));
    else blocks.addSubnet(net, Number(prefix), familyOf(net));
  }
  return blocks;
};

/** Private networks, and carrier-grade NAT (RFC 1918, RFC 6598, RFC 4193). */
const siteNetworks = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
/** Loopback, link-local and private networks (RFC 1122, RFC 3927, RFC 4291), which are not on the Internet. */
export const nearNetworks: readonly string[] = [
  '127.0.0.0/8',
  '169.254.0.0/16',
  '::1/128',
  'fe80::/10',
  ...siteNetworks,
];

/** This machine: loopback, and "any address", which leads there too (RFC 1122, RFC 4291). */
const machine = blocksOf(['0.0.0.0/8', '127.0.0.0/8', '::/96']);
/** Cloud metadata services, which hand out credentials: IPv4 link-local (RFC 3927), and Amazon's IPv6 address. */
const link = blocksOf(['169.254.0.0/16', 'fd00:ec2::254/128']);
/** IPv6 link-local (RFC 4291); names of machines of the site may resolve to it. */
const link6 = blocksOf(['fe80::/10']);
const site = blocksOf(siteNetworks);

/**
 * Special-purpose addresses, which no server on the Internet has (RFC 6890): multicast, broadcast and reserved
 * addresses, benchmarks (RFC 2544, RFC 5180), protocol assignments, a site's own NAT64 (RFC 8215), and deprecated site-local addresses (RFC 3879).
 */
const special = blocksOf([
  '192.0.0.0/24',
  '198.18.0.0/15',
  '224.0.0.0/3',
  '64:ff9b:1::/48',
  '2001:2::/48',
  'fec0::/10',
  'ff00::/8',
]);

/** The eight groups of an IPv6 address. */
const groupsOf = (address: string): number[] => {
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [front, back] = [groups(head), groups(tail ?? '')];
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
};

const dotted = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');

/** The IPv4 address that an IPv6 address reaches through a translator or a tunnel; null: none. */
const translated = (address: string): string | null => {
  if (!isIPv6(address)) return null;
  const groups = groupsOf(address);
  const [a, b, c] = groups;
  const last = dotted(...groups.slice(6));
  // NAT64 (RFC 6052, RFC 8215), and IPv4-translated addresses (RFC 7915).
  if (a === 0x64 && b === 0xff9b) return last;
  if (groups.slice(0, 4).every((group) => group === 0) && groups[4] === 0xffff && groups[5] === 0) return last;
  // 6to4 (RFC 3056)
  if (a === 0x2002) return dotted(b, c);
  // Teredo (RFC 4380)
  if (a === 0x2001 && b === 0) return dotted(...groups.slice(6).map((group) => group ^ 0xffff));
  return null;
};

/** BlockList treats IPv4-mapped IPv6 addresses as IPv4. */
export const isIn = (blocks: BlockList, address: string): boolean => blocks.check(address, familyOf(address));

/** Converts an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) to IPv4; returns other addresses unchanged. */
export const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');

/** A URL's host without the brackets of IPv6, or a socket's address without its zone. */
export const bareHost = (host: string): string => host.replace(/^\[|\]$|%.*$/g, '');

/** Whether an address is unusable without its zone (RFC 4007), which a URL can't have. */
export const needsZone = (address: string): boolean => isIn(link6, bareHost(address));

/** 0: the Internet; 1: the local network; 2: this machine, and link-local services such as cloud metadata. */
export type NetworkScope = 0 | 1 | 2;

/** Network scope of an IP address; of one that is translated to IPv4, the nearer of both. */
export const scopeOfAddress = (address: string): NetworkScope => {
  const bare = bareHost(address);
  if (isIn(machine, bare) || isIn(link, bare)) return 2;
  const inner = translated(bare);
  const beyond = inner === null ? 0 : scopeOfAddress(inner);
  return beyond === 0 && [site, link6, special].some((blocks) => isIn(blocks, bare)) ? 1 : beyond;
};

/** Whether a URL's host is a private or link-local IP address. */
export const isSiteAddress = (host: string): boolean => {
  const bare = bareHost(host);
  return isIP(bare) > 0 && [site, link, link6].some((blocks) => isIn(blocks, bare));
};

/** Whether the host of a URL is this machine: loopback by address or name, or the unspecified address. */
export const isThisMachine = (host: string): boolean => {
  const bare = bareHost(host);
  return isIP(bare) > 0 ? isIn(machine, bare) : /^(.*\.)?localhost\.?$/i.test(bare);
};

/** Whether a listening address is unreachable for other machines. The unspecified address listens on all interfaces. */
export const listensAlone = (host: string): boolean => !['0.0.0.0', '::'].includes(host) && isThisMachine(host);

/** Minimum scope of a URL without name resolution: by its IP address, or a name that exists only in local networks. */
export const scopeOf = ({ hostname }: URL): NetworkScope => {
  if (isThisMachine(hostname)) return 2;
  const bare = bareHost(hostname).replace(/\.$/, '');
  if (isIP(bare) > 0) return scopeOfAddress(bare);
  return !bare.includes('.') || bare.endsWith('.local') ? 1 : 0;
};

/** Suffixes that routers and companies give, and nobody can register (RFC 6761, RFC 6762, RFC 8375, ICANN). */
export const localSuffixes: readonly string[] = [
  '.local',
  '.localhost',
  '.lan',
  '.home',
  '.internal',
  '.home.arpa',
  '.localdomain',
  '.corp',
  '.intranet',
  '.private',
];
