/** Local media that the content names and no box of the site has. */

import type { Logger } from 'pino';
import { type Content, type MediaUse, mediaUses } from '../content/index.ts';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { createDebounce } from '../domain/debounce.ts';
import type { MediaReplication } from './media-replication.ts';

interface Dependencies {
  log: Logger;
  content: Pick<Content, 'mediaUses' | 'onDocument'>;
  mediaReplication: Pick<MediaReplication, 'nowhere' | 'settled'>;
}

export interface MissingMedia {
  /** One warning per medium of the playing content that no box has, at its first mention. */
  warnings(): ContentIssue[];
  /** The same for any content; also finds files that were just put into the folders. */
  of(content: ContentFile): Promise<ContentIssue[]>;
  start(): void;
  close(): void;
}

/** Media that are uploaded together with the content are not logged as missing. */
const GRACE_MS = 5_000;
/** Limit of the report. */
const MAX_REPORTED = 100;

export const createMissingMedia = ({ log, content, mediaReplication }: Dependencies): MissingMedia => {
  const warningsFor = (uses: ReadonlyMap<string, MediaUse>): ContentIssue[] => {
    const absent = mediaReplication.nowhere(uses.keys());
    return [...uses]
      .filter(([name]) => absent.has(name))
      .slice(0, MAX_REPORTED)
      .map(([name, { path, label }]) => ({
        path,
        message: `${label}: there is no medium ${JSON.stringify(name)}; upload it`,
      }));
  };
  const warnings = (): ContentIssue[] => warningsFor(content.mediaUses());

  const logFound = async (): Promise<void> => {
    // During a scan nothing is known to be missing.
    await mediaReplication.settled();
    const found = warnings();
    if (found.length > 0) log.warn({ warnings: found }, 'media that the content names are missing');
  };
  const logSoon = createDebounce(() => void logFound(), { quietMs: GRACE_MS, longestMs: Number.POSITIVE_INFINITY });

  return {
    warnings,
    of: async (file) => {
      await mediaReplication.settled();
      return warningsFor(mediaUses(file));
    },
    start: () => {
      content.onDocument(logSoon);
      logSoon();
    },
    close: () => void logSoon.cancel(),
  };
};
