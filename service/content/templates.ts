/** Checks that a slide defines the names that its template uses. Pure; a worker thread parses the template. */
import type { ContentFile } from '../contract/content.ts';
import { screen } from '../contract/playlist.ts';
import { type SlideFile, slide as slideRecord } from '../contract/slides.ts';
import { playerNames } from '../domain/template.ts';
import { didYouMean } from '../domain/wording.ts';
import type { TemplateName, TemplateReading } from './thread.ts';

/** Result of parsing a template; `error`: why it can't be used, as a clause. */
export type TemplateCheck = TemplateReading | { error: string };

/** An undefined name: the path up to the missing part, and the keys that exist there. */
interface Missing {
  path: TemplateName['path'];
  known: string[];
}

const sourceFields = ['id', 'name', 'url', 'refresh_seconds', 'status', 'fetched_at'];
const recordFields = {
  feeds: [...sourceFields, 'items'],
  sources: [...sourceFields, 'data'],
  timetables: ['id', 'name', 'entries', 'fetched_at'],
  calendars: ['id', 'name', 'status', 'fetched_at', 'events'],
} as const;

/** Resolves a path in a value of the file; null: it is defined, or known only at render time. */
const resolve = (value: unknown, path: TemplateName['path'], from: number): Missing | null => {
  let current = value;
  for (let at = from; at < path.length; at++) {
    const key = path[at] as string | number;
    if (typeof current !== 'object' || current === null) return null;
    if (Array.isArray(current)) {
      if (typeof key === 'string' && !['size', 'first', 'last'].includes(key))
        return { path: path.slice(0, at + 1), known: [] };
      return null;
    }
    if (key === 'size') return null;
    if (!Object.hasOwn(current, key)) return { path: path.slice(0, at + 1), known: Object.keys(current) };
    current = (current as Record<string | number, unknown>)[key];
  }
  return null;
};

const oneOf = (known: readonly string[], path: TemplateName['path'], at: number): Missing | null => {
  const key = path[at];
  return key === undefined || known.includes(String(key)) ? null : { path: path.slice(0, at + 1), known: [...known] };
};

const missingIn = (path: TemplateName['path'], slide: SlideFile, content: ContentFile): Missing | null => {
  const [root, second] = path;
  const records = {
    feeds: content.rssFeeds,
    sources: content.apiSources,
    timetables: content.timetableGroups,
    calendars: content.calendars,
  };
  if (root === 'now') return null;
  if (root === 'content') return resolve(slide.content ?? {}, path, 1);
  if (root === 'slide') {
    return second === 'content'
      ? resolve(slide.content ?? {}, path, 2)
      : oneOf(Object.keys(slideRecord.shape), path, 1);
  }
  if (root === 'screen') return oneOf(Object.keys(screen.shape), path, 1);
  if (root === 'feeds' || root === 'sources' || root === 'timetables' || root === 'calendars') {
    const ids = records[root].map(({ id }) => id);
    return (
      oneOf([...ids, 'size'], path, 1) ?? (ids.includes(String(second)) ? oneOf(recordFields[root], path, 2) : null)
    );
  }
  const missing = resolve(slide.content ?? {}, path, 0);
  if (missing === null || missing.path.length > 1) return missing;
  return { ...missing, known: [...missing.known, ...playerNames] };
};

/** `content.headline` and `headline` are the same name. */
const keyOf = (path: TemplateName['path']): string => JSON.stringify(path[0] === 'content' ? path.slice(1) : path);

const spell = (path: TemplateName['path']): string =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`)).join('');

const nameOf = (id: string): string => `the template ${JSON.stringify(id)}`;

/** Mistakes in a template itself, as clauses. */
export const templateIssues = (id: string, check: TemplateCheck): string[] => {
  if ('error' in check) return [`${nameOf(id)} cannot be shown: ${check.error}`];
  return check.unknownFilters.map(
    (name) => `${nameOf(id)} uses an unknown filter, ${JSON.stringify(name)}${didYouMean(name, check.knownFilters)}`,
  );
};

/** Names in a template that the slide does not define, as clauses. */
export const nameIssues = (check: TemplateCheck, slide: SlideFile, content: ContentFile): string[] => {
  if ('error' in check) return [];
  const ignored = new Set(check.optional.map(keyOf));
  return check.names.flatMap(({ path, line }) => {
    const missing = missingIn(path, slide, content);
    if (missing === null || ignored.has(keyOf(missing.path))) return [];
    ignored.add(keyOf(missing.path));
    const nearest = didYouMean(String(missing.path.at(-1)), missing.known);
    const name = JSON.stringify(spell(missing.path));
    return [`${nameOf(slide.template_id ?? '')} names ${name} in line ${line}, which is not defined${nearest}`];
  });
};
