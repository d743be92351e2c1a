/**
 * Called by every page first: in a frame the page would have the storage, and so the identity, of the display. The response
 * headers already deny framing; this is the second barrier.
 * @throws Error inside a frame
 */
export const requireTopLevel = (): void => {
  if (window.top !== window) throw new Error('a page of the player does not run inside a frame');
};
