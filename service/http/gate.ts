/** Which requests are let in at all, judged by their heads alone: names, origins, targets. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { CodedError } from '../contract/errors.ts';

export interface GateOptions {
  /** The machine's own name. */
  machineName: string;
  publicUrl: string | null;
  /** Further host names, on any port. */
  allowedHosts: readonly string[];
}

/** A request's head, as much of it as the gate looks at. */
export type Head = Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders' | 'headers'>;

/** Headers of one request. */
export const MOST_HEADERS = 64;

export interface Gate {
  /**
   * Judges every request and every upgrade, before anything else sees it.
   * @throws CodedError `headers_too_large`, `invalid_request` or `host_refused`
   */
  checkHost(head: Head): void;
  /**
   * Judges whatever changes or starts something, and every socket.
   * @throws CodedError `origin_refused`
   */
  checkOrigin(head: Head): void;
}

/** The name in a Host header, in lower case, without port and brackets; null where it is malformed (RFC 9110, 7.2). */
export const hostName = (host: string): string | null => {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{0,5})?$/i.exec(host);
  const name = (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, '');
  if (name === undefined || name === '') return null;
  return match?.[1] !== undefined && isIP(name) !== 6 ? null : name;
};

/** `host` or `host:port`, in lower case and without a scheme's default port, so that two spellings can be compared. */
const authority = (url: string): string | null => (URL.canParse(url) ? new URL(url).host : null);

const countOf = (rawHeaders: readonly string[], name: string): number =>
  rawHeaders.filter((header, index) => index % 2 === 0 && header.toLowerCase() === name).length;

/**
 * DNS rebinding needs a dotted public name, so addresses and local names are safe whatever port or proxy they come
 * through, and every other name has to be the service's own.
 */
export const createGate = ({ machineName, publicUrl, allowedHosts }: GateOptions): Gate => {
  const publicAuthority = publicUrl === null ? null : authority(publicUrl);
  const ownNames = new Set(
    [machineName, ...(publicAuthority === null ? [] : [publicAuthority]), ...allowedHosts].map(
      (name) => hostName(name) ?? name.toLowerCase(),
    ),
  );
  const allowedNames = new Set(allowedHosts.map((name) => hostName(name) ?? name.toLowerCase()));

  const isOurs = (name: string): boolean =>
    isIP(name) !== 0 || !name.includes('.') || /\.(local|localhost)$/.test(name) || ownNames.has(name);

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
      if (rawHeaders.length > 2 * MOST_HEADERS) throw new CodedError('headers_too_large');
      // Forms such as //evil/ and http://evil/ mean another host than the Host header says.
      if (!/^\/(?!\/)/.test(url)) throw new CodedError('invalid_request', 'The request target must be a path.');
      const name = countOf(rawHeaders, 'host') === 1 ? hostName(headers.host ?? '') : null;
      if (name === null || !isOurs(name)) throw new CodedError('host_refused');
    },
    checkOrigin: ({ headers: { host = '', origin, referer, 'sec-fetch-site': site } }) => {
      // Over plain http browsers say nothing of the site, and with an image's GET nothing but the page that it is on.
      const source = origin ?? (site === undefined && referer !== '' ? referer : undefined);
      if (site === 'cross-site' || (source !== undefined && !isSameOrigin(source, host))) {
        throw new CodedError('origin_refused');
      }
    },
  };
};
