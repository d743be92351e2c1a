/** Validates the operator's `content.json`: parsing, schema, cross-checks and error messages. */
import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { mostContentBytes, mostContentFileBytes } from '../contract/console/content.ts';
import { type ContentFile, contentFile } from '../contract/content.ts';
import { contentSchema } from '../contract/content-schema.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { designPrefix } from '../contract/design-prefix.ts';
import { designs } from '../contract/designs.ts';
import { tryParse } from '../contract/fields.ts';
import { kindsWithOwnLength } from '../contract/slide-values.ts';
import { isNestedWithin } from '../domain/collections.ts';
import { defaultIssues, valueIssues } from '../domain/form-values.ts';
import { withoutCredentials } from '../domain/media-names.ts';
import { pictureKindOf } from '../domain/media-types.ts';
import { styleIssue } from '../domain/page-address.ts';
import { slideId } from '../domain/slides.ts';
import { didYouMean } from '../domain/wording.ts';
import { type Issue, labelled, type Path, spellPath } from './labels.ts';
import { programmeErrors } from './programme-errors.ts';
import { isNested } from './round-lists.ts';

export type Reading =
  | {
      ok: true;
      content: ContentFile;
      /** What this version does not know, and leaves out of another box's document; absent: nothing. */
      leftOut?: readonly ContentIssue[];
    }
  | { ok: false; issues: ContentIssue[] };

/** What is wrong in a parsed file; beside zod's own terms for it. */
export type Fault = Pick<z.core.$ZodIssue, 'path' | 'message'> & {
  code?: string;
  keys?: readonly string[];
  errors?: readonly (readonly Fault[])[];
  origin?: string;
  maximum?: number | bigint;
};

type Json = { ok: true; value: unknown } | { ok: false; message: string };

/** A token of JSON (RFC 8259); the only capture group is punctuation. */
const TOKEN =
  /(?:([{}[\]:,])|"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/uy;
const SPACE = /[ \t\r\n]*/y;

/** The expected token; `first`: directly after an opening bracket, where the closing one is allowed too. */
type Expected = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'end';

/**
 * The expectation after a token; null: the token is not allowed here.
 * @param open stack of open brackets; modified
 */
const next = (expected: Expected, token: string, mark: string | undefined, open: string[]): Expected | null => {
  const closes = mark === '}' || mark === ']';
  if (closes) {
    const isEmpty = expected === (mark === '}' ? 'first key' : 'first value');
    if (!isEmpty && expected !== 'end') return null;
    return open.pop() === (mark === '}' ? '{' : '[') ? 'end' : null;
  }
  if (expected === 'colon') return mark === ':' ? 'value' : null;
  if (expected === 'end') return mark === ',' && open.length > 0 ? (open.at(-1) === '{' ? 'key' : 'value') : null;
  if (expected === 'key' || expected === 'first key') return token.startsWith('"') ? 'colon' : null;
  if (mark === undefined) return 'end';
  if (mark !== '{' && mark !== '[') return null;
  open.push(mark);
  return mark === '{' ? 'first key' : 'first value';
};

interface SyntaxIssue {
  /** Of the first token that is not allowed; the length of the text if it ends too early. */
  offset: number;
  /** Not a token at all. */
  broken: boolean;
}

const findIssue = (source: string): SyntaxIssue => {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    SPACE.test(source);
    const start = SPACE.lastIndex;
    TOKEN.lastIndex = start;
    const match = TOKEN.exec(source);
    if (match === null) return { offset: start, broken: true };
    const after = next(expected, match[0], match[1], open);
    if (after === null) return { offset: start, broken: false };
    expected = after;
    at = TOKEN.lastIndex;
  }
};

/** Characters of the line in the message. */
const MAX_EXCERPT = 100;

const masked = (start: string, hidden: string): string => start + '*'.repeat(hidden.length);

