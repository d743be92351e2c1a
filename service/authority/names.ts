/** Which names and addresses the authority of a site may certify: those of the LAN alone. Pure. */
import { BlockList, isIP } from 'node:net';
import { bareHost, localSuffixes } from '../domain/network-scope.ts';
import type { Permitted } from '../platform/x509.ts';

/** Loopback, private, link-local and shared addresses (RFC 1122, RFC 1918, RFC 3927, RFC 6598, RFC 4193, RFC 4291). */
const networks: readonly string[] = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const isWithin = (address: string, blocks: readonly string[]): boolean => {
  const list = new BlockList();
  for (const block of blocks) {
    const [net = '', prefix] = block.split('/');
    if (prefix === undefined) list.addAddress(net, familyOf(net));
    else list.addSubnet(net, Number(prefix), familyOf(net));
  }
  return list.check(address, familyOf(address));
};

/**
 * What the root permits: a machine that installs it trusts it only for these. Names of one label are left out, because one
 * would stand for all names below it, such as those of a top-level domain.
 */
export const permittedAtSite = ({
  publicUrl,
  allowedHosts,
}: {
  publicUrl: string | null;
  allowedHosts: readonly string[];
}): Permitted => {
  const given = [...(publicUrl === null ? [] : [new URL(publicUrl).hostname]), ...allowedHosts].map((host) =>
    bareHost(host).toLowerCase().replace(/\.$/, ''),
  );
  const addresses = given.filter((host) => isIP(host) > 0 && !isWithin(host, networks));
  const suffixes = localSuffixes.map((suffix) => suffix.slice(1));
  const names = given.filter((host) => isIP(host) === 0 && host.includes('.'));
  return {
    networks: [...networks, ...new Set(addresses.map((host) => `${host}/${isIP(host) === 4 ? 32 : 128}`))],
    domains: [...new Set(['localhost', ...suffixes, ...names])],
  };
};

/** Whether a certificate that holds the name is valid below an authority with these constraints (RFC 5280, 4.2.1.10). */
export const isPermitted = (name: string, { networks: blocks, domains }: Permitted): boolean =>
  isIP(name) > 0
    ? isWithin(name, blocks)
    : domains.some((domain) => name === domain || name.endsWith(`.${domain}`)) &&
      (name.includes('.') || name === 'localhost');
