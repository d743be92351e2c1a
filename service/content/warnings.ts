/** Mistakes in a valid file that the schema allows. Pure. */
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { designs } from '../contract/designs.ts';
import { contentKeys, kindsWithValues, type SlideFile, shownFields } from '../contract/slides.ts';
import { streamSchemes } from '../contract/stream-schemes.ts';
import { USUAL, USUAL_CALENDAR } from '../domain/age.ts';
import { calendarIdsOf } from '../domain/calendar-view.ts';
import { isColour } from '../domain/colours.ts';
import { unreadableColours } from '../domain/house-style.ts';
import { excess, richness, textLimit } from '../domain/markup-limits.ts';
import { mediaNameIn, withoutCredentials } from '../domain/media-names.ts';
import { momentOf, playsFrom, type Schedule } from '../domain/slide-schedule.ts';
import { mostNameCharacters, shownName, slideId, slideLabel } from '../domain/slides.ts';
import type { EpochMs } from '../domain/time.ts';
import { didYouMean } from '../domain/wording.ts';
import type { Steps } from '../platform/slices.ts';
import { formIssues, formOf } from './form-warnings.ts';
import { type Path, spellPath } from './labels.ts';
import { DEFAULT_REFRESH_SECONDS } from './model.ts';
import { programmeIssues } from './programme-warnings.ts';
import { isNested } from './round-lists.ts';
import { nameIssues, type TemplateCheck, templateIssues } from './templates.ts';

/** Limits the length of the report. */
const MAX_WARNINGS = 50;
/** Of these, reserved for programmes and zones. */
const MAX_PROGRAMME_WARNINGS = 20;
/** Slides that are checked in one step. */
const STEP = 100;

/** A mistake in a slide; `path` is relative to the slide. */
export interface SlideIssue {
  path: Path;
  message: string;
}

const TIMES = ['schedule_start_time', 'schedule_end_time', 'schedule_days_json'] as const;
const DATETIMES = ['schedule_start_datetime', 'schedule_end_datetime'] as const;

const isEmptyList = (json: string | null | undefined): boolean =>
  json != null && (JSON.parse(json) as unknown[]).length === 0;

/** Why a slide with valid times never plays (again); null: it does. */
const neverIssue = (slide: SlideFile, timeZone: string, now: number): SlideIssue | null => {
  const { schedule_start_datetime: start = null, schedule_end_datetime: end = null } = slide;
  const path = ['schedule_end_datetime'];
  const startsAt = start === null ? now : momentOf(start, timeZone);
  const endsAt = end === null ? Number.POSITIVE_INFINITY : momentOf(end, timeZone);
  if (start !== null && endsAt <= startsAt) return { path, message: 'is not after the start: the slide never plays' };
  const schedule: Schedule = {
    schedule_mode: slide.schedule_mode ?? 'always',
    schedule_start_datetime: start,
    schedule_end_datetime: end,
    schedule_start_time: slide.schedule_start_time ?? null,
    schedule_end_time: slide.schedule_end_time ?? null,
    schedule_days_json: slide.schedule_days_json ?? null,
  };
  if (playsFrom(schedule, now, timeZone)) return null;
  if (endsAt <= now) return { path, message: 'is in the past: the slide never plays again' };
  const message = 'comes before the first of its days and times: the slide never plays';
  return { path, message };
};

const scheduleIssues = (slide: SlideFile, timeZone: string, now: number): SlideIssue[] => {
  const given = (fields: readonly (keyof SlideFile)[]) => fields.filter((field) => slide[field] != null);
  const { schedule_mode: mode = 'always' } = slide;
  const issues: SlideIssue[] = [];
  const times = given([...TIMES, ...DATETIMES]);
  if (mode === 'always' && times.length > 0) {
    const instead = given(TIMES).length > 0 ? 'weekly' : 'between';
    const without = slide.schedule_mode === undefined ? 'without schedule_mode' : 'with schedule_mode "always"';
    const message = `${times.join(', ')} ${without} has no effect: the slide is always on; set schedule_mode to "${instead}"`;
    issues.push({ path: ['schedule_mode'], message });
  } else if (mode !== 'always' && times.length === 0) {
    issues.push({ path: ['schedule_mode'], message: `"${mode}" without any times: the slide is always on` });
  }
  const [unused] = mode === 'between' ? given(TIMES) : [];
  if (unused !== undefined) {
    issues.push({ path: [unused], message: 'has no effect with schedule_mode "between"; use "weekly"' });
  }
  if (mode === 'weekly' && isEmptyList(slide.schedule_days_json)) {
    issues.push({ path: ['schedule_days_json'], message: 'an empty list of days: the slide never plays' });
  } else if (mode !== 'always') {
    const never = neverIssue(slide, timeZone, now);
    if (never !== null) issues.push(never);
  }
  return issues;
};

