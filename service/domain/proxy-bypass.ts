/** Which hosts are reached without the outgoing proxy. Pure. */
import { BlockList, isIP } from 'node:net';
import { bareHost, isThisMachine, localSuffixes, scopeOfAddress } from './network-scope.ts';

/** Networks of {@link scopeOfAddress} beyond the Internet that browsers do not bypass by themselves. */
const nearNetworks = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '[::1]/128',
  '[fc00::]/7',
  '[fe80::]/10',
];

const isRange = (entry: string): boolean => isIP(entry.split('/')[0] ?? '') > 0;
/** `*.example.com` and `.example.com` are the same suffix. */
const nameOf = (entry: string): string => entry.toLowerCase().replace(/^\*\./, '.').replace(/\.$/, '');

/**
 * @param noProxy names (`intranet.example.com`), suffixes (`.example.com`), addresses and networks (`203.0.113.0/24`)
 * @returns whether a URL's host is reached directly: private and loopback addresses, names without a dot or with a suffix of
 *   local networks, and what `noProxy` names
 */
export const createBypass = (noProxy: readonly string[]): ((host: string) => boolean) => {
  const networks = new BlockList();
  for (const entry of noProxy.filter(isRange)) {
    const [address = '', prefix] = entry.split('/');
    const isSix = address.includes(':');
    networks.addSubnet(address, Number(prefix ?? (isSix ? 128 : 32)), isSix ? 'ipv6' : 'ipv4');
  }
  const names = noProxy.filter((entry) => !isRange(entry)).map(nameOf);
  const suffixes = [...localSuffixes, ...names.filter((name) => name.startsWith('.'))];
  return (host) => {
    const bare = bareHost(host).toLowerCase().replace(/\.$/, '');
    if (isThisMachine(bare)) return true;
    const family = isIP(bare);
    if (family > 0) return scopeOfAddress(bare) > 0 || networks.check(bare, family === 6 ? 'ipv6' : 'ipv4');
    return !bare.includes('.') || names.includes(bare) || suffixes.some((suffix) => bare.endsWith(suffix));
  };
};

/** The same rules as Chromium's list of hosts without a proxy. */
export const bypassRules = (noProxy: readonly string[]): string => {
  const given = noProxy.map((entry) => {
    if (!isRange(entry)) return nameOf(entry).replace(/^\./, '*.');
    const [address = '', prefix] = entry.split('/');
    const isSix = address.includes(':');
    return `${isSix ? `[${address}]` : address}/${prefix ?? (isSix ? 128 : 32)}`;
  });
  return ['<local>', ...nearNetworks, ...localSuffixes.map((suffix) => `*${suffix}`), ...given].join(';');
};
