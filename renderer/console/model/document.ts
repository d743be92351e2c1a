/** The operator's document as the console reads and edits it. Unknown fields are preserved. */
import type { Programme } from '../../../service/domain/programmes.ts';
import type { ContentIssue } from './wire.ts';

/** The address of a medium: an answer of a box names no other place. */
export { mediaAddress as mediumUrl } from '../../../service/domain/markup.ts';
export { isEqual } from '../../../service/domain/merge-documents.ts';

/** The issues at a path and below it. */
export const issuesAt = (issues: readonly ContentIssue[], path: string): ContentIssue[] =>
  issues.filter(({ path: at }) => at === path || at.startsWith(`${path}.`) || at.startsWith(`${path}[`));

/** The message without the slide's name, which is shown next to it. */
export const shortMessage = ({ message }: ContentIssue): string => {
  const short = message.replace(/^"(?:[^"\\]|\\.)*": /, '');
  return short.charAt(0).toUpperCase() + short.slice(1);
};

type Named = Pick<SlideDraft, 'title' | 'body' | 'media_url' | 'content'>;

export const plainText = (html: string | null | undefined): string => (html ?? '').replace(/<[^>]*>/g, ' ').trim();

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The file name of `/media/NAME`; of other addresses the part after the scheme, without user and password. */
export const mediumName = (url: string): string =>
  decoded(url.replace(/^\/media\//, '').replace(/^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?/i, '')).replace(/\/$/, '');

/** The first text among the values of a template. */
const firstValue = (content: SlideDraft['content']): string | undefined =>
  Object.values(content ?? {}).find((value): value is string => typeof value === 'string' && value.trim() !== '');

/** Its words, without markup; empty: it has none. */
export const wordsOf = ({ title, body }: Pick<Named, 'title' | 'body'>): string => title?.trim() || plainText(body);

/** An id as people read it: without the random end of those that the console makes; pure. */
export const plainId = (id: string): string => id.replace(/(?:-n\d{6})+(?:-\d+)?$/, '');

/** The display name of a slide without a title; pure. */
export const titleOf = (slide: Named & { kind?: string }, id: string): string =>
  wordsOf(slide) ||
  (slide.media_url ? mediumName(slide.media_url) : '') ||
  (slide.kind === 'template' ? firstValue(slide.content) : undefined) ||
  plainId(id);

export type Fields = Record<string, unknown>;

export interface SlideDraft extends Fields {
  id?: string;
  kind: string;
  title?: string | null;
  body?: string | null;
  media_url?: string | null;
  duration_seconds?: number | null;
  template_id?: string | null;
  content?: Fields | null;
}

export interface PlaylistDraft extends Fields {
  id: string;
  name?: string;
  fade_between_slides?: boolean;
  sync?: boolean;
  order?: 'listed' | 'shuffled' | null;
  insert?: { playlist_id: string; every: number; count: number } | null;
  slides: SlideDraft[];
}

export interface ProgrammeDraft extends Fields, Programme {}

export interface ScreenDraft extends Fields {
  name: string;
  slug: string;
  playlist_id?: string | null;
  tags?: string[] | null;
  layout?: string | null;
  zones?: { ticker?: string | null; sidebar?: string | null } | null;
  hours?: { days?: number[]; date?: string; open?: string; close?: string }[] | null;
}

export interface TimetableDraft extends Fields {
  id: string;
  name?: string;
  entries?: Fields[];
}

/** A template, a feed or an API source. */
export interface NamedDraft extends Fields {
  id: string;
  name?: string;
  html?: string;
  url?: string;
}

export interface ContentDocument extends Fields {
  screens: ScreenDraft[];
  playlists?: PlaylistDraft[];
  programmes?: ProgrammeDraft[];
  templates?: NamedDraft[];
  rssFeeds?: NamedDraft[];
  apiSources?: NamedDraft[];
  timetableGroups?: TimetableDraft[];
  calendars?: NamedDraft[];
  messages?: MessageDraft[];
  style?: StyleDraft;
}

export interface StyleDraft extends Fields {
  logo_url?: string;
  fonts?: { display?: string; text?: string };
  colours?: { background?: string; text?: string; accent?: string };
  corner?: number;
}

export interface MessageDraft extends Fields {
  id: string;
  title?: string | null;
  body?: string | null;
  level: 'info' | 'warning' | 'emergency';
  media_url?: string | null;
  minutes: number | null;
}

export interface Version {
  sha256: string;
  /** Whether it is the document itself: viewers get one without what is secret in its addresses, under the same SHA-256. */
  isWhole: boolean;
  content: ContentDocument;
}
