/** Where a `redirect` command leads: pure, and the same for the service that checks it and the page that obeys it. */

/**
 * - `screen`: the page leaves for the page of that screen; `url` is its path and query.
 * - `media`: a file of this service, shown over the player; `url` is its path and query, `name` the file's.
 * - `external`: an http(s) page, shown over the player; `url` as given.
 */
export type RedirectTarget =
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
 * @returns null for a path of this service that no page may be sent to: it has no socket there, so that no command would
 *   bring it back. Addresses are compared as URL parsers read them (WHATWG URL): dot segments, backslashes, encoded
 *   letters and user names are no way around
 */
export const redirectTarget = (url: string, isOwn: (url: URL) => boolean): RedirectTarget | null => {
  const parsed = new URL(url, 'http://service');
  if (!url.startsWith('/') && !isOwn(parsed)) return { kind: 'external', url };
  const [, folder, segment = ''] = /^\/([^/]*)\/([^/]+)$/.exec(parsed.pathname) ?? [];
  const name = decoded(segment);
  // Without the fragment: where that alone differs, a browser stays on the page that it has.
  if (folder === 'screen' && name !== null && /^[a-z0-9-]{1,64}$/.test(name)) {
    return { kind: 'screen', url: `/screen/${name}${parsed.search}` };
  }
  if (folder === 'media' && name !== null) {
    return { kind: 'media', url: parsed.pathname + parsed.search + parsed.hash, name };
  }
  return null;
};