/** The line around an index, with users, passwords and queries of URLs masked: /healthz is public. */
const excerpt = (line: string, index: number): string => {
  const shown = line
    .replaceAll(/(\/\/)([^/\s"]*)(?=@)/g, (_, start: string, hidden: string) => masked(start, hidden))
    .replaceAll(/(\/\/[^\s"?#]*[?#])([^\s"]*)/g, (_, start: string, hidden: string) => masked(start, hidden));
  const from = Math.max(0, Math.min(index - MAX_EXCERPT / 2, line.length - MAX_EXCERPT));
  return shown.slice(from, from + MAX_EXCERPT).trim();
};

/** Never throws. The message is a clause with the 1-based line and column, and an excerpt of the line. */
const parseJson = (source: string): Json => {
  try {
    return { ok: true, value: JSON.parse(source) };
  } catch {
    const { offset, broken } = findIssue(source);
    const isEnd = offset === source.length;
    // For a text that ends too early, report the end of the last line that is not blank.
    const at = isEnd ? source.trimEnd().length : offset;
    const before = source.slice(0, at).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    const lineEnd = source.indexOf('\n', at);
    const line = source.slice(at - column + 1, lineEnd === -1 ? undefined : lineEnd);
    const found = String.fromCodePoint(source.codePointAt(at) ?? 0);
    const what = isEnd
      ? 'it ends before everything is closed'
      : broken && found === '"'
        ? 'a text that is not closed, or has a line break or a bad escape in it,'
        : `unexpected ${JSON.stringify(found)}`;
    return { ok: false, message: `${what} in line ${before.length}, column ${column}: ${excerpt(line, column - 1)}` };
  }
};

/** Limits the length of the report; an operator repairs the first errors first. */
const MAX_ISSUES = 20;
/** More than hand-written files need, and far below where the recursive `JSON.stringify` overflows the stack. */
const MAX_DEPTH = 64;

/** Checks across records: duplicate ids and dangling references. */
const crossCheck = (content: ContentFile): Issue[] => {
  const issues: Issue[] = [];
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
  const designIds = new Set(designs.map((each) => each.id));
  const forms = new Map(
    [...content.templates, ...designs].flatMap((each) => (each.schema === undefined ? [] : [[each.id, each.schema]])),
  );
  const feeds = ids('rssFeeds', content.rssFeeds);
  const groups = ids('timetableGroups', content.timetableGroups);
  const calendars = ids('calendars', content.calendars);
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
      if (isNested(each)) return;
      if (playlist.sync && kindsWithOwnLength.includes(each.kind) && each.duration_seconds == null) {
        report(
          [...here, 'duration_seconds'],
          `in a playlist with "sync" a ${each.kind} slide needs its length in seconds`,
        );
      }
      if (each.template_id?.startsWith(designPrefix))
        refer([...here, 'template_id'], each.template_id, designIds, 'design');
      else refer([...here, 'template_id'], each.template_id, templates, 'template');
      const form = each.kind === 'template' ? forms.get(each.template_id) : undefined;
      for (const { path, message } of form === undefined ? [] : valueIssues(form, each.content)) {
        report([...here, 'content', ...path], message);
      }
      const css = each.kind === 'web' ? each.content?.web?.css : undefined;
      const styled = css === undefined ? null : styleIssue(css, String(each.media_url));
      if (styled !== null) report([...here, 'content', 'web', 'css'], styled);
      if (each.kind === 'rss') refer([...here, 'content', 'feed_id'], each.content.feed_id, feeds, 'RSS feed');
      if (each.kind === 'calendar') {
        refer([...here, 'content', 'calendar_id'], each.content.calendar_id, calendars, 'calendar');
        each.content.calendar_ids?.forEach((value, place) => {
          refer([...here, 'content', 'calendar_ids', place], value, calendars, 'calendar');
        });
      }
      if (each.kind === 'timetable') {
        refer([...here, 'content', 'group_id'], each.content.group_id, groups, 'timetable group');
      }
    });
  });
  content.timetableGroups.forEach(({ calendar_id }, at) => {
    refer(['timetableGroups', at, 'calendar_id'], calendar_id, calendars, 'calendar');
  });
  content.templates.forEach(({ schema }, at) => {
    for (const { path, message } of schema === undefined ? [] : defaultIssues(schema)) {
      report(['templates', at, 'schema', ...path], message);
    }
  });
  ids('messages', content.messages);
  content.messages.forEach(({ title, media_url, level, minutes }, at) => {
    const here = ['messages', at];
    if (!title?.trim() && media_url == null) report([...here, 'title'], 'a message needs a title or a media_url');
    if (media_url != null && pictureKindOf(media_url) === null) {
      report([...here, 'media_url'], 'a message shows a picture or a film');
    }
    if (media_url != null && withoutCredentials(media_url) !== media_url) {
      report([...here, 'media_url'], 'everybody can read it, so it takes no user name and no password');
    }
    if (minutes === null && level !== 'emergency') {
      report([...here, 'minutes'], 'only an emergency lasts until it is ended; give the minutes of any other message');
    }
  });
  return [...issues, ...programmeErrors(content)];
};

