/** Which hosts are reached without the outgoing proxy. Pure. */
import { isIP } from 'node:net';
import {
  bareHost,
  blocksOf,
  isIn,
  isThisMachine,
  localSuffixes,
  nearNetworks,
  scopeOfAddress,
} from './network-scope.ts';

const isRange = (entry: string): boolean => isIP(entry.split('/')[0] ?? '') > 0;
/** `*.example.com` and `.example.com` are the same suffix. */
const nameOf = (entry: string): string => entry.toLowerCase().replace(/^\*\./, '.').replace(/\.$/, '');

/**
 * @param noProxy names (`intranet.example.com`), suffixes (`.example.com`), addresses and networks (`203.0.113.0/24`)
 * @returns whether a URL's host is reached directly: private and loopback addresses, names without a dot or with a suffix of
 *   local networks, and what `noProxy` names
 */
export const createBypass = (noProxy: readonly string[]): ((host: string) => boolean) => {
  const networks = blocksOf(noProxy.filter(isRange));
  const names = noProxy.filter((entry) => !isRange(entry)).map(nameOf);
  const suffixes = [...localSuffixes, ...names.filter((name) => name.startsWith('.'))];
  return (host) => {
    const bare = bareHost(host).toLowerCase().replace(/\.$/, '');
    if (isThisMachine(bare)) return true;
    if (isIP(bare) > 0) return scopeOfAddress(bare) > 0 || isIn(networks, bare);
    return !bare.includes('.') || names.includes(bare) || suffixes.some((suffix) => bare.endsWith(suffix));
  };
};

/** A network as Chromium reads it: no brackets. */
const ruleOf = (entry: string): string => {
  const [address = '', prefix] = entry.split('/');
  return `${address}/${prefix ?? (address.includes(':') ? 128 : 32)}`;
};

/** The same rules as Chromium's list of hosts without a proxy. */
export const bypassRules = (noProxy: readonly string[]): string => {
  const given = noProxy.map((entry) => (isRange(entry) ? ruleOf(entry) : nameOf(entry).replace(/^\./, '*.')));
  const near = nearNetworks.map(ruleOf);
  return ['<local>', ...near, ...localSuffixes.map((suffix) => `*${suffix}`), ...given].join(';');
};
