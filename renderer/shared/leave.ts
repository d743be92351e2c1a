import { patientFetch } from './retry.ts';

/**
 * Navigates to a page if it responds, so that the browser's error page is never shown.
 * @param isWanted asked once it has responded, for it may take long: whether to go there still
 * @returns false if it does not respond
 */
export const leaveFor = async (url: string, isWanted = () => true): Promise<boolean> => {
  const ok = await patientFetch(url, { method: 'HEAD' }, (response) => response.ok).catch(() => false);
  if (!ok) return false;
  if (!isWanted()) return true;
  if (new URL(url, location.href).href === location.href) location.reload();
  else location.assign(url);
  return true;
};
