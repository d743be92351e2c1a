/** Whether a request was meant: what a web page of others can make a browser send without being able to read the answer. */
import type { IncomingMessage } from 'node:http';

/** Every browser calls itself so (Fetch, "default User-Agent value"), and no page can make it say anything else. */
const BROWSER = /^(?:Mozilla|Opera)\//;

/**
 * Whether the caller is a program, or a page of this service, or somebody at the address bar; and not perhaps a web page
 * of others, with a `no-cors` GET. For requests whose origin the gate has let pass.
 *
 * Over plain http, by any name but localhost, browsers send no `Sec-Fetch-Site`, and with `no-referrer` such a request
 * has no Origin and no Referer either. What it always has is the browser's User-Agent; what it never can have is a header
 * of ours. So a program that calls itself Mozilla has to send one, whatever its value, to be taken for a program.
 */
export const isDeliberate = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean => {
  const { origin, referer, 'sec-fetch-site': site, 'user-agent': agent = '' } = headers;
  if (Object.keys(headers).some((name) => name.startsWith('x-signage-'))) return true;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  return origin !== undefined || Boolean(referer) || !BROWSER.test(agent);
};
