/** Playlist payloads, serialised once per change, so that a request only writes bytes. */
import { playlistPayload, type Screen } from '../contract/playlist.ts';
import { extendedFields, type Variant } from '../contract/terms.ts';
import { digestOf, type ScreenDocument } from './model.ts';

/** One screen's answer to `GET /api/screens/{slug}/playlist`. */
export interface Payload {
  screen: Screen;
  /** All pages show the same slide at the same time; sent as a header. */
  sync: boolean;
  revision: string;
  /** RFC 9110 entity tag: the revision in quotes. */
  etag: string;
  body: Buffer;
}

export const createPayload = ({ sync, ...document }: ScreenDocument, variant: Variant): Payload => {
  const revision = digestOf(document);
  const payload: Record<string, unknown> = { ...document, revision };
  if (variant === 'baseline') for (const field of extendedFields(playlistPayload)) delete payload[field];
  const body = Buffer.from(JSON.stringify(payload));
  return { screen: document.screen, sync: sync === true, revision, etag: `"${revision}"`, body };
};
