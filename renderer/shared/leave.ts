import { patientFetch } from './patience.ts';

/**
 * Leaves the page, but only for one that answers, so that nobody ever sees a browser's error page.
 * @returns false where it does not answer
 */
export const leaveFor = async (url: string): Promise<boolean> => {
  const ok = await patientFetch(url, { method: 'HEAD' }, (response) => response.ok).catch(() => false);
  if (!ok) return false;
  if (new URL(url, location.href).href === location.href) location.reload();
  else location.assign(url);
  return true;
};
