/** The content as one versioned document, which boxes replicate as a whole. Pure. */
import { createHash } from 'node:crypto';
import { mostContentFileBytes } from '../contract/console/content.ts';
import type { ContentDocument, ContentVersion } from '../contract/peers.ts';

/** Number of earlier versions that a document lists. */
const MAX_ANCESTORS = 64;
/** The newest ones, all of which are listed. */
const EXACT = 32;

type Body = Omit<ContentDocument, keyof ContentVersion>;

/**
 * SHA-256 (hex) of the document. Listed field by field, so that the order of keys does not matter.
 */
export const documentHash = ({
  text,
  changedAt,
  ancestors,
  stamps,
}: Omit<Body, 'operator' | 'person' | 'push' | 'approved_by'>): string =>
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

type Ancestor = ContentDocument['ancestors'][number];

/**
 * Shortens a list of ancestors, newest first: of older versions in a row by one box only the first and the last stay. All
 * edits of that box between these two are in the row, since each is made on the one before.
 */
const thinned = (ancestors: readonly Ancestor[]): Ancestor[] =>
  ancestors
    .filter(({ nodeId }, at) => {
      const isInside = ancestors[at - 1]?.nodeId === nodeId && ancestors[at + 1]?.nodeId === nodeId;
      return at < EXACT || !isInside;
    })
    .slice(0, MAX_ANCESTORS);

/**
 * Whether a version is among the ancestors, or in a row of which the ends are. A box that was restored from an image counts
 * its edits from there again, so that two documents may have one counter and nodeId: their hashes differ.
 */
const isAncestor = ({ counter, nodeId, sha256 }: ContentVersion, ancestors: readonly Ancestor[]): boolean =>
  ancestors.some((each, at) => {
    if (each.nodeId !== nodeId) return false;
    const next = ancestors[at + 1];
    const isInside = at >= EXACT - 1 && next?.nodeId === nodeId && next.counter < counter && counter < each.counter;
    const isSame = each.counter === counter && each.sha256 === sha256;
    return isSame || isInside;
  });

export const versionOf = ({ counter, nodeId, sha256 }: ContentVersion): ContentVersion => ({ counter, nodeId, sha256 });

interface Edit extends Pick<Body, 'text' | 'changedAt' | 'stamps'> {
  /** Default: null. */
  operator?: string | null;
  /** The push of the fleet that the edit applies; absent: a local edit. */
  push?: Body['push'];
  /** Who proved to have made it; absent: nobody did. */
  person?: Body['person'];
  /** Who published the draft that it was; absent: it was none. */
  approved_by?: Body['approved_by'];
  counter: number;
  nodeId: string;
}

/** The document that results from an edit of `before`. */
export const editedDocument = (
  before: ContentDocument | null,
  { counter, nodeId, operator = null, push = before?.push, person, approved_by, ...edit }: Edit,
): ContentDocument => {
  const parents = before === null ? [] : [versionOf(before), ...before.ancestors];
  const body = {
    ...edit,
    operator,
    ancestors: thinned(parents),
    ...(push !== undefined && { push }),
    ...(person !== undefined && { person }),
    ...(approved_by !== undefined && { approved_by }),
  };
  return { counter, nodeId, sha256: documentHash(body), ...body };
};

/**
 * Whether replacing `loser` by `winner` loses an edit: `loser` was edited, and `winner` does not descend from it. If the
 * list of ancestors is too short to decide, the result is true.
 */
export const isLost = (loser: ContentDocument, winner: ContentDocument): boolean =>
  loser.counter > 0 && loser.text !== winner.text && !isAncestor(loser, winner.ancestors);

/**
 * Whether `loser` certainly was an edit that `winner` was made without: {@link isLost}, and not older than the ancestors
 * that are listed.
 */
export const isUnseen = (loser: ContentDocument, winner: ContentDocument): boolean => {
  const oldest = winner.ancestors.length < MAX_ANCESTORS ? undefined : winner.ancestors.at(-1);
  return isLost(loser, winner) && (oldest === undefined || loser.counter >= oldest.counter);
};

/** Indents a single-line document, as programs send it, so that content.json stays readable, unless it gets too large. */
export const asFile = (text: string, value: unknown): string => {
  if (text.trim().includes('\n')) return text;
  const indented = `${JSON.stringify(value, null, 2)}\n`;
  return Buffer.byteLength(indented) <= mostContentFileBytes ? indented : text;
};
