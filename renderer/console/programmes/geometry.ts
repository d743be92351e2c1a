/**
 * A week of the site as a plane: a row for each day, minutes of local time from left to right. Pure. A window may run past
 * midnight: its minutes count from midnight of the day on which it begins, up to 2,880.
 */
import { beginsOn, type DayRule, type Programme } from '../../../service/domain/programmes.ts';
import { addDays, instantOf, wallTimeOf, weekdayOf } from '../../../service/domain/wall-time.ts';

export const DAY = 1_440;
/** Dragged blocks begin and end at multiples of it, minutes. */
export const STEP = 15;
const MS = 60_000;

export interface Window {
  from: number;
  until: number;
}

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));
const snap = (minutes: number): number => Math.round(minutes / STEP) * STEP;

/** The minutes of a place in a row. @param share 0 to 1 */
export const minutesAt = (share: number): number => clamp(snap(share * DAY), 0, DAY);

/** `HH:MM` or `HH:MM:SS` as minutes. */
const minutesOf = (time: string): number => {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return hours * 60 + minutes + seconds / 60;
};

const pad = (value: number): string => String(value).padStart(2, '0');

/** Minutes as `HH:MM`; those past midnight are times of the next day. */
export const timeOf = (minutes: number): string =>
  `${pad(Math.floor(minutes / 60) % 24)}:${pad(Math.floor(minutes % 60))}`;

export const windowOf = ({ start_time, end_time }: DayRule): Window => {
  const from = minutesOf(start_time ?? '00:00');
  const until = minutesOf(end_time ?? '00:00');
  return { from, until: until <= from ? until + DAY : until };
};

/** The times of a window; midnight is left out, as all day has no times. */
export const timesOf = ({ from, until }: Window): Pick<DayRule, 'start_time' | 'end_time'> => ({
  start_time: from === 0 ? undefined : timeOf(from),
  end_time: until === DAY ? undefined : timeOf(until),
});

/** The window between two places of a row, in any order. */
export const drawnWindow = (one: number, other: number): Window => {
  const from = clamp(snap(Math.min(one, other)), 0, DAY - STEP);
  return { from, until: Math.max(from + STEP, snap(Math.max(one, other))) };
};

/** The window with its start moved; it keeps its length. */
export const movedWindow = ({ from, until }: Window, minutes: number): Window => {
  const start = clamp(minutes === 0 ? from : snap(from + minutes), 0, DAY - STEP);
  return { from: start, until: start + until - from };
};

export const withStart = ({ until }: Window, minutes: number): Window => ({
  from: clamp(snap(minutes), Math.max(0, until - DAY), Math.min(DAY, until) - STEP),
  until,
});

export const withEnd = ({ from }: Window, minutes: number): Window => ({
  from,
  until: clamp(snap(minutes), from + STEP, from + DAY),
});

const instantIn = (date: string, minutes: number, timeZone: string): number =>
  instantOf(minutes < DAY ? date : addDays(date, 1), timeOf(minutes), timeZone);

/** How long a window lasts on a date, minutes: on days on which the clock changes, longer or shorter than it looks. */
export const lengthOn = (date: string, { from, until }: Window, timeZone: string): number =>
  (instantIn(date, until, timeZone) - instantIn(date, from, timeZone)) / MS;

/** Minutes of a day that its clock skips, or shows twice. */
export interface ClockChange extends Window {
  isSkipped: boolean;
}

/** Null: the day has 24 hours. */
export const clockChangeOn = (date: string, timeZone: string): ClockChange | null => {
  if (lengthOn(date, { from: 0, until: DAY }, timeZone) === DAY) return null;
  const at = (minutes: number): number => instantIn(date, minutes, timeZone);
  const steps = Array.from({ length: DAY / STEP }, (_, step) => step * STEP);
  const skipped = steps.filter((minutes) => wallTimeOf(at(minutes), timeZone).minutes !== minutes);
  const [first] = skipped;
  if (first !== undefined) return { isSkipped: true, from: first, until: (skipped.at(-1) ?? first) + STEP };
  const last = steps.find((minutes) => at(minutes + STEP) - at(minutes) > STEP * MS);
  if (last === undefined) return null;
  const until = last + STEP;
  return { isSkipped: false, from: until - ((at(until) - at(last)) / MS - STEP), until };
};

