/** How the rows of a timetable share its page. All lengths are hundredths of the screen's smaller side. */

/** Letters of such a row can be read at ten metres. */
const LOWEST_ROW = 11;
/** Few rows are higher than their letters need: these grow with them, but ever more slowly. */
const FULL_ROW = 21;
/** From here on a row has room for a second line of details. */
const AMPLE_ROW = 24;
/** From here on a row has room for a name of three lines, and on a portrait screen for its time above its name. */
const ROOMY_ROW = 28;

interface Rows {
  perPage: number;
  /** Of one row. The rows of a page that is full fill it. */
  height: number;
  /** Sizes of its letters: the largest for short names, that of a page with room, the smallest that can be read. */
  type: { largest: number; usual: number; smallest: number };
  /** That a name or a place may take. */
  lines: number;
  /** That what is told below the name may take. */
  details: number;
  /** The time stands above the name, not beside it. */
  isStacked: boolean;
}

/** @param available the height that is there for rows */
export const rowsOf = (available: number, entries: number, isPortrait: boolean): Rows => {
  const perPage = Math.max(1, Math.floor(available / LOWEST_ROW));
  const height = available / Math.min(perPage, Math.max(entries, 1));
  const isStacked = isPortrait && height >= ROOMY_ROW;
  const share = isPortrait ? 0.43 : 0.46;
  const usual = share * Math.min(height, FULL_ROW);
  const grown = isPortrait ? usual : Math.min(usual + 0.2 * Math.max(0, height - FULL_ROW), 15);
  const largest = isStacked ? Math.min(0.28 * height, 13) : grown;
  const type = { largest, usual: Math.min(usual, largest), smallest: share * LOWEST_ROW };
  return { perPage, height, type, lines: height >= ROOMY_ROW ? 3 : 2, details: height >= AMPLE_ROW ? 2 : 1, isStacked };
};
