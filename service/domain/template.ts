/** Names and filters of templates. The player renders templates; the service checks them when it loads the content. */
import type { Slide } from '../contract/slides.ts';
import { remember } from './collections.ts';

/** The player's variables; they take precedence over values of a slide's content. */
export const playerNames = [
  'content',
  'slide',
  'screen',
  'sources',
  'feeds',
  'timetables',
  'calendars',
  'now',
] as const;
export type PlayerName = (typeof playerNames)[number];

/** The filters beyond Liquid's own. */
export const templateFilters = [
  'number',
  'percent',
  'currency',
  'unit',
  'day',
  'time',
  'ago',
  'until',
  'markdown',
  'qr',
] as const;
export type TemplateFilter = (typeof templateFilters)[number];

/** Limits of liquidjs: characters of a template, ms per rendering, and allocated values. */
export const templateLimits = { parseLimit: 500_000, renderLimit: 500, memoryLimit: 5_000_000 };

/** From the beginning of a tag or output to its end, which is not one in quotes. */
const TAG = /^(?:"[^"]*"|'[^']*'|[^"'])*?[%}]\}/;

/** What Liquid evaluates, without the text between. More than that where quotes do not match, as in comments. */
const codeOf = (html: string): string =>
  html
    .split(/\{[{%]/)
    .slice(1)
    .map((part) => TAG.exec(part)?.[0] ?? part)
    .join('\n');

/**
 * Matches `feeds.ID`, `feeds["ID"]`, `feeds` in any other use; not `content.feeds`. Where a variable is in the brackets, its
 * name is captured.
 */
const USES =
  /\b(?<!(?<!\.)\.)(feeds|sources|timetables|calendars)\b(?:\s*\.\s*([A-Za-z_][\w-]*)|\s*\[\s*(?:"([^"]*)"|'([^']*)')\s*\]|(?=\s*\[\s*((?:slide\s*\.\s*(?=content\b))?[A-Za-z_][\w-]*))|)/g;

/** Matches the variable of a loop or an assignment, and the variable that it is taken from. */
const TAKEN =
  /\b(?:(?:for|tablerow)\s+([\w-]+)\s+in|assign\s+([\w-]+)\s*=)\s*((?:slide\s*\.\s*(?=content\b))?[A-Za-z_][\w-]*)/g;

/** Matches what gives a variable a value; the last group is a filter that makes it from others. */
const ASSIGNED = /\b(?:(?:capture|increment|decrement)\s+([\w-]+)|assign\s+([\w-]+)\s*=[^|%\n]*(\|)?)/g;

const QUOTED = /"([^"\n]*)"|'([^'\n]*)'/g;

/** Matches `feeds[NAME]`, where NAME is a variable. */
const BY_VALUE = /\b(feeds|sources|timetables|calendars)\s*\[\s*(?:content\.)?([A-Za-z_]\w*)\s*\]/g;

type RecordName = 'feeds' | 'sources' | 'timetables' | 'calendars';

/** How a template names the records of a list. */
interface Use {
  ids: Set<string>;
  /** Also by values of the slide. */
  isByValue: boolean;
  /** Also by variables whose values may be of something else, such as the rows of a source. */
  isIndirect: boolean;
  /** Also in a way that does not tell which. */
  isOpen: boolean;
}

interface Uses {
  of: ReadonlyMap<RecordName, Use>;
  /** The texts in quotes, which a variable may have. */
  texts: readonly string[];
}

const readUses = (html: string): Uses => {
  const code = codeOf(html);
  const made = new Set<string>();
  for (const [, counted, assigned, filter] of code.matchAll(ASSIGNED)) {
    if (counted !== undefined) made.add(counted);
    else if (filter !== undefined && assigned !== undefined) made.add(assigned);
  }
  const isOfSlide = (variable: string): boolean =>
    /^slide\s*\.|^content$/.test(variable) ||
    !(made.has(variable) || (playerNames as readonly string[]).includes(variable));
  const indirect = new Set<string>();
  for (const [, looped, assigned, from = ''] of code.matchAll(TAKEN)) {
    if (!isOfSlide(from) || indirect.has(from)) indirect.add(looped ?? assigned ?? '');
  }
  const of = new Map<RecordName, Use>();
  for (const [, name, property, quoted, single, variable] of code.matchAll(USES)) {
    const use = of.get(name as RecordName) ?? { ids: new Set(), isByValue: false, isIndirect: false, isOpen: false };
    const id = property ?? quoted ?? single;
    if (id !== undefined) use.ids.add(id);
    else if (variable !== undefined && isOfSlide(variable)) {
      use.isByValue = true;
      use.isIndirect ||= indirect.has(variable);
    } else use.isOpen = true;
    of.set(name as RecordName, use);
  }
  return { of, texts: [...code.matchAll(QUOTED)].map(([, double, single]) => double ?? single ?? '') };
};

/** Slides share templates. */
const known = new Map<string, Uses>();
const MOST_KNOWN = 50;
const usesOf = (html: string): Uses => {
  const uses = known.get(html) ?? readUses(html);
  remember(known, html, uses, MOST_KNOWN);
  return uses;
};

export const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

type Templated = Pick<Slide, 'template' | 'content'>;

/** The records whose ids the template of a slide or its values name. */
const spelledBy = <T extends { id: string }>(
  { template, content }: Templated,
  use: Use,
  records: readonly T[],
): T[] => {
  // Lists of ids may be in one text.
  const values = use.isByValue
    ? [...usesOf(template?.html ?? '').texts, ...textsIn(content)].flatMap((text) => [text, ...text.split(/[\s,;|]+/)])
    : [];
  const ids = new Set([...use.ids, ...values]);
  return records.filter(({ id }) => ids.has(id));
};

/**
 * The records that the template of a slide shows: those that it names by id or by values of the slide, or all where it does
 * not tell which. Calendars, which are private, are never guessed.
 */
export const namedBy = <T extends { id: string }>(
  slide: Templated,
  name: RecordName,
  records: readonly T[],
): readonly T[] => {
  const use = usesOf(slide.template?.html ?? '').of.get(name);
  if (use === undefined || records.length === 0) return [];
  return use.isOpen || (use.isIndirect && name !== 'calendars') ? records : spelledBy(slide, use, records);
};

/**
 * The records that the template of a slide gets: those that it names by id, or all of a kind that it reaches by a variable.
 * @param isPrivate of these, and of calendars, it gets only those that it or a value of the slide names
 */
export const reachedBy = <T extends { id: string }>(
  slide: Templated,
  name: RecordName,
  records: readonly T[],
  isPrivate: (record: T) => boolean = () => name === 'calendars',
): readonly T[] => {
  const use = usesOf(slide.template?.html ?? '').of.get(name);
  if (use === undefined || records.length === 0) return [];
  if (use.isOpen) return records;
  const spelled = spelledBy(slide, use, records);
  return use.isByValue ? records.filter((each) => !isPrivate(each) || spelled.includes(each)) : spelled;
};

/** The fields of a slide's content whose values are ids of records in its template. */
export const fieldsNaming = (html: string): { field: string; name: RecordName }[] => {
  const found = [...codeOf(html).matchAll(BY_VALUE)].map(
    ([, name, field]) => [`${name} ${field}`, { name, field }] as const,
  );
  return [...new Map(found).values()] as { field: string; name: RecordName }[];
};

/** Whether what a template shows can change with the time alone: it names the time, or uses a filter that reads the clock. */
export const dependsOnTime = (html: string): boolean => /\b(?:now|today|ago|until)\b/.test(codeOf(html));