/** What other systems call the fields of a slide. */
const aliases = new Map([
  ['url', 'media_url'],
  ['src', 'media_url'],
  ['file', 'media_url'],
  ['type', 'kind'],
  ['text', 'body'],
  ['seconds', 'duration_seconds'],
]);

const unknownKeys = (keys: readonly string[], known: readonly string[]): string[] =>
  keys
    .slice(0, MAX_ISSUES)
    .map((key) => `${JSON.stringify(key)} is not known here${didYouMean(key, known, aliases.get(key))}`);

/** A record of no known kind: its fields are compared with those of every kind. */
const wordsOfKind = (record: object, field: string, kinds: readonly string[], schemas: readonly unknown[]): string => {
  const known = new Set(schemas.flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])));
  const given: unknown = Object.entries(record).find(([key]) => key === field)?.[1];
  const fault = given === undefined ? 'required, but missing' : `${JSON.stringify(given)?.slice(0, 80)} is none`;
  const unknown = Object.keys(record).filter((key) => !known.has(key));
  return [
    `${fault}: it is one of ${kinds.map((kind) => `'${kind}'`).join(', ')}`,
    ...unknownKeys(unknown, [...known]),
  ].join('; ');
};

/** Replaces zod's messages for missing and unknown fields. */
const wording = ({ code, input, inst, ...issue }: z.core.$ZodRawIssue): string | undefined => {
  if (code === 'invalid_type' && input === undefined) return 'required, but missing';
  if (code === 'unrecognized_keys' && inst instanceof z.ZodObject)
    return unknownKeys(issue['keys'] as string[], Object.keys(inst.shape)).join('; ');
  if (
    code === 'invalid_union' &&
    inst instanceof z.ZodDiscriminatedUnion &&
    typeof input === 'object' &&
    input !== null
  )
    return wordsOfKind(input, String(issue['discriminator']), issue['options'] as string[], inst.options);
  return undefined;
};

const asCompact = (json: unknown): number => Buffer.byteLength(JSON.stringify(json) ?? '');
const sizeOf = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

const tooLarge = (what: string, bytes: number, most: number): Reading | null => {
  if (bytes <= most) return null;
  const message = `${what} has ${sizeOf(bytes)}, ${bytes - most} bytes more than the ${most / 1024 ** 2} MiB that it may have`;
  return { ok: false, issues: [{ path: '', message }] };
};

/** What refuses a parsed file as a whole; null: nothing does. */
export const refusedWhole = (json: unknown): Reading | null =>
  isNestedWithin(MAX_DEPTH, json)
    ? tooLarge('the content, without spaces and line breaks,', asCompact(json), mostContentBytes)
    : { ok: false, issues: [{ path: '', message: `the file is nested more than ${MAX_DEPTH} levels deep` }] };

/** All that is wrong in a parsed file; without faults `content` is what it says. */
export const faultsOf = (json: unknown): { content: ContentFile; faults: readonly Fault[] } => {
  const { success, data, error } = tryParse(contentFile, json, { error: wording });
  return { content: data as ContentFile, faults: success ? (crossCheck(data) as Fault[]) : error.issues };
};

/** Validates a parsed content file. Never throws. */
export const validateContent = (json: unknown): Reading => {
  const refused = refusedWhole(json);
  if (refused !== null) return refused;
  const { content, faults } = faultsOf(json);
  if (faults.length === 0) return { ok: true, content };
  const issues = faults.slice(0, MAX_ISSUES).map(({ path, message }) => ({
    path: spellPath(path),
    message: labelled(json, path, message),
  }));
  return { ok: false, issues };
};

/**
 * Parses and validates the bytes of a content file. Never throws.
 * @param validate judges what was parsed
 */
export const checkContent = (bytes: Uint8Array, validate: (json: unknown) => Reading = validateContent): Reading => {
  const whole = (message: string): Reading => ({ ok: false, issues: [{ path: '', message }] });
  const refused = tooLarge('the file', bytes.length, mostContentFileBytes);
  if (refused !== null) return refused;
  let source: string;
  try {
    source = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return whole('the file is not UTF-8; save it with that encoding');
  }
  if (source.trim() === '') return whole('the file is empty');
  const json = parseJson(source);
  return json.ok ? validate(json.value) : whole(`the file is not JSON: ${json.message}`);
};

/** Writes the JSON Schema of `content.json`, which editors use for completion. */
export const writeSchema = async (path: string): Promise<void> => {
  const schema = `${JSON.stringify(contentSchema, null, 2)}\n`;
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before !== schema) await writeFile(path, schema);
};
