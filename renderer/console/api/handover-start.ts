/** That this tab itself began to take its person to the secure page: a link from elsewhere cannot bring a key here. */
const BEGUN = 'signage.console.handover';
/** How long it takes at most, with a root certificate to install, in ms. */
const LONGEST_MS = 15 * 60_000;

/** Where the browser stores nothing, no key comes back. */
export const beginHandover = (): void => {
  try {
    sessionStorage.setItem(BEGUN, String(Date.now()));
  } catch {
    // The page that comes back says so.
  }
};

/** Whether this tab began it and a key is awaited, which holds for one key. */
export const takeHandover = (): boolean => {
  if (isSecureContext) return false;
  try {
    const at = Number(sessionStorage.getItem(BEGUN) ?? Number.NaN);
    sessionStorage.removeItem(BEGUN);
    return Math.abs(Date.now() - at) < LONGEST_MS;
  } catch {
    return false;
  }
};
