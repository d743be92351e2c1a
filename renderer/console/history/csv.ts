/** Rows as CSV (RFC 4180) that no spreadsheet takes for formulas. Pure. */
import { safeCell } from '../../../service/domain/spreadsheet.ts';

const cell = (text: string): string => {
  const safe = safeCell(text);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
