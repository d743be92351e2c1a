/** Calendars in the payload of pages. */
import { z } from 'zod';
import { instant } from './terms.ts';

/** Days of a calendar that pages get, and most events of one. */
export const calendarDays = 8;
export const mostCalendarEvents = 500;

export const calendarEvent = z
  .object({
    id: z.string().describe('id of the event at this time'),
    title: z.string().describe('title of the event; "Busy" of a private one that is not shown'),
    location: z.string().nullable().describe('where'),
    starts_at: instant,
    ends_at: instant,
    all_day: z.boolean().describe('whole days of the site'),
    private: z.boolean().describe('its owner calls it private'),
    free: z.boolean().optional().describe('it takes up no time of its owner, and no room; absent: it does'),
  })
  .meta({ id: 'CalendarEvent' });
export type CalendarEvent = z.infer<typeof calendarEvent>;
