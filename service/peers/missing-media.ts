/** Media of the box's own that the content names and that no box of the site has. */
import type { Logger } from 'pino';
import type { Content } from '../content/content.ts';
import type { ContentIssue } from '../content/file.ts';
import type { ReplicationHealth } from '../contract/health.ts';
import type { Mirror } from './media-replication.ts';

interface Dependencies {
  log: Logger;
  content: Pick<Content, 'mediaUse' | 'onDocument'>;
  mirror: Pick<Mirror, 'health'>;
}

type Missing = ReplicationHealth['media']['missing'];

export interface MissingMedia {
  /** One for each medium, at the place that names it first. @param missing what is not here, and why */
  warnings(missing: Missing): ContentIssue[];
  close(): void;
}

/** Media that are uploaded together with the content are no reason for a line in the log. */
const GRACE_MS = 5_000;

export const createMissingMedia = ({ log, content, mirror }: Dependencies): MissingMedia => {
  let timer: NodeJS.Timeout | undefined;

  const warnings = (missing: Missing): ContentIssue[] =>
    missing.flatMap(({ name, size, reason }) => {
      const use = content.mediaUse(name);
      // What a box has, or this one is reading, is on its way.
      if (use === undefined || size !== null || reason !== 'no box has it') return [];
      return [{ path: use.path, message: `${use.label}: there is no medium ${JSON.stringify(name)}; upload it` }];
    });

  const logSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const found = warnings(mirror.health().missing);
      if (found.length > 0) log.warn({ warnings: found }, 'media that the content names are missing');
    }, GRACE_MS).unref();
  };
  content.onDocument(logSoon);
  logSoon();

  return { warnings, close: () => clearTimeout(timer) };
};
