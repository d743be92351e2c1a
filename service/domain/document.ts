/** The content as one document with a version, which boxes hand to each other whole. Pure. */
import { createHash } from 'node:crypto';
import type { ContentDocument, ContentVersion } from '../contract/peers.ts';

/** So many versions back a document knows what it was edited from. */
const MOST_ANCESTORS = 64;

type Body = Omit<ContentDocument, keyof ContentVersion>;

/** SHA-256 (hex) of all that a version stands for. Spelt out field by field: the order of keys is no part of it. */
export const documentHash = ({ text, changedAt, ancestors, stamps }: Body): string =>
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
  counter: number;
  nodeId: string;
}

/** What an edit makes of the document before it. */
export const editedDocument = (before: ContentDocument | null, { counter, nodeId, ...edit }: Edit): ContentDocument => {
  const parents = before === null ? [] : [{ counter: before.counter, nodeId: before.nodeId }, ...before.ancestors];
  const body = { ...edit, ancestors: parents.slice(0, MOST_ANCESTORS) };
  return { counter, nodeId, sha256: documentHash(body), ...body };
};

/**
 * Whether `loser` is somebody's edit that the winner knows nothing of, so that something is lost with it. A winner that
 * was edited from it carries it on; one of so long a descent that it can't tell is taken not to.
 */
export const isLost = (loser: ContentDocument, winner: ContentDocument): boolean =>
  loser.counter > 0 &&
  loser.text !== winner.text &&
  !winner.ancestors.some(({ counter, nodeId }) => counter === loser.counter && nodeId === loser.nodeId);

/** The version alone. */
export const versionOf = ({ counter, nodeId, sha256 }: ContentVersion): ContentVersion => ({ counter, nodeId, sha256 });
