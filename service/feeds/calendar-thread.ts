/** Worker thread that reads and expands calendars, one request at a time. A separate bundle, with the rules of time zones. */
import { parentPort } from 'node:worker_threads';
import type { Reply } from '../platform/worker.ts';
import { expandCalendar } from './calendar.ts';
import { type Calendar, readCalendar } from './calendar-text.ts';

export type CalendarQuestion =
  | { kind: 'read'; text: string }
  | { kind: 'expand'; calendar: Calendar; from: number; until: number; timeZone: string };

const answer = (question: CalendarQuestion): Reply => {
  try {
    if (question.kind === 'read') return { value: readCalendar(question.text) };
    const { calendar, from, until, timeZone } = question;
    return { value: expandCalendar(calendar, { from, until }, timeZone) };
  } catch (error) {
    return { error: (error as Error).message };
  }
};

parentPort?.on('message', (question: CalendarQuestion) => parentPort?.postMessage(answer(question)));
