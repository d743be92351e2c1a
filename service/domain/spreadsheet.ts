/** What a spreadsheet takes for a formula, so that text of others is only text there. */

/** What a spreadsheet shows as nothing. */
const invisible = String.raw`[\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]`;
/** Also in full width. */
const formulaStart = String.raw`[=+\-@＝＋－＠﹦﹢﹣﹫]`;

const beginsHazardous = new RegExp(`^(?:\\p{Cc}|[;,]*${invisible}*${formulaStart})`, 'u');
/** Where a spreadsheet that separates by semicolons or tabs begins another cell. */
const hazardousInside = new RegExp(`([;\\t\\r\\n])(?=${invisible}*${formulaStart})`, 'gu');

/** The text as a cell that no spreadsheet takes for a formula, or for several cells of which one is a formula. */
export const safeCell = (text: string): string =>
  (beginsHazardous.test(text) ? "'" : '') + text.replace(hazardousInside, "$1'");

/** Where a cell begins, and inside of one where it does for some spreadsheets. */
const separators = /[;\t\r\n]/;
const isInvisible = new RegExp(`^${invisible}$`, 'u');
const isHazardous = new RegExp(`^(?:\\p{Cc}|${formulaStart})$`, 'u');

/**
 * Makes the cells of a CSV (RFC 4180) harmless as it passes: a `'` is put before what a spreadsheet would take for the
 * beginning of a formula.
 * @param written what stands in the place of a character
 * @returns what stands in the place of each piece of the text
 */
export const createSafeCsv = (written: (character: string) => string): ((piece: string) => string) => {
  let isQuoted = false;
  let isAtStart = true;
  return (piece) => {
    let safe = '';
    for (const character of piece) {
      if (character === '"') isQuoted = !isQuoted;
      else {
        const isLineEnd = '\r\n'.includes(character);
        if (isAtStart && !isLineEnd && isHazardous.test(character)) safe += "'";
        const isSeparator = separators.test(character) || (character === ',' && !isQuoted);
        isAtStart = isSeparator || (isAtStart && isInvisible.test(character));
      }
      safe += '\r\n\t'.includes(character) ? character : written(character);
    }
    return safe;
  };
};
