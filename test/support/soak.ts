/** How often a repeated test repeats itself. */
export const isSoak = process.env.MODE === 'soak';

/**
 * @param few in `npm test`
 * @param many in `npm run soak`
 * @param variable an environment variable that sets the number for both, where it is worth a longer run still
 */
export const repeats = (few: number, many: number, variable?: string): number =>
  Number((variable === undefined ? undefined : process.env[variable]) ?? (isSoak ? many : few));

/** Options of a slow case that other tests mostly cover: it runs in `npm run test:whole`, and where its file is named. */
export const walk = { skip: process.env['SIGNAGE_TEST_WALKS'] !== 'on' };

/** Rows of a table that run only where walks do. */
export const walks = <Row>(...rows: Row[]): Row[] => (walk.skip ? [] : rows);
