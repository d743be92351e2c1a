/** The content as one versioned document, which boxes replicate as a whole. Pure. */
import { createHash } from 'node:crypto';
import type { ContentDocument, ContentVersion } from '../contract/peers.ts';

/** Number of earlier versions that a document lists. */
const MAX_ANCESTORS = 64;

type Body = Omit<ContentDocument, keyof ContentVersion>;

/** SHA-256 (hex) of the document. Listed field by field, so that the order of keys does not matter. */
export const documentHash = ({ text, changedAt, ancestors, stamps }: Omit<Body, 'operator'>): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        text,
        changedAt,
        ancestors.map(({ counter, nodeId }) => [counter, nodeId]),
        stamps.map(([slug, { created_at, modified_at, digest }]) => [slug, created_at, modified_at, digest]),
      ]),
    )
    .digest('hex');

interface Edit extends Pick<Body, 'text' | 'changedAt' | 'stamps'> {
  /** Default: null. */
  operator?: string | null;
  counter: number;
  nodeId: string;
}

/** The document that results from an edit of `before`. */
export const editedDocument = (
  before: ContentDocument | null,
  { counter, nodeId, operator = null, ...edit }: Edit,
): ContentDocument => {
  const parents = before === null ? [] : [{ counter: before.counter, nodeId: before.nodeId }, ...before.ancestors];
  const body = { ...edit, operator, ancestors: parents.slice(0, MAX_ANCESTORS) };
  return { counter, nodeId, sha256: documentHash(body), ...body };
};

/**
 * Whether replacing `loser` by `winner` loses an edit: `loser` was edited, and `winner` does not descend from it. If the
 * list of ancestors is too short to tell, the answer is true.
 */
export const isLost = (loser: ContentDocument, winner: ContentDocument): boolean =>
  loser.counter > 0 &&
  loser.text !== winner.text &&
  !winner.ancestors.some(({ counter, nodeId }) => counter === loser.counter && nodeId === loser.nodeId);

/** The version alone. */
export const versionOf = ({ counter, nodeId, sha256 }: ContentVersion): ContentVersion => ({ counter, nodeId, sha256 });
