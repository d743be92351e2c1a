/** The URLs of the kiosk's own pages. */

/** Their origin. */
export const ownOrigin = 'kiosk://pages';

/** The URL of one of the pages. */
export const ownPage = (file: string, query: Readonly<Record<string, string>> = {}): string => {
  const url = new URL(`${ownOrigin}/${file}`);
  url.search = String(new URLSearchParams(query));
  return url.href;
};
