/** Boxes compare their lists of media by one digest of the files and the deletions. */
import { createHash } from 'node:crypto';
import type { PeerMedium } from '../contract/peers.ts';

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The fields of a file that boxes exchange. */
export const mediumOf = ({ name, size, sha256, modifiedAt }: PeerMedium): PeerMedium => ({
  name,
  size,
  sha256,
  modifiedAt,
});

export const digestOf = (media: readonly PeerMedium[]): string =>
  sha256Of(JSON.stringify(media.map(({ name, size, sha256, modifiedAt }) => [name, size, sha256, modifiedAt])));

/** The digest of a box's media in its state. */
export const stateDigest = (files: string, deletions: string): string => sha256Of(files + deletions);
