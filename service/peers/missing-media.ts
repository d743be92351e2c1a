/** Local media that the content names and no box of the site has. */
import type { Logger } from 'pino';
import type { Content } from '../content/content.ts';
import type { ContentIssue } from '../content/file.ts';
import type { ReplicationHealth } from '../contract/health.ts';
import type { MediaReplication } from './media-replication.ts';

interface Dependencies {
  log: Logger;
  content: Pick<Content, 'mediaUse' | 'onDocument'>;
  mediaReplication: Pick<MediaReplication, 'health'>;
}

type Missing = ReplicationHealth['media']['missing'];

export interface MissingMedia {
  /** One warning per medium, at its first mention in the content. @param missing absent media with reasons */
  warnings(missing: Missing): ContentIssue[];
  close(): void;
}

/** Media that are uploaded together with the content are not logged as missing. */
const GRACE_MS = 5_000;

export const createMissingMedia = ({ log, content, mediaReplication }: Dependencies): MissingMedia => {
  let timer: NodeJS.Timeout | undefined;

  const warnings = (missing: Missing): ContentIssue[] =>
    missing.flatMap(({ name, size, reason }) => {
      const use = content.mediaUse(name);
      // Media that a box has, or that this one is reading, will arrive.
      if (use === undefined || size !== null || reason !== 'no box has it') return [];
      return [{ path: use.path, message: `${use.label}: there is no medium ${JSON.stringify(name)}; upload it` }];
    });

  const logSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const found = warnings(mediaReplication.health().missing);
      if (found.length > 0) log.warn({ warnings: found }, 'media that the content names are missing');
    }, GRACE_MS).unref();
  };
  content.onDocument(logSoon);
  logSoon();

  return { warnings, close: () => clearTimeout(timer) };
};
