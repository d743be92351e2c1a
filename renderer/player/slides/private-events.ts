/** Private events, as a slide shows them: another slide of the screen may show more. */
import { languages, type Texts } from 'virtual:texts/player';
import { busy } from '../../../service/contract/calendar-values.ts';
import type { CalendarEvent } from '../../../service/contract/calendars.ts';
import type { PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import { textsFor } from '../../texts/messages.ts';

const wordFor = (): string => textsFor<Texts>(languages, navigator.languages).calendar.busy;

/** The events without the titles and places of private ones, unless the slide shows them. */
export const visibleEvents = (events: readonly CalendarEvent[], { content }: Pick<Slide, 'content'>): CalendarEvent[] =>
  events.map((event) =>
    event.private && content?.['show_private'] !== true ? { ...event, title: wordFor(), location: null } : event,
  );

type Group = PlaylistPayload['timetableGroups'][number];

/** The entries of a timetable; those of a calendar have a word for private events, which is translated. */
export const visibleEntries = ({ entries, fetched_at }: Pick<Group, 'entries' | 'fetched_at'>): Group['entries'] =>
  fetched_at === undefined
    ? entries
    : entries.map((entry) => (entry.title === busy ? { ...entry, title: wordFor() } : entry));