/** The part of a programme's window that lies in one row. */
export interface Block extends Window {
  /** Of the programme. */
  index: number;
  row: number;
  /** The row of the day on which the window begins; -1: the day before the week. */
  origin: number;
  isHead: boolean;
  isTail: boolean;
  /** Blocks of a row that overlap have different lanes, from 0. */
  lane: number;
}

/** @param dates the day before the week, its days, and the day after */
export const blocksOf = (programmes: readonly DayRule[], dates: readonly string[]): Block[] => {
  const blocks = programmes.flatMap((programme, index) => {
    const { from, until } = windowOf(programme);
    return dates.slice(0, -1).flatMap((date, day): Omit<Block, 'lane'>[] => {
      if (!beginsOn(programme, date)) return [];
      const origin = day - 1;
      const head = {
        index,
        origin,
        row: origin,
        from,
        until: Math.min(until, DAY),
        isHead: true,
        isTail: until <= DAY,
      };
      const tail = { index, origin, row: origin + 1, from: 0, until: until - DAY, isHead: false, isTail: true };
      return [head, tail].filter((each) => each.row >= 0 && each.row < dates.length - 2 && each.until > each.from);
    });
  });
  const ends = new Map<number, number[]>();
  return blocks
    .toSorted((one, other) => one.row - other.row || one.from - other.from || one.index - other.index)
    .map((block) => {
      const lanes = ends.get(block.row) ?? [];
      const free = lanes.findIndex((end) => end <= block.from);
      const lane = free === -1 ? lanes.length : free;
      lanes[lane] = block.until;
      ends.set(block.row, lanes);
      return { ...block, lane };
    });
};

/** The blocks in the lanes that they had before; those of other days are in the first. */
export const keepLanes = (blocks: readonly Block[], before: readonly Block[]): Block[] =>
  blocks.map((block) => {
    const same = (each: Block): boolean =>
      each.index === block.index && each.origin === block.origin && each.isHead === block.isHead;
    return { ...block, lane: before.find(same)?.lane ?? 0 };
  });

/** A stretch of time as parts of rows. @param week midnights of its days, and the one after, ms since the epoch */
export const partsOf = (
  { start, end }: { start: number; end: number },
  week: readonly number[],
  timeZone: string,
): (Window & { row: number })[] =>
  week.slice(0, -1).flatMap((midnight, row) => {
    const next = week[row + 1] ?? midnight;
    const [first, last] = [Math.max(start, midnight), Math.min(end, next)];
    if (first >= last) return [];
    const from = first === midnight ? 0 : wallTimeOf(first, timeZone).minutes;
    const until = last === next ? DAY : wallTimeOf(last, timeZone).minutes;
    // In the hour that is repeated an end can lie before its start.
    return until > from ? [{ row, from, until }] : [];
  });

/** What is dragged: a block, or one of its edges. */
export type Grip = 'move' | 'start' | 'end';

export interface Drag {
  grip: Grip;
  /** Of the block. */
  origin: number;
  /** Where it began, and where it is. */
  from: { row: number; minutes: number };
  to: { row: number; minutes: number };
}

/** The programme after a drag. Its times change on all its days, its day on the dragged one alone. */
export const dragged = <One extends Programme>(
  programme: One,
  { grip, origin, from, to }: Drag,
  dates: readonly string[],
): One => {
  const window = windowOf(programme);
  const absolute = (to.row - origin) * DAY + to.minutes;
  if (grip === 'start') return { ...programme, ...timesOf(withStart(window, absolute)) };
  if (grip === 'end') return { ...programme, ...timesOf(withEnd(window, absolute)) };
  const moved = { ...programme, ...timesOf(movedWindow(window, to.minutes - from.minutes)) };
  const [before, after] = [dates[origin + 1], dates[clamp(origin + to.row - from.row, 0, dates.length - 3) + 1]];
  return before === undefined || after === undefined ? moved : onOtherDay(moved, before, after);
};

/** The rule with one of its days in place of another. One of every day stays as it is. */
export const onOtherDay = <Rule extends DayRule>(rule: Rule, before: string, after: string): Rule => {
  if (before === after) return rule;
  const replaced = <Value extends string | number>(values: readonly Value[], old: Value, next: Value): Value[] =>
    [...new Set(values.map((each) => (each === old ? next : each)))].sort((one, other) => (one < other ? -1 : 1));
  if (rule.dates?.includes(before)) return { ...rule, dates: replaced(rule.dates, before, after) };
  return rule.days == null ? rule : { ...rule, days: replaced(rule.days, weekdayOf(before), weekdayOf(after)) };
};
