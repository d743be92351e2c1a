/** How often a repeated test repeats itself. */
export const isSoak = process.env.MODE === 'soak';

/**
 * @param few in `npm test`
 * @param many in `npm run soak`
 * @param variable an environment variable that sets the number for both, where it is worth a longer run still
 */
export const repeats = (few: number, many: number, variable?: string): number =>
  Number((variable === undefined ? undefined : process.env[variable]) ?? (isSoak ? many : few));

/**
 * Options of a case that takes long while others check most of what it does: `npm run test:whole` runs it, and whoever names
 * its file on the command line.
 */
export const walk = { skip: process.env['SIGNAGE_TEST_WALKS'] !== 'on' };