const fieldIssues = (slide: SlideFile): SlideIssue[] =>
  (['title', 'body', 'media_url', 'template_id'] as const)
    .filter((field) => slide[field] && !shownFields[slide.kind].includes(field))
    .map((field) => ({ path: [field], message: `is not shown: a slide of kind ${slide.kind} has no ${field}` }));

const contentIssues = ({ kind, content }: SlideFile): SlideIssue[] => {
  if (kindsWithValues.includes(kind) || content == null) return [];
  const known = contentKeys(kind);
  const issues = Object.keys(content)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      path: ['content', key],
      message: `${JSON.stringify(key)} is not known in the content of a ${kind} slide${didYouMean(key, known)}`,
    }));
  for (const key of ['background', 'color']) {
    const value: unknown = (content as Record<string, unknown>)[key];
    if (!known.includes(key) || value == null || isColour(value)) continue;
    issues.push({ path: ['content', key], message: `${JSON.stringify(value)} is not a CSS colour` });
  }
  const { align } = content as { align?: unknown };
  if (kind === 'text' && align != null && align !== 'center') {
    issues.push({ path: ['content', 'align'], message: 'only "center" has an effect' });
  }
  return issues;
};

const isLive = new RegExp(`^(${streamSchemes.join('|')}):`, 'i');

const isPlain = (url: unknown): boolean => typeof url === 'string' && /^http:/i.test(url);

/** A page over https loads nothing over plain http. */
const plainIssues = ({ media_url, content }: SlideFile): SlideIssue[] => {
  const message = 'is loaded over plain http: a page over https skips it';
  return [
    ...(isPlain(media_url) ? [{ path: ['media_url'], message }] : []),
    ...(isPlain(content?.['fallback_media_url']) ? [{ path: ['content', 'fallback_media_url'], message }] : []),
  ];
};

/** Pages load these addresses themselves, and get no credentials: the payload is public. */
const credentialIssues = ({ kind, media_url }: SlideFile): SlideIssue[] => {
  const isLoadedByPages = kind === 'web' || (kind === 'stream' && !isLive.test(media_url));
  if (!isLoadedByPages || withoutCredentials(media_url) === media_url) return [];
  const message = 'has a user and password, which pages do not get: they load the address without them';
  return [{ path: ['media_url'], message }];
};

const sessionIssues = (slide: SlideFile): SlideIssue[] => {
  const { session, signed_in_at: at } = (slide.kind === 'web' && slide.content?.web) || {};
  if (at === undefined || session !== undefined) return [];
  return [{ path: ['content', 'web', 'signed_in_at'], message: 'has no effect without a session' }];
};

const lengthIssues = (name: string, text: string | null | undefined): SlideIssue[] => {
  if (text == null || shownName(text) === text) return [];
  const message = `${name} has ${Array.from(text).length} characters, of which ${mostNameCharacters} are shown`;
  return [{ path: [name], message }];
};

const sourceAt = (slide: SlideFile, content: ContentFile): { refresh_seconds?: number | undefined }[] => {
  const calendars = (ids: readonly (string | undefined)[]) => content.calendars.filter(({ id }) => ids.includes(id));
  if (slide.kind === 'rss') return content.rssFeeds.filter(({ id }) => id === slide.content.feed_id);
  if (slide.kind === 'calendar') return calendars(calendarIdsOf(slide.content));
  if (slide.kind !== 'timetable') return [];
  return calendars([content.timetableGroups.find(({ id }) => id === slide.content.group_id)?.calendar_id]);
};

/** Data is too old before it is fetched again. */
const ageIssues = (slide: SlideFile, content: ContentFile): SlideIssue[] => {
  const most = (slide.content as { max_age_seconds?: number } | null | undefined)?.max_age_seconds;
  const usual = slide.kind === 'rss' ? USUAL : USUAL_CALENDAR;
  const longest = Math.max(
    ...sourceAt(slide, content).map(({ refresh_seconds = DEFAULT_REFRESH_SECONDS }) => refresh_seconds),
  );
  if (longest <= (most ?? usual)) return [];
  const what = most === undefined ? `is ${usual} s unless it is set,` : 'is';
  const message = `${what} less than the ${longest} s between two fetches of its source: it is too old in between`;
  return [{ path: ['content', 'max_age_seconds'], message }];
};

/** Pages skip a text with too many characters or elements. */
const textIssues = ({ kind, title, body }: SlideFile): SlideIssue[] => {
  const message = kind === 'text' ? excess(richness(`${shownName(title ?? '')}${body ?? ''}`), textLimit) : null;
  return message === null ? [] : [{ path: ['body'], message: `is not shown: ${message}` }];
};

