/** Media that the content names and that no box of the site has. */
import { type Content, type MediaUse, mediaUses } from '../content/index.ts';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { createDebounce } from '../domain/debounce.ts';
import type { ServiceContext } from '../module.ts';

/** Most media that are listed. */
export const MAX_REPORTED = 100;

export const createMissingMedia = (
  { log, tempo }: Pick<ServiceContext, 'log' | 'tempo'>,
  content: Pick<Content, 'mediaUses' | 'onDocument'>,
  mediaReplication: { nowhere(names: Iterable<string>): Set<string>; settled(): Promise<void> },
) => {
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
  const logSoon = createDebounce(() => void logFound(), {
    // Media may be uploaded together with the content.
    quietMs: tempo.peers.missing,
    longestMs: Number.POSITIVE_INFINITY,
  });

  return {
    /** One warning per medium of the playing content that no box has, at its first mention. */
    warnings,
    /** The same for any content; also finds files that were just put into the folders. */
    of: async (file: ContentFile): Promise<ContentIssue[]> => {
      await mediaReplication.settled();
      return warningsFor(mediaUses(file));
    },
    start: (): void => {
      content.onDocument(logSoon);
      logSoon();
    },
    close: (): void => void logSoon.cancel(),
  };
};
