/**
 * The first thing every page calls, before it reads or writes anything: in a frame it would have the storage, and with it
 * the identity, of the display. Browsers refuse to frame it by its headers; this holds where they do not.
 * @throws Error inside a frame
 */
export const requireTopLevel = (): void => {
  if (window.top !== window) throw new Error('a page of the player does not run inside a frame');
};
