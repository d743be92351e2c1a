/** Pages over https load nothing over plain http (W3C, Mixed Content). */

/**
 * Why a page does not load an address; null: it does. Pure.
 * @param protocol of the page
 */
export const plainHttpFault = (url: string, protocol: string | undefined): string | null =>
  protocol === 'https:' && /^http:/i.test(url)
    ? `${url} would be loaded over plain http, which a page over https does not do`
    : null;

/** Whether this page loads the address. */
export const isLoadable = (url: string): boolean => plainHttpFault(url, globalThis.location?.protocol) === null;

/** @throws Error if this page does not load the address */
export const requireLoadable = (url: string): void => {
  const fault = plainHttpFault(url, globalThis.location?.protocol);
  if (fault !== null) throw new Error(fault);
};
