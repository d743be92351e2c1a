/** Figures and times for a person. */

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

/** An ISO 8601 instant in the time of this machine, to the second: `2026-11-22 08:15:00`; a dash if there is none. */
export const moment = (instant: string | null): string => {
  if (instant === null) return '-';
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return instant;
  const day = [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(':')}`;
};

/** Enough of a SHA-256 to tell versions apart. */
export const shortHash = (sha256: string): string => sha256.slice(0, 12);

/** `1 page`, `2 pages`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
