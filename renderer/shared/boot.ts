import type { PageBoot } from '../../service/contract/page.ts';
import { patientFetch } from './retry.ts';

/** The data that the service embedded in the page. */
export const readBoot = <Boot extends PageBoot>(page: Document): Boot =>
  JSON.parse(page.getElementById('boot')?.textContent ?? '') as Boot;

/** The data that the service embeds in a page now. @param url of the page, which is public */
export const fetchBoot = async <Boot extends PageBoot>(url: string): Promise<Boot> => {
  const html = await patientFetch(url, {}, (response) => response.text());
  return readBoot<Boot>(new DOMParser().parseFromString(html, 'text/html'));
};

/**
 * Called by every page first: in a frame the page would have the storage, and so the identity, of the display. The response
 * headers already deny framing; this is the second barrier.
 * @throws Error inside a frame
 */
export const requireTopLevel = (): void => {
  if (window.top !== window) throw new Error('a page of the player does not run inside a frame');
};
