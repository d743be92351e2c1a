/** Playlist payloads, serialised once per change, so that a request only writes bytes. */
import { playlistPayload, type Screen, syncHeader } from '../contract/playlist.ts';
import { extendedFields, type Variant } from '../contract/terms.ts';
import { type PreparedAnswer, prepareAnswer } from '../http/prepared.ts';
import { digestOf, type ScreenDocument } from './model.ts';

/** One screen's answer to `GET /api/screens/{slug}/playlist`. */
export interface Payload extends PreparedAnswer {
  screen: Screen;
  /** In quotes it is the entity tag. */
  revision: string;
}

export const createPayload = ({ sync, ...document }: ScreenDocument, variant: Variant): Payload => {
  const revision = digestOf(document);
  const payload: Record<string, unknown> = { ...document, revision };
  if (variant === 'baseline') for (const field of extendedFields(playlistPayload)) delete payload[field];
  const body = Buffer.from(JSON.stringify(payload));
  const headers = ['Cache-Control', 'no-cache', ...(sync === true ? [syncHeader, '1'] : [])];
  return { screen: document.screen, revision, ...prepareAnswer(`"${revision}"`, body, headers) };
};
