/** Playlist payloads, serialised once a change, so that a request only writes bytes. */
import { playlistPayload, type Screen } from '../contract/playlist.ts';
import { extendedFields, type Variant } from '../contract/terms.ts';
import { digestOf, type Programme } from './model.ts';

/** One screen's answer to `GET /api/screens/{slug}/playlist`. */
export interface Payload {
  screen: Screen;
  /** Pages show it at the same time everywhere; they learn it from a header. */
  sync: boolean;
  revision: string;
  /** RFC 9110 entity tag: the revision in quotes. */
  etag: string;
  body: Buffer;
}

export const createPayload = ({ sync, ...programme }: Programme, variant: Variant): Payload => {
  const revision = digestOf(programme);
  const payload: Record<string, unknown> = { ...programme, revision };
  if (variant === 'baseline') for (const field of extendedFields(playlistPayload)) delete payload[field];
  const body = Buffer.from(JSON.stringify(payload));
  return { screen: programme.screen, sync: sync === true, revision, etag: `"${revision}"`, body };
};
