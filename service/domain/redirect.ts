/** The target of a `redirect` command. Pure; shared by the service, which checks it, and the page, which follows it. */
import { canonicalDeviceId } from '../contract/readable.ts';

/**
 * - `screen`: the page leaves for the page of that screen; `url` is its path and query.
 * - `code`: the page leaves for the landing page of its device, which shows a claim code; `url` is its path and query.
 * - `media`: a file of this service, shown over the player; `url` is its path and query, `name` the file's.
 * - `external`: an http(s) page, shown over the player; `url` as given.
 */
export type RedirectTarget =
  | { kind: 'code'; url: string; deviceId: string }
  | { kind: 'screen'; url: string }
  | { kind: 'media'; url: string; name: string }
  | { kind: 'external'; url: string };

const decoded = (segment: string): string | null => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
};

/**
 * @param url a path of this service, or an absolute http(s) URL
 * @param isOwn whether an absolute URL names this service
 * @returns null for other paths of this service: the page would have no socket there, so no command could reach it.
 *   Paths are compared after parsing (WHATWG URL), so dot segments, backslashes, encoded letters and user names do not
 *   bypass the check
 */
export const redirectTarget = (url: string, isOwn: (url: URL) => boolean): RedirectTarget | null => {
  const parsed = new URL(url, 'http://service');
  if (!url.startsWith('/') && !isOwn(parsed)) return { kind: 'external', url };
  if (parsed.pathname === '/') {
    const deviceId = canonicalDeviceId(parsed.searchParams.get('deviceId') ?? '');
    const isCode = parsed.searchParams.get('show') === 'code' && parsed.searchParams.size === 2;
    if (!isCode || !/^[A-Za-z0-9._:-]{1,128}$/.test(deviceId)) return null;
    return { kind: 'code', url: `/?deviceId=${deviceId}&show=code`, deviceId };
  }
  const [, folder, segment = ''] = /^\/([^/]*)\/([^/]+)$/.exec(parsed.pathname) ?? [];
  const name = decoded(segment);
  // Without the fragment: a browser does not load the page if only the fragment differs.
  if (folder === 'screen' && name !== null && /^[a-z0-9-]{1,64}$/.test(name)) {
    return { kind: 'screen', url: `/screen/${name}${parsed.search}` };
  }
  if (folder === 'media' && name !== null) {
    return { kind: 'media', url: parsed.pathname + parsed.search + parsed.hash, name };
  }
  return null;
};
