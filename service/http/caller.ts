/** Who sent a request: a program, or a browser that an external web page may have made send it. */
import type { IncomingMessage } from 'node:http';

/** Every browser starts its User-Agent like this (Fetch, "default `User-Agent` value"), and no page can change it. */
const BROWSER = /^(?:Mozilla|Opera)\//;

/**
 * Whether the request comes from a program, a page of this service or the address bar. False if an external web page
 * may have caused it with a `no-cors` GET. Only for requests that passed the gate's origin check.
 *
 * Over plain http, except to localhost, browsers send no `Sec-Fetch-Site`, and with `no-referrer` such a request has
 * neither Origin nor Referer. It always has the browser's User-Agent, and it cannot have an `x-signage-` header. So a
 * program whose User-Agent starts with `Mozilla/` must send such a header, with any value.
 */
export const isDeliberate = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean => {
  const { origin, referer, 'sec-fetch-site': site, 'user-agent': agent = '' } = headers;
  if (Object.keys(headers).some((name) => name.startsWith('x-signage-'))) return true;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  return origin !== undefined || Boolean(referer) || !BROWSER.test(agent);
};
