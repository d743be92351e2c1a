/** Reads the operator's `content.json`: parsing, validation and error messages. */
import { z } from 'zod';
import { type ContentFile, contentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-issue.ts';
import { kindsWithOwnLength } from '../contract/slide-values.ts';
import { didYouMean } from '../domain/nearest.ts';
import { slideId } from '../domain/slides.ts';
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

/** Validates a parsed content file. Never throws. */
export const validateContent = (json: unknown): Reading => {
  if (!isWithin(MAX_DEPTH, json)) {
    return { ok: false, issues: [{ path: '', message: `the file is nested more than ${MAX_DEPTH} levels deep` }] };
  }
  const parsed = contentFile.safeParse(json, { error: wording });
  const found = parsed.success ? crossCheck(parsed.data) : parsed.error.issues;
  if (parsed.success && found.length === 0) return { ok: true, content: parsed.data };
  const issues = found.slice(0, MAX_ISSUES).map(({ path, message }) => ({
    path: spellPath(path),
    message: labelled(json, path, message),
  }));
  return { ok: false, issues };
};

/** Parses and validates the bytes of a content file. Never throws. */
export const readContent = (bytes: Uint8Array): Reading => {
  const whole = (message: string): Reading => ({ ok: false, issues: [{ path: '', message }] });
  let source: string;
  try {
    source = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return whole('the file is not UTF-8; save it with that encoding');
  }
  if (source.trim() === '') return whole('the file is empty');
  const json = parseJson(source);
  return json.ok ? validateContent(json.value) : whole(`the file is not JSON: ${json.message}`);
};

/** The JSON Schema of `content.json`, for editors. */
export const contentJsonSchema = (): unknown => z.toJSONSchema(contentFile, { io: 'input' });
