/** Rejects requests by their head alone: host name, origin, request target and number of headers. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { CodedError } from '../contract/errors.ts';
import { parseUrl } from '../contract/url.ts';
import { remember } from '../domain/collections.ts';
import { localSuffixes } from '../domain/network-scope.ts';

export interface GateOptions {
  machineName: string;
  /** The domains in which this machine looks up names; default: those of the system. */
  searchDomains?: readonly string[];
  publicUrl: string | null;
  /** Additional host names, accepted on any port. */
  allowedHosts: readonly string[];
}

/** The parts of a request head that the gate reads. */
export type Head = Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders' | 'headers'>;

/** Maximum number of header fields in a request. */
export const MAX_HEADERS = 64;

export type Gate = ReturnType<typeof createGate>;

/** The host name in a Host header, in lower case, without port and brackets; null if malformed (RFC 9110, 7.2). */
export const hostName = (host: string): string | null => {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{0,5})?$/i.exec(host);
  const name = (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, '');
  if (name === undefined || name === '') return null;
  return match?.[1] !== undefined && isIP(name) !== 6 ? null : name;
};

/** `host` or `host:port` in canonical form: lower case, without the default port of the scheme. */
const authority = (url: string): string | null => parseUrl(url)?.host ?? null;

/** Whether there is exactly one `Host`: `headers` holds the first of several. */
const hasOneHost = (rawHeaders: readonly string[]): boolean => {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 1;
};

/** The search domains in resolv.conf(5); none where the system has no such file. */
export const systemSearchDomains = (): string[] => {
  try {
    const lines = readFileSync('/etc/resolv.conf', 'utf8').matchAll(/^\s*(?:search|domain)\s+(.*)$/gm);
    return [...lines].flatMap(([, domains = '']) => domains.trim().split(/\s+/));
  } catch {
    return [];
  }
};

/** The path and the query of a target in absolute form whose authority is the Host header; null: it is not. */
const pathOfAbsolute = (target: string, host: string): string | null => {
  const [, scheme = '', named = '', path = ''] = /^(https?):\/\/([^/?#]+)([^#]*)$/i.exec(target) ?? [];
  const to = authority(`${scheme}://${named}`);
  if (to === null || named.includes('@') || to !== authority(`${scheme}://${host}`)) return null;
  return path.startsWith('/') ? path : `/${path}`;
};

/** Number of Host headers whose verdict is kept: clients use a few, and an attacker any number. */
const MAX_VERDICTS = 100;

/**
 * Protects against DNS rebinding, which needs a dotted public name. IP addresses and local names are accepted on any port
 * and through any proxy; any other name must be one of the service's own.
 */
export const createGate = ({
  machineName,
  searchDomains = systemSearchDomains(),
  publicUrl,
  allowedHosts,
}: GateOptions) => {
  const publicAuthority = publicUrl === null ? null : authority(publicUrl);
  const ownNames = new Set(
    [
      machineName,
      ...searchDomains.map((domain) => `${machineName.replace(/\..*$/, '')}.${domain}`),
      ...(publicAuthority === null ? [] : [publicAuthority]),
      ...allowedHosts,
    ].map((name) => hostName(name) ?? name.toLowerCase()),
  );
  const allowedNames = new Set(allowedHosts.map((name) => hostName(name) ?? name.toLowerCase()));

  const isAcceptedHost = (name: string): boolean =>
    isIP(name) !== 0 ||
    !name.includes('.') ||
    localSuffixes.some((suffix) => name.endsWith(suffix)) ||
    ownNames.has(name);

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

  const isForeign = ({ method, headers }: Pick<Head, 'method' | 'headers'>): boolean => {
    const { host = '', origin, referer, 'sec-fetch-site': site } = headers;
    // A page on an allowed host that calls the box by its address is cross-site: an Origin is judged alone.
    if (origin === undefined && site === 'cross-site') return true;
    // Over plain http browsers send no Sec-Fetch-Site, and for an image only a Referer. With any other method they send an
    // Origin: a request without one comes from a program, even with a Referer.
    const isReading = method === 'GET' || method === 'HEAD';
    const source = origin ?? (site === undefined && isReading && referer !== '' ? referer : undefined);
    return source !== undefined && !isSameOrigin(source, host);
  };

  return {
    /**
     * Runs for every request and every upgrade, before any other code. A target in absolute form (RFC 9112, 3.2.2) becomes
     * its path.
     * @throws CodedError `headers_too_large`, `invalid_request` or `host_refused`
     */
    checkHost: (head: Head): void => {
      const { url = '', rawHeaders, headers } = head;
      if (rawHeaders.length > 2 * MAX_HEADERS) throw new CodedError('headers_too_large');
      // Targets such as //evil/ and http://evil/ name a host that may differ from the Host header.
      const target = /^\/(?!\/)/.test(url) ? url : pathOfAbsolute(url, headers.host ?? '');
      if (target === null || !/^\/(?!\/)/.test(target)) {
        throw new CodedError('invalid_request', 'The request target must be a path, or an address of the named Host.');
      }
      if (!hasOneHost(rawHeaders) || !isAccepted(headers.host ?? '')) throw new CodedError('host_refused');
      head.url = target;
    },
    /** @throws CodedError `expectation_failed` (RFC 9110, 10.1.1) */
    checkExpectation: ({ headers: { expect = '' } }: Pick<Head, 'headers'>): void => {
      if (expect === '' || expect.toLowerCase() === '100-continue') return;
      // The client may or may not send its body after this response, so the connection cannot be reused.
      throw new CodedError('expectation_failed', undefined, { headers: { Connection: 'close' } });
    },
    /** Whether the request comes from a page of another origin. */
    isForeign,
    /**
     * Runs for every operation with side effects, and for every WebSocket.
     * @throws CodedError `origin_refused`
     */
    checkOrigin: (head: Pick<Head, 'method' | 'headers'>): void => {
      if (isForeign(head)) throw new CodedError('origin_refused');
    },
  };
};
