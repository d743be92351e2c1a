/**
 * Finds out whether external pages can be framed. Browsers do not report to a page why a frame stays empty, so the service
 * requests the page itself. It requests only URLs named by the content or a command, so that no client can choose others.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { type FrameVerdict, frameQuery } from '../contract/frames.ts';
import { parseUrl } from '../contract/url.ts';
import { remember } from '../domain/collections.ts';
import { isDeliberate } from '../http/caller.ts';
import type { Routes } from '../http/routes.ts';
import { FetchFault } from '../platform/outbound/answer.ts';
import type { Get } from '../platform/outbound/get.ts';

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

interface Dependencies {
  /** Whether the content has a web slide with this URL. */
  isNamed(url: string): boolean;
  get: Get;
  /** Monotonic clock, ms. */
  monotonicNow(): number;
}

export type Frames = ReturnType<typeof createFrames>;

/** Cache lifetime: slides repeat often, and the policy of a page rarely changes. */
const FRESH_MS = 300_000;
/** The player waits for the result, so a page that is slower or unreachable counts as frameable. */
const TIMEOUT_MS = 5_000;
/** Maximum number of URLs from commands; the oldest is forgotten. */
const MAX_ALLOWED = 100;
const MAX_CACHED = 500;

/** The response headers of a page; null if it could not be requested. */
type PageHeaders = Promise<IncomingHttpHeaders | null>;

export const createFrames = ({ isNamed, get, monotonicNow }: Dependencies) => {
  const allowed = new Map<string, true>();
  const cache = new Map<string, { at: number; headers: PageHeaders }>();

  const fetchHeaders = async (url: string): PageHeaders => {
    try {
      // The headers of a browser: many servers answer programs differently.
      const headers = { Accept: 'text/html,*/*;q=0.8', 'User-Agent': 'Mozilla/5.0 (compatible; signage-player)' };
      const { response } = await get(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
      response.destroy();
      return response.headers;
    } catch (error) {
      // The browser requests the page too, and may reach it where this box cannot.
      if (error instanceof FetchFault || /^(Abort|Timeout)Error$/.test((error as Error).name)) return null;
      throw error;
    }
  };

  const fetchCached = (url: string): PageHeaders => {
    const known = cache.get(url);
    if (known !== undefined && monotonicNow() - known.at < FRESH_MS) return known.headers;
    const fresh = { at: monotonicNow(), headers: fetchHeaders(url) };
    remember(cache, url, fresh, MAX_CACHED);
    // Failures are not cached.
    const forget = (): void => {
      if (cache.get(url) === fresh) cache.delete(url);
    };
    fresh.headers.then((headers) => headers ?? forget(), forget);
    return fresh.headers;
  };

  return {
    /** Permits the URL of a redirect command. */
    allow: (url: string): void => remember(allowed, url, true, MAX_ALLOWED),
    /**
     * Whether a page can be shown in a frame.
     * @param framer the origin of the framing page
     * @param isDeliberate false if an external web page may have caused the request; then only web slides are permitted
     * @returns why not, as a clause about the page; null if it can, or the page could not be requested
     * @throws CodedError `invalid_field` if neither content nor command names the URL; `origin_refused` where only a
     *   command names it and the request is not deliberate
     */
    refusal: async (url: string, framer: URL, isDeliberate: boolean): Promise<string | null> => {
      const parsed = parseUrl(url);
      if (parsed === null || !(allowed.has(url) || isNamed(url))) {
        const message = 'url must be the address of a web slide or of a redirect command.';
        throw new CodedError('invalid_field', message, { field: 'url' });
      }
      if (!isDeliberate && !isNamed(url)) throw new CodedError('origin_refused');
      const headers = await fetchCached(url);
      return headers === null ? null : refusalOf(headers, parsed, framer);
    },
  };
};

/** `GET /api/frames`: whether an external page can be shown in a frame. */
export const frameRoutes = (frames: Pick<Frames, 'refusal'>): Routes => ({
  'GET /api/frames': async (ctx) => {
    const { url, origin } = readFields(frameQuery, ctx.query);
    const reason = await frames.refusal(url, new URL(origin), isDeliberate(ctx.req));
    ctx.body = { url, framable: reason === null, reason } satisfies FrameVerdict;
  },
});
