import { patientFetch } from './patience.ts';

/**
 * Navigates to a page if it responds, so that the browser's error page is never shown.
 * @returns false if it does not respond
 */
export const leaveFor = async (url: string): Promise<boolean> => {
  const ok = await patientFetch(url, { method: 'HEAD' }, (response) => response.ok).catch(() => false);
  if (!ok) return false;
  if (new URL(url, location.href).href === location.href) location.reload();
  else location.assign(url);
  return true;
};
