/** Validates the operator's `content.json`: parsing, schema, cross-checks and error messages. */
import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';

import { type ContentFile, contentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-issue.ts';
import { contentSchema } from '../contract/content-schema.ts';
import { kindsWithOwnLength } from '../contract/slide-values.ts';
import { type SlideFile, slideFile } from '../contract/slides.ts';
import { didYouMean } from '../domain/nearest.ts';
import { slideId } from '../domain/slides.ts';
import { atOnce, inSlices, type Steps } from '../platform/slices.ts';
import { parseJson } from './json.ts';
import { labelled, type Path, spellPath } from './labels.ts';

export type Reading = { ok: true; content: ContentFile } | { ok: false; issues: ContentIssue[] };

/** Limits the length of the report; an operator repairs the first errors first. */
const MAX_ISSUES = 20;
/** More than hand-written files need, and far below where the recursive `JSON.stringify` overflows the stack. */
const MAX_DEPTH = 64;

const isWithin = (levels: number, value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((each) => isWithin(levels - 1, each)));

/** Checks across records: duplicate ids and dangling references. */
const crossCheck = (content: ContentFile): { path: Path; message: string }[] => {
  const issues: { path: Path; message: string }[] = [];
  const report = (path: Path, message: string) => issues.push({ path, message });

  const unique = (list: Path, key: string, values: readonly (string | undefined)[]): Set<string> => {
    const seen = new Set<string>();
    values.forEach((value, index) => {
      if (value === undefined) return;
      if (seen.has(value)) report([...list, index, key], `${JSON.stringify(value)} is used more than once`);
      seen.add(value);
    });
    return seen;
  };
  const ids = (list: keyof ContentFile, records: readonly { id: string }[]) =>
    unique(
      [list],
      'id',
      records.map((record) => record.id),
    );

  unique(
    ['screens'],
    'slug',
    content.screens.map((screen) => screen.slug),
  );
  unique(
    ['screens'],
    'id',
    content.screens.map((screen) => screen.id ?? screen.slug),
  );
  const playlists = ids('playlists', content.playlists);
  const templates = ids('templates', content.templates);
  const feeds = ids('rssFeeds', content.rssFeeds);
  const groups = ids('timetableGroups', content.timetableGroups);
  ids('apiSources', content.apiSources);

  const refer = (path: Path, value: string | null | undefined, known: Set<string>, what: string) => {
    if (value != null && !known.has(value)) report(path, `there is no ${what} with the id ${JSON.stringify(value)}`);
  };
  content.screens.forEach((screen, at) => {
    refer(['screens', at, 'playlist_id'], screen.playlist_id, playlists, 'playlist');
  });
  content.playlists.forEach((playlist, at) => {
    unique(
      ['playlists', at, 'slides'],
      'id',
      playlist.slides.map((each, index) => slideId(playlist.id, each, index)),
    );
    playlist.slides.forEach((each, index) => {
      const here = ['playlists', at, 'slides', index];
      if (playlist.sync && kindsWithOwnLength.includes(each.kind) && each.duration_seconds == null) {
        report(
          [...here, 'duration_seconds'],
          `in a playlist with "sync" a ${each.kind} slide needs its length in seconds`,
        );
      }
      refer([...here, 'template_id'], each.template_id, templates, 'template');
      if (each.kind === 'rss') refer([...here, 'content', 'feed_id'], each.content.feed_id, feeds, 'RSS feed');
      if (each.kind === 'timetable') {
        refer([...here, 'content', 'group_id'], each.content.group_id, groups, 'timetable group');
      }
    });
  });
  return issues;
};

/** Replaces zod's messages for missing and unknown fields. */
const wording = ({ code, input, inst, ...issue }: z.core.$ZodRawIssue): string | undefined => {
  if (code === 'invalid_type' && input === undefined) return 'required, but missing';
  if (code !== 'unrecognized_keys' || !(inst instanceof z.ZodObject)) return undefined;
  const known = Object.keys(inst.shape);
  const unknown = (issue['keys'] as string[]).slice(0, MAX_ISSUES);
  return unknown.map((key) => `${JSON.stringify(key)} is not known here${didYouMean(key, known)}`).join('; ');
};

const slideList = z.array(slideFile);
/** Slides that are validated in one step. */
const STEP = 200;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The lists of slides by the index of their playlist; none if all of them are one step. */
const longLists = (json: unknown): Map<number, unknown[]> => {
  const playlists = isRecord(json) && Array.isArray(json['playlists']) ? (json['playlists'] as unknown[]) : [];
  const lists = playlists.flatMap((playlist, at) => {
    const slides = isRecord(playlist) ? playlist['slides'] : undefined;
    return Array.isArray(slides) ? [[at, slides] as const] : [];
  });
  const total = lists.reduce((sum, [, slides]) => sum + slides.length, 0);
  return new Map(total > STEP ? lists : []);
};

type Parsed = { ok: true; content: ContentFile } | { ok: false; issues: readonly { path: Path; message: string }[] };

const parseWhole = (json: unknown): Parsed => {
  const { success, data, error } = contentFile.safeParse(json, { error: wording });
  return success ? { ok: true, content: data } : { ok: false, issues: error.issues };
};

/** Applies the schema. Only slides make a file long, so many slides are parsed separately, in steps. */
function* parseSteps(json: unknown): Steps<Parsed> {
  const lists = longLists(json);
  if (lists.size === 0) return parseWhole(json);
  const { playlists, ...rest } = json as { playlists: object[] };
  const short = playlists.map((playlist, at) => (lists.has(at) ? { ...playlist, slides: [] } : playlist));
  const parsed = parseWhole({ ...rest, playlists: short });
  const issues = parsed.ok ? [] : [...parsed.issues];
  for (const [at, list] of lists) {
    const slides: SlideFile[] = [];
    for (let from = 0; from < list.length && issues.length < MAX_ISSUES; from += STEP) {
      yield;
      const step = slideList.safeParse(list.slice(from, from + STEP), { error: wording });
      slides.push(...(step.data ?? []));
      for (const { path, message } of step.error?.issues ?? []) {
        const [index, ...inSlide] = path as [number, ...Path];
        issues.push({ path: ['playlists', at, 'slides', from + index, ...inSlide], message });
      }
    }
    if (parsed.ok) Object.assign(parsed.content.playlists[at] as object, { slides });
  }
  return issues.length === 0 ? parsed : { ok: false, issues };
}

function* validationSteps(json: unknown): Steps<Reading> {
  if (!isWithin(MAX_DEPTH, json)) {
    return { ok: false, issues: [{ path: '', message: `the file is nested more than ${MAX_DEPTH} levels deep` }] };
  }
  yield;
  const parsed = yield* parseSteps(json);
  yield;
  const found = parsed.ok ? crossCheck(parsed.content) : parsed.issues;
  if (parsed.ok && found.length === 0) return parsed;
  const issues = found.slice(0, MAX_ISSUES).map(({ path, message }) => ({
    path: spellPath(path),
    message: labelled(json, path, message),
  }));
  return { ok: false, issues };
}

function* readingSteps(bytes: Uint8Array): Steps<Reading> {
  const whole = (message: string): Reading => ({ ok: false, issues: [{ path: '', message }] });
  let source: string;
  try {
    source = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return whole('the file is not UTF-8; save it with that encoding');
  }
  if (source.trim() === '') return whole('the file is empty');
  yield;
  const json = parseJson(source);
  yield;
  return json.ok ? yield* validationSteps(json.value) : whole(`the file is not JSON: ${json.message}`);
}

/** Validates a parsed content file in slices. Never throws. */
export const validateContent = (json: unknown): Promise<Reading> => inSlices(validationSteps(json));

/** Parses and validates the bytes of a content file in slices. Never throws. */
export const checkContent = (bytes: Uint8Array): Promise<Reading> => inSlices(readingSteps(bytes));

/** As {@link checkContent}, synchronously: while the service starts, nothing else waits. */
export const readContent = (bytes: Uint8Array): Reading => atOnce(readingSteps(bytes));

/** Writes the JSON Schema of `content.json`, which editors use for completion. */
export const writeSchema = async (path: string): Promise<void> => {
  const schema = `${JSON.stringify(contentSchema, null, 2)}\n`;
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before !== schema) await writeFile(path, schema);
};
