/** Which names and addresses the authority of a site may certify: those of the LAN alone. Pure. */
import { isIP } from 'node:net';
import { bareHost, blocksOf, isIn, localSuffixes, nearNetworks } from '../domain/network-scope.ts';
import type { Permitted } from '../platform/x509.ts';

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
  const near = blocksOf(nearNetworks);
  const addresses = given.filter((host) => isIP(host) > 0 && !isIn(near, host));
  const suffixes = localSuffixes.map((suffix) => suffix.slice(1));
  const names = given.filter((host) => isIP(host) === 0 && host.includes('.'));
  return {
    networks: [...nearNetworks, ...new Set(addresses.map((host) => `${host}/${isIP(host) === 4 ? 32 : 128}`))],
    domains: [...new Set(['localhost', ...suffixes, ...names])],
  };
};

/** Whether a certificate that holds the name is valid below an authority with these constraints (RFC 5280, 4.2.1.10). */
export const isPermitted = (name: string, { networks, domains }: Permitted): boolean =>
  isIP(name) > 0
    ? isIn(blocksOf(networks), name)
    : domains.some((domain) => name === domain || name.endsWith(`.${domain}`)) &&
      (name.includes('.') || name === 'localhost');
