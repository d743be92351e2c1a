/** The records of plays, as the box answers and saves them. */
import type { Client } from '../api/client.ts';
import { saveFile } from '../ui/save-file.ts';

/** Timeout: the box queries the other boxes before it answers. */
export const ANSWER_MS = 30_000;
/** A file of a month can be large. */
const SAVE = { timeout: 5 * 60_000, limit: 512 * 1024 ** 2 };

export const HOUR_MS = 3_600_000;

/** @param screen empty: all of them; @param to ms since the epoch; absent: until now */
export const playsPath = (format: 'json' | 'csv', screen: string, from: number | string, to?: number): string => {
  const query = new URLSearchParams({ from: new Date(from).toISOString(), format });
  if (to !== undefined) query.set('to', new Date(to).toISOString());
  if (screen !== '') query.set('screen', screen);
  return `/console/api/plays?${query}`;
};

/** @throws why the box does not send them */
export const savePlays = async (client: Client, path: string): Promise<void> =>
  saveFile('plays.csv', await (await client.request(path, SAVE)).blob());
