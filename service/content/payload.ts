/** Playlist payloads, serialised once per change, so that a request only writes bytes. */
import { playlistPayload, type Screen, syncHeader } from '../contract/playlist.ts';
import { extendedFields, type Variant } from '../contract/terms.ts';
import { type PreparedAnswer, prepareAnswer } from '../http/prepared.ts';
import type { ScreenDocument } from './model.ts';
import { piecesOf, revisionOf } from './serialize.ts';

/** One screen's answer to `GET /api/screens/{slug}/playlist`. */
export interface Payload extends PreparedAnswer {
  screen: Screen;
  /** In quotes it is the entity tag. */
  revision: string;
}

export const createPayload = ({ sync, ...document }: ScreenDocument, variant: Variant): Payload => {
  // With `sync`, which is a header: a page must fetch the playlist where nothing else has changed.
  const revision = revisionOf({ ...document, sync });
  const bodyOf = (): Buffer => {
    if (variant === 'extended')
      return Buffer.concat(piecesOf({ ...document, revision }).map((piece) => Buffer.from(piece)));
    const payload: Record<string, unknown> = { ...document };
    for (const field of extendedFields(playlistPayload)) delete payload[field];
    return Buffer.from(JSON.stringify(payload));
  };
  const headers = ['Cache-Control', 'no-cache', ...(sync === true ? [syncHeader, '1'] : [])];
  return Object.assign(prepareAnswer(`"${revision}"`, bodyOf, headers), { screen: document.screen, revision });
};
