/** The operator's document as the console reads and edits it. What it does not know it keeps. */

export interface SlideDraft {
  id?: string;
  kind: string;
  title?: string | null;
  body?: string | null;
  media_url?: string | null;
  duration_seconds?: number | null;
  template_id?: string | null;
  content?: Record<string, unknown> | null;
  [field: string]: unknown;
}

export interface PlaylistDraft {
  id: string;
  name?: string;
  slides: SlideDraft[];
  [field: string]: unknown;
}

export interface ScreenDraft {
  name: string;
  slug: string;
  playlist_id?: string | null;
  tags?: string[];
  hours?: { days?: number[]; date?: string; open?: string; close?: string }[] | null;
  [field: string]: unknown;
}

interface Named {
  id: string;
  name?: string;
  [field: string]: unknown;
}

export interface ContentDocument {
  screens: ScreenDraft[];
  playlists?: PlaylistDraft[];
  templates?: Named[];
  rssFeeds?: Named[];
  apiSources?: Named[];
  timetableGroups?: Named[];
  [field: string]: unknown;
}

export interface ContentAnswer {
  sha256: string;
  changedAt: string;
  content: ContentDocument;
}

/** The slide's own id, else the one that the service gives it by its position. */
export const slideIdOf = (playlistId: string, slide: Pick<SlideDraft, 'id'>, index: number): string =>
  slide.id ?? `${playlistId}-${index + 1}`;

/** The playlist of a screen. */
export const playlistOf = (content: ContentDocument, slug: string): PlaylistDraft | undefined => {
  const screen = content.screens.find((each) => each.slug === slug);
  return content.playlists?.find(({ id }) => id === screen?.playlist_id);
};
