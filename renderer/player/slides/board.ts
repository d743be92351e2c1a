/** How the rows of a timetable share its page. All lengths are hundredths of the screen's smaller side. */

/** The letters of a row of this height are legible at ten metres. */
const LOWEST_ROW = 11;
/** Few rows get more height than their letters need: the letters grow with the height, at a decreasing rate. */
const FULL_ROW = 21;
/** From this height a row has room for a second line with details. */
const AMPLE_ROW = 24;
/** From this height a row has room for a name of three lines, and on a portrait screen for the time above the name. */
const ROOMY_ROW = 28;

interface Rows {
  perPage: number;
  /** Height of a row. The rows of a full page fill it. */
  height: number;
  /** Sizes of the letters: the largest for short names, the usual one, and the smallest that is legible. */
  type: { largest: number; usual: number; smallest: number };
  /** Lines of a name or a place. */
  lines: number;
  /** Lines of the details below the name. */
  details: number;
  /** Whether the time is above the name instead of next to it. */
  isStacked: boolean;
}

/** @param available height for all rows */
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
