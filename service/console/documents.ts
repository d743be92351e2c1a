/** Receives documents in requests, and judges them. */
import type { Content } from '../content/index.ts';
import { mostContentBytes } from '../contract/console/content.ts';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { tooManyRequests } from '../contract/errors.ts';
import { editedDocument } from '../domain/document.ts';
import { type JsonText, readJsonText } from '../http/body.ts';
import type { Context } from '../http/routes.ts';
import { createTransferSlots } from '../http/transfers.ts';
import type { Media } from '../media/index.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { Secrets } from '../secrets/index.ts';
import type { Triggers } from '../triggers/index.ts';

export interface DocumentDependencies {
  content: Pick<Content, 'judge'>;
  media: Pick<Media, 'failedIn'>;
  peers: Pick<Peers, 'missingMedia'>;
  triggers: Pick<Triggers, 'warnings'>;
  secrets: Pick<Secrets, 'warnings'>;
}

const DEADLINE_MS = 60_000;
/** Size of the documents that are received and checked at the same time: of one address, and of all together. */
const pendingBytes = { own: 3 * mostContentBytes, total: 9 * mostContentBytes };

/** Represents the content while there is none. */
export const nothing = editedDocument(null, {
  counter: 0,
  nodeId: '',
  changedAt: new Date(0).toISOString(),
  stamps: [],
  text: '{"screens":[]}',
});

export const etagOf = (sha256: string): string => `"${sha256}"`;

/** @param most bytes of a body */
export const withDocuments = (
  { tempo }: Pick<ServiceContext, 'tempo'>,
  { content, media, peers, triggers, secrets }: DocumentDependencies,
  most = mostContentBytes,
) => {
  const slots = createTransferSlots(pendingBytes);
  const limits = { bytes: most, ms: DEADLINE_MS, stillMs: tempo.http.still };

  return {
    /** Receives a document and calls `work` with it. @throws CodedError `too_many_requests` while there are too many */
    withDocument: async <T>(ctx: Context, work: (document: JsonText) => Promise<T>): Promise<T> => {
      // A body without a length may reach the limit.
      const bytes = Math.min(ctx.request.length ?? most, most);
      const release = slots.take(ctx.state.clientIp, bytes);
      if (release === null) {
        ctx.req.resume();
        throw tooManyRequests(2, 'The box is busy with other documents; try again in a moment.');
      }
      try {
        return await work(await readJsonText(ctx, limits));
      } finally {
        release();
      }
    },

    warningsOf: async (file: ContentFile): Promise<ContentIssue[]> => [
      ...(await content.judge(file)),
      ...(await peers.missingMedia(file)),
      ...(await media.failedIn(file)),
      ...secrets.warnings(file),
      ...triggers.warnings({
        message: (id) => file.messages.find((message) => message.id === id),
        hasPlaylist: (id) => file.playlists.some((playlist) => playlist.id === id),
      }),
    ],
  };
};
