/** The address of a screen for another machine. */
import type { Site } from '../model/wire.ts';

/** A box that is opened as localhost is known to other machines by the address that it gives itself. */
export const screenAddress = (slug: string, overview: Pick<Site, 'boxes'> | null): string =>
  new URL(`/screen/${slug}`, overview?.boxes[0]?.url ?? location.origin).href;
