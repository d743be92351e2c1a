/** Makes untrusted text safe for a terminal; figures and times for a person. */
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
export const padded = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - stringWidth(text)));

/** The text with at most `most` columns of a terminal. */
export const fitted = (text: string, most: number): string => {
  if (2 * text.length <= most) return text;
  // A character can have no width, but not without end.
  const given = text.slice(0, 4 * most);
  if (given === text && stringWidth(text) <= most) return text;
  let width = 1;
  let kept = '';
  for (const character of given) {
    width += stringWidth(character);
    if (width > most) break;
    kept += character;
  }
  return `${kept}…`;
};

/** Columns of a cell: one long name would widen each row of a table. */
const MAX_CELL = 200;

/** Aligns columns; cells are made visible. The last column is not padded. */
export const columns = (rows: readonly (readonly string[])[]): string[] => {
  const cells = rows.map((row) => row.map((cell) => fitted(visible(cell.slice(0, 4 * MAX_CELL)), MAX_CELL)));
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

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `482113` becomes `470.8 KiB`. */
export const bytes = (count: number): string => {
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
};

const pad = (value: number): string => String(value).padStart(2, '0');

/** An ISO 8601 instant in the time of this machine, to the second: `2026-11-22 08:15:00+01:00`; a dash if there is none. */
export const moment = (instant: string | null): string => {
  if (instant === null) return '-';
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return instant;
  const day = [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join('-');
  const offset = -date.getTimezoneOffset();
  const zone = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map(pad).join(':');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(':')}${offset < 0 ? '-' : '+'}${zone}`;
};

/** Text of a stream with its control characters written out in JSON, where they can only stand in strings. */
export const safeJsonText = (text: string): string =>
  text.replace(CONTROLS, (character) =>
    '\n\r\t'.includes(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Enough of a SHA-256 to tell versions apart. */
export const shortHash = (sha256: string): string => sha256.slice(0, 12);

/** `1 page`, `2 pages`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