/** A file of such a name cannot be uploaded, so the one that is named is not only missing yet. */
const mediumIssues = ({ media_url }: SlideFile): SlideIssue[] => {
  if (media_url == null || !/^\/media\/[^/?#]/.test(media_url) || mediaNameIn(media_url) !== null) return [];
  return [{ path: ['media_url'], message: 'no medium can have this name' }];
};

/**
 * @param site its time zone, and whether pages may be over https
 * @param templates results of the template checks, by id; absent: not checked
 */
export function* warningSteps(
  content: ContentFile,
  { timeZone, https }: { timeZone: string; https: boolean },
  templates: ReadonlyMap<string, TemplateCheck>,
  now: EpochMs,
): Steps<ContentIssue[]> {
  const warnings: ContentIssue[] = [];
  const programmes = programmeIssues(content, timeZone, now).map(
    ({ path, message }): ContentIssue => ({ path: spellPath(path), message }),
  );
  yield;
  const all = (): ContentIssue[] => {
    const own = programmes.slice(0, Math.max(MAX_PROGRAMME_WARNINGS, MAX_WARNINGS - warnings.length));
    return [...warnings.slice(0, MAX_WARNINGS - own.length), ...own];
  };
  // First, because every slide has these colours.
  for (const { name, contrast } of unreadableColours(content.style)) {
    const path = spellPath(['style', 'colours', name]);
    const message = `its contrast with the background is ${contrast.toFixed(1)}, and below 4.5 it is hard to read from afar`;
    warnings.push({ path, message });
  }
  const isFull = (): boolean => warnings.length >= MAX_WARNINGS;
  const forms = new Map([...content.templates, ...designs].map((template) => [template.id, formOf(template)]));
  const used = new Set<string>();
  for (const [at, { id, slides }] of content.playlists.entries()) {
    for (const [index, slide] of slides.entries()) {
      if (isFull()) return all();
      if (index % STEP === 0) yield;
      if (isNested(slide)) continue;
      const label = slideLabel(slide.title, slideId(id, slide, index));
      const warn = (path: Path, message: string) =>
        warnings.push({ path: spellPath(path), message: `${label}: ${message}` });
      for (const { path, message } of [
        ...scheduleIssues(slide, timeZone, now),
        ...fieldIssues(slide),
        ...contentIssues(slide),
        ...textIssues(slide),
        ...mediumIssues(slide),
        ...ageIssues(slide, content),
        ...credentialIssues(slide),
        ...sessionIssues(slide),
        ...(https ? plainIssues(slide) : []),
        ...lengthIssues('title', slide.title),
      ]) {
        warn(['playlists', at, 'slides', index, ...path], message);
      }
      const form = slide.kind === 'template' ? forms.get(slide.template_id) : null;
      for (const { path, message } of form == null ? [] : formIssues(slide, form, content)) {
        warn(['playlists', at, 'slides', index, ...path], message);
      }
      const check = slide.kind === 'template' ? templates.get(slide.template_id) : undefined;
      if (slide.kind !== 'template' || check === undefined) continue;
      const { template_id } = slide;
      // A mistake in the template itself is reported once, not for each slide that uses it.
      if (!used.has(template_id)) {
        const number = content.templates.findIndex(({ id }) => id === template_id);
        for (const message of templateIssues(template_id, check)) warn(['templates', number, 'html'], message);
      }
      used.add(template_id);
      for (const message of nameIssues(check, slide, content)) {
        warn(['playlists', at, 'slides', index, 'content'], message);
      }
    }
  }
  content.templates.forEach(({ id, name }, at) => {
    const check = templates.get(id);
    if (check === undefined || used.has(id)) return;
    const path = spellPath(['templates', at, 'html']);
    for (const message of templateIssues(id, check))
      warnings.push({ path, message: `${slideLabel(name, id)}: ${message}` });
  });
  content.timetableGroups.forEach(({ id, name, entries = [] }, at) => {
    entries.forEach((entry, index) => {
      const issues = lengthIssues('title', entry.title);
      if (isEmptyList(entry.days_json)) {
        issues.push({ path: ['days_json'], message: 'an empty list of days: the entry is never shown' });
      }
      for (const { path, message } of issues) {
        const where = spellPath(['timetableGroups', at, 'entries', index, ...path]);
        warnings.push({ path: where, message: `${slideLabel(name, id)}: ${message}` });
      }
    });
  });
  content.messages.forEach(({ id, title }, at) => {
    for (const { path, message } of lengthIssues('title', title)) {
      warnings.push({ path: spellPath(['messages', at, ...path]), message: `${slideLabel(title, id)}: ${message}` });
    }
  });
  yield;
  const named = {
    screens: content.screens.map((screen) => ({ ...screen, id: screen.slug })),
    playlists: content.playlists,
    templates: content.templates,
    rssFeeds: content.rssFeeds,
    apiSources: content.apiSources,
    timetableGroups: content.timetableGroups,
    programmes: content.programmes,
    calendars: content.calendars,
  };
  for (const [list, records] of Object.entries(named)) {
    for (const [at, { id, name }] of records.entries()) {
      for (const { path, message } of lengthIssues('name', name)) {
        warnings.push({ path: spellPath([list, at, ...path]), message: `${slideLabel(name, id)}: ${message}` });
      }
    }
  }
  return all();
}
