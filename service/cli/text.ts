/** Makes untrusted text safe for a terminal. */
import stringWidth from 'fast-string-width';

/**
 * Characters that a terminal interprets instead of printing: control characters (C0, DEL, C1), line and paragraph
 * separators, and bidirectional formatting characters.
 */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const escapeOf = (character: string): string => {
  const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
  const code = character.charCodeAt(0);
  return named ?? (code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`);
};

/** The text with control characters written out: ESC becomes `\x1b`. */
export const visible = (text: string): string => text.replace(CONTROLS, escapeOf);

/** The same for text of several lines, whose line ends and tabs stay. */
export const visibleLines = (text: string): string =>
  text.replace(CONTROLS, (character) => ('\n\t'.includes(character) ? character : escapeOf(character)));

/** JSON without control characters, so that a terminal shows it and a program reads the same value. */
export const safeJson = (value: unknown, indent = 2): string =>
  JSON.stringify(value, null, indent).replace(CONTROLS, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The text with spaces up to a width in columns of a terminal. */
const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - stringWidth(text)));

/** Aligns columns; cells are made visible. The last column is not padded. */
export const columns = (rows: readonly (readonly string[])[]): string[] => {
  const cells = rows.map((row) => row.map(visible));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, stringWidth(cell));
  }
  return cells.map((row) =>
    row
      .map((cell, index) => padded(cell, widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};
