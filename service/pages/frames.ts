/**
 * What pages of others answer to being framed. A browser does not tell a page why a frame stays empty, so the service
 * looks; only at addresses that the content or a command names, so that nobody can send it anywhere else.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { CodedError } from '../contract/errors.ts';
import { remember } from '../domain/recent.ts';
import { FetchFault } from '../platform/outbound/fault.ts';
import type { Get } from '../platform/outbound/get.ts';
import { refusalOf } from './ancestors.ts';

interface Dependencies {
  /** Whether the content has a web slide with this address. */
  isNamed(url: string): boolean;
  get: Get;
  /** Milliseconds that never jump. */
  monotonicNow(): number;
}

export interface Frames {
  /** A command sends pages to this address. */
  allow(url: string): void;
  /**
   * Whether a page can be shown in a frame.
   * @param framer the origin of the page that the frame is in
   * @param isDeliberate whether the request can't come from a web page of others; any other asks for web slides alone
   * @returns why not, as a clause about the page; null where it can, and where that could not be found out
   * @throws CodedError `invalid_field` where nothing names the address, `origin_refused` where a command alone does
   */
  refusal(url: string, framer: URL, isDeliberate: boolean): Promise<string | null>;
}

/** An answer is good for so long: a slide comes round often, and its page's policy hardly ever changes. */
const FRESH_MS = 300_000;
/** A player waits for the answer: what is slower, or can't be reached from here, is not judged. */
const LONGEST_MS = 5_000;
/** Of commands; the oldest is forgotten. */
const MOST_ALLOWED = 100;
const MOST_KEPT = 500;

/** What a look came to: the headers; or that there is nothing to judge by. */
type Look = Promise<IncomingHttpHeaders | null>;

export const createFrames = ({ isNamed, get, monotonicNow }: Dependencies): Frames => {
  const allowed = new Map<string, true>();
  const looks = new Map<string, { at: number; look: Look }>();

  const look = async (url: string): Look => {
    try {
      // As a browser asks: many servers answer programs otherwise.
      const headers = { Accept: 'text/html,*/*;q=0.8', 'User-Agent': 'Mozilla/5.0 (compatible; signage-player)' };
      const { response } = await get(url, { headers, signal: AbortSignal.timeout(LONGEST_MS) });
      response.destroy();
      return response.headers;
    } catch (error) {
      // The page asks by itself as well, perhaps by a way that this box does not have.
      if (error instanceof FetchFault || /^(Abort|Timeout)Error$/.test((error as Error).name)) return null;
      throw error;
    }
  };

  const lookOnce = (url: string): Look => {
    const known = looks.get(url);
    if (known !== undefined && monotonicNow() - known.at < FRESH_MS) return known.look;
    const fresh = { at: monotonicNow(), look: look(url) };
    remember(looks, url, fresh, MOST_KEPT);
    // What was not to be had may be there in a moment.
    const forget = (): void => {
      if (looks.get(url) === fresh) looks.delete(url);
    };
    fresh.look.then((headers) => headers ?? forget(), forget);
    return fresh.look;
  };

  return {
    allow: (url) => remember(allowed, url, true, MOST_ALLOWED),
    refusal: async (url, framer, isDeliberate) => {
      if (!URL.canParse(url) || !(allowed.has(url) || isNamed(url))) {
        const message = 'url is the address of a web slide, or one that a redirect named.';
        throw new CodedError('invalid_field', message, { field: 'url' });
      }
      if (!isDeliberate && !isNamed(url)) throw new CodedError('origin_refused');
      const headers = await lookOnce(url);
      return headers === null ? null : refusalOf(headers, new URL(url), framer);
    },
  };
};
