/** Calendars (RFC 5545) read into what is needed of their events and zones. Pure. */
import ICAL from 'ical.js';

const MOST_EVENTS = 50_000;
const MOST_RULE_CHARACTERS = 500;

type JCal = [name: string, properties: unknown[], components: JCal[]];

/** What is kept of a calendar: jCal (RFC 7265) of its zones and events, with the properties that count. */
export type Calendar = JCal;

/** The property of a calendar that counts its events that could not be read. */
export const UNREAD = 'x-unread';

/** Other lines are left out before the library sees them: it refuses a text for one broken line. */
const COUNTS = new RegExp(
  `^(?:${'begin end uid summary location dtstart dtend duration rrule rdate exdate recurrence-id status class transp sequence tzid tzoffsetfrom tzoffsetto'.replaceAll(' ', '|')})[;:]`,
  'i',
);

/** A zone changes its offset once or twice a year: other rules are left out, because some never find a date. */
const yearly = ([name, properties, inner]: JCal): JCal => [
  name,
  properties.filter((property) => {
    const [field, , , rule] = property as [string, unknown, unknown, { freq?: unknown }?];
    return field !== 'rrule' || (rule?.freq === 'YEARLY' && JSON.stringify(rule).length <= MOST_RULE_CHARACTERS);
  }),
  inner,
];

const ENDS = { vevent: /^END:VEVENT/im, vtimezone: /^END:VTIMEZONE/im };

/** An event or a zone, from its BEGIN on; null: it is broken. */
const readComponent = (text: string, kind: keyof typeof ENDS): JCal | null => {
  const end = text.search(ENDS[kind]);
  if (end === -1) return null;
  const lines = text
    .slice(0, end)
    .split(/\r?\n/)
    .filter((line) => COUNTS.test(line))
    // The library knows the words of a rule in capitals alone.
    .map((line) => (/^rrule/i.test(line) ? line.toUpperCase() : line));
  try {
    const [name, properties, inner] = ICAL.parse([...lines, `END:${kind}`].join('\n')) as JCal;
    if (name !== kind) return null;
    return [name, properties, kind === 'vevent' ? [] : inner.map(yearly)];
  } catch {
    return null;
  }
};

/**
 * Reads each event and each zone by itself, so that a broken one does not hide the others.
 * @throws Error whose message is a clause about the calendar
 */
export const readCalendar = (text: string): Calendar => {
  if (!/^\s*BEGIN:VCALENDAR/i.test(text)) throw new Error('it is no calendar');
  const count = text.match(/^BEGIN:VEVENT/gim)?.length ?? 0;
  if (count > MOST_EVENTS) throw new Error(`it has ${count} events, more than ${MOST_EVENTS}`);
  // Those of UTF-16 are still folded: others are unfolded before they are decoded.
  const parts = text.replace(/\r?\n[ \t]/g, '').split(/^(?=BEGIN:(?:VEVENT|VTIMEZONE)\b)/im);
  const components: JCal[] = [];
  let unread = 0;
  for (const part of parts.slice(1)) {
    const kind = /^BEGIN:VEVENT/i.test(part) ? 'vevent' : 'vtimezone';
    const component = readComponent(part, kind);
    if (component !== null) components.push(component);
    else if (kind === 'vevent') unread += 1;
  }
  const isWhole = /^END:VCALENDAR/im.test(parts.at(-1) ?? '');
  if (!isWhole || (unread > 0 && !components.some(([name]) => name === 'vevent')))
    throw new Error('its lines are broken');
  return ['vcalendar', unread === 0 ? [] : [[UNREAD, {}, 'integer', unread]], components];
};
