/** Rejects requests by their head alone: host name, origin, request target and number of headers. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { CodedError } from '../contract/errors.ts';
import { remember } from '../domain/collections.ts';

export interface GateOptions {
  /** The machine's own name. */
  machineName: string;
  publicUrl: string | null;
  /** Additional host names, accepted on any port. */
  allowedHosts: readonly string[];
}

/** The parts of a request head that the gate reads. */
export type Head = Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders' | 'headers'>;

/** Maximum number of header fields in a request. */
export const MAX_HEADERS = 64;

export interface Gate {
  /**
   * Runs for every request and every upgrade, before any other code.
   * @throws CodedError `headers_too_large`, `invalid_request` or `host_refused`
   */
  checkHost(head: Head): void;
  /**
   * Runs for every operation with side effects, and for every WebSocket.
   * @throws CodedError `origin_refused`
   */
  checkOrigin(head: Head): void;
}

/** The host name in a Host header, in lower case, without port and brackets; null if malformed (RFC 9110, 7.2). */
export const hostName = (host: string): string | null => {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{0,5})?$/i.exec(host);
  const name = (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, '');
  if (name === undefined || name === '') return null;
  return match?.[1] !== undefined && isIP(name) !== 6 ? null : name;
};

/** `host` or `host:port` in canonical form: lower case, without the default port of the scheme. */
const authority = (url: string): string | null => (URL.canParse(url) ? new URL(url).host : null);

/** Whether there is exactly one `Host`: `headers` holds the first of several. */
const hasOneHost = (rawHeaders: readonly string[]): boolean => {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 1;
};

/** Number of Host headers whose verdict is kept: clients use a few, and an attacker any number. */
const MAX_VERDICTS = 100;

/**
 * Protects against DNS rebinding, which needs a dotted public name. IP addresses and local names are accepted on any port
 * and through any proxy; any other name must be one of the service's own.
 */
export const createGate = ({ machineName, publicUrl, allowedHosts }: GateOptions): Gate => {
  const publicAuthority = publicUrl === null ? null : authority(publicUrl);
  const ownNames = new Set(
    [machineName, ...(publicAuthority === null ? [] : [publicAuthority]), ...allowedHosts].map(
      (name) => hostName(name) ?? name.toLowerCase(),
    ),
  );
  const allowedNames = new Set(allowedHosts.map((name) => hostName(name) ?? name.toLowerCase()));

  const isAcceptedHost = (name: string): boolean =>
    isIP(name) !== 0 || !name.includes('.') || /\.(local|localhost)$/.test(name) || ownNames.has(name);

  const verdicts = new Map<string, boolean>();
  const isAccepted = (host: string): boolean => {
    const known = verdicts.get(host);
    if (known !== undefined) return known;
    const name = hostName(host);
    const verdict = name !== null && isAcceptedHost(name);
    remember(verdicts, host, verdict, MAX_VERDICTS);
    return verdict;
  };

  const isSameOrigin = (origin: string, host: string): boolean => {
    const from = authority(origin);
    if (from === null || !/^https?:/i.test(origin)) return false;
    const scheme = new URL(origin).protocol;
    return (
      from === authority(`${scheme}//${host}`) || from === publicAuthority || allowedNames.has(hostName(from) ?? '')
    );
  };

  return {
    checkHost: ({ url = '', rawHeaders, headers }) => {
      if (rawHeaders.length > 2 * MAX_HEADERS) throw new CodedError('headers_too_large');
      // Targets such as //evil/ and http://evil/ name a host that may differ from the Host header.
      if (!/^\/(?!\/)/.test(url)) throw new CodedError('invalid_request', 'The request target must be a path.');
      if (!hasOneHost(rawHeaders) || !isAccepted(headers.host ?? '')) throw new CodedError('host_refused');
    },
    checkOrigin: ({ headers: { host = '', origin, referer, 'sec-fetch-site': site } }) => {
      // A page on an allowed host that calls the box by its address is cross-site: an Origin is judged alone.
      const isForeign = origin === undefined && site === 'cross-site';
      // Over plain http browsers send no Sec-Fetch-Site, and for an image only a Referer.
      const source = origin ?? (site === undefined && referer !== '' ? referer : undefined);
      if (isForeign || (source !== undefined && !isSameOrigin(source, host))) throw new CodedError('origin_refused');
    },
  };
};
