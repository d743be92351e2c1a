/** Decides by its response headers whether a page can be shown in a frame. */
import type { IncomingHttpHeaders } from 'node:http';

/** The source lists of the `frame-ancestors` directives, one per policy. */
const ancestorLists = (policies: string): string[][] =>
  policies.split(',').flatMap((policy) => {
    const directives = policy.split(';').map((directive) => directive.trim().split(/\s+/));
    // If a policy repeats a directive, the first one applies.
    const found = directives.find(([name]) => name?.toLowerCase() === 'frame-ancestors');
    return found === undefined ? [] : [found.slice(1)];
  });

const SOURCE =
  /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])(?::(\d+|\*))?(?:\/.*)?$/i;

const defaultPort = (protocol: string): string => (protocol === 'https:' ? '443' : '80');

/** Whether one source expression matches an origin (CSP 3, 6.7.2.7). */
const matches = (source: string, framer: URL, page: URL): boolean => {
  const expression = source.toLowerCase();
  if (expression === '*') return true;
  if (expression === "'self'") return framer.origin === page.origin;
  if (/^[a-z][a-z0-9+.-]*:$/.test(expression)) {
    return expression === framer.protocol || (expression === 'http:' && framer.protocol === 'https:');
  }
  const [, scheme, host = '', port] = SOURCE.exec(expression) ?? [];
  if (host === '') return false;
  const schemes =
    scheme === undefined ? [page.protocol, 'https:'] : [`${scheme}:`, ...(scheme === 'http' ? ['https:'] : [])];
  const isHost =
    host === '*' || (host.startsWith('*.') ? framer.hostname.endsWith(host.slice(1)) : framer.hostname === host);
  const framerPort = framer.port || defaultPort(framer.protocol);
  return (
    schemes.includes(framer.protocol) &&
    isHost &&
    (port === '*' || (port ?? defaultPort(framer.protocol)) === framerPort)
  );
};

/**
 * @param page the URL of the page
 * @param framer the origin of the framing page
 * @returns why a browser would not show the page in the frame, as a clause about the page; null if it would. As in
 *   browsers, X-Frame-Options applies only without `frame-ancestors` (RFC 7034; HTML, "X-Frame-Options")
 */
export const refusalOf = (headers: IncomingHttpHeaders, page: URL, framer: URL): string | null => {
  const lists = ancestorLists(String(headers['content-security-policy'] ?? ''));
  if (lists.length > 0) {
    const isAllowed = lists.every((sources) => sources.some((source) => matches(source, framer, page)));
    return isAllowed ? null : 'it forbids frames by its content security policy (frame-ancestors)';
  }
  const options = String(headers['x-frame-options'] ?? '')
    .toLowerCase()
    .split(',')
    .map((option) => option.trim());
  const isRefused = options.includes('deny') || (options.includes('sameorigin') && framer.origin !== page.origin);
  return isRefused ? 'it forbids frames (X-Frame-Options)' : null;
};
