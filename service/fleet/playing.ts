/** The report to the hub of what the site plays. */
import type { Content } from '../content/index.ts';
import type { FleetContent } from '../contract/fleet.ts';
import { CONTENT_KEY, statusKey } from '../domain/fleet-subjects.ts';
import type { SourceLog } from '../platform/source-log.ts';
import { createReporter } from './reporter.ts';

interface Dependencies {
  site: string;
  nodeId: string;
  content: Pick<Content, 'playing'>;
  describeWanted(): Pick<FleetContent, 'wanted' | 'state' | 'diverged' | 'errors'>;
  now(): number;
  monotonicNow(): number;
  log: SourceLog;
}

/** Often enough for a bucket that drops the keys of sites that are gone. */
const PERIOD_MS = 3_600_000;

export const createPlaying = ({ site, nodeId, content, describeWanted, now, monotonicNow, log }: Dependencies) =>
  createReporter<FleetContent>({
    ...{ key: statusKey(site, CONTENT_KEY), monotonicNow, log, periodMs: PERIOD_MS },
    read: async () => {
      const { sha256 = null, changedAt = null, operator = null } = content.playing() ?? {};
      return {
        ...{ site, sha256, changedAt, operator },
        ...describeWanted(),
        ...{ nodeId, at: new Date(now()).toISOString() },
      };
    },
    changing: ({ sha256, wanted, state, errors }) => ({ sha256, wanted, state, errors }),
  });
