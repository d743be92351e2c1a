/** Names and filters of templates. The player renders templates; the service checks them when it loads the content. */

import type { Slide } from '../contract/slides.ts';

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

/** Matches `feeds.ID`, `feeds["ID"]`, or `feeds` in any other use; not `content.feeds`. */
const USES =
  /\b(?<!(?<!\.)\.)(feeds|sources|timetables|calendars)\b(?:\s*\.\s*([A-Za-z_][\w-]*)|\s*\[\s*(?:"([^"]*)"|'([^']*)')\s*\])?/g;

/** Matches `feeds[NAME]`, where NAME is a variable. */
const BY_VALUE = /\b(feeds|sources|timetables|calendars)\s*\[\s*(?:content\.)?([A-Za-z_]\w*)\s*\]/g;

type RecordName = 'feeds' | 'sources' | 'timetables' | 'calendars';

/** The records that a template names by id; all of them if it uses the list in another way. */
export const usedOf = <T extends { id: string }>(
  html: string,
  name: RecordName,
  records: readonly T[],
): readonly T[] => {
  const uses = [...codeOf(html).matchAll(USES)].filter(([, used]) => used === name);
  const ids = uses.map(([, , property, quoted, single]) => property ?? quoted ?? single);
  return ids.includes(undefined) ? records : records.filter(({ id }) => ids.includes(id));
};

/** Those of {@link usedOf}; where a template names them by a value of the slide, those that the values name. */
export const namedBy = <T extends { id: string }>(
  { template, content }: Pick<Slide, 'template' | 'content'>,
  name: RecordName,
  records: readonly T[],
): readonly T[] => {
  const html = template?.html ?? '';
  const named = usedOf(html, name, records);
  const isByValue = named.length === records.length && new RegExp(`${name}\\s*\\[\\s*[a-z]`).test(codeOf(html));
  return isByValue ? named.filter(({ id }) => Object.values(content ?? {}).includes(id)) : named;
};

/** The fields of a slide's content whose values are ids of records in its template. */
export const fieldsNaming = (html: string): { field: string; name: RecordName }[] => {
  const found = [...codeOf(html).matchAll(BY_VALUE)].map(
    ([, name, field]) => [`${name} ${field}`, { name, field }] as const,
  );
  return [...new Map(found).values()] as { field: string; name: RecordName }[];
};
