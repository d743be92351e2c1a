/** The status of this box for the hub, and the hub's clock, which is read from when it stored that status. */
import type { FleetBox } from '../contract/fleet.ts';
import { cutText } from '../contract/terms.ts';
import { statusKey } from '../domain/fleet-subjects.ts';
import type { SourceLog } from '../platform/source-log.ts';
import type { FleetClock } from './clock.ts';
import { createReporter } from './reporter.ts';

/** The part of the status that changes. */
type BoxReport = Pick<FleetBox, 'status' | 'warnings' | 'connections' | 'url'>;

interface Dependencies {
  /** The part of the status that never changes. */
  box: Pick<FleetBox, 'nodeId' | 'site' | 'name' | 'version' | 'startedAt'>;
  report(): Promise<BoxReport>;
  clock: Pick<FleetClock, 'observe'>;
  onRecovered(): void;
  now(): number;
  monotonicNow(): number;
  log: SourceLog;
}

const MAX_WARNINGS = 10;
const MAX_WARNING_LENGTH = 300;
const PERIOD_MS = 60_000;
/** How often the clock of the hub is read: in between, two clocks drift apart by some milliseconds. */
const CLOCK_MS = 600_000;

export const createStatus = ({ box, report, clock, onRecovered, now, monotonicNow, log }: Dependencies) => {
  const key = statusKey(box.site, box.nodeId);
  let clockAt = Number.NEGATIVE_INFINITY;
  const reporter = createReporter<FleetBox>({
    ...{ key, onRecovered, monotonicNow, log },
    periodMs: PERIOD_MS,
    read: async () => {
      const { warnings, ...rest } = await report();
      return {
        ...{ ...box, ...rest },
        warnings: warnings.slice(0, MAX_WARNINGS).map((each) => cutText(each, MAX_WARNING_LENGTH)),
        at: new Date(now()).toISOString(),
      };
    },
    // Connections change with each page reload.
    changing: ({ status, warnings, url }) => ({ status, warnings, url }),
    write: async (bucket, value) => {
      const sent = monotonicNow();
      await bucket.put(key, value);
      const received = monotonicNow();
      if (sent < clockAt) return;
      const stored = await bucket.get(key);
      if (stored === null) return;
      clock.observe(stored.created.getTime(), sent, received);
      clockAt = received + CLOCK_MS;
    },
  });
  return {
    ...reporter,
    onLine: (line: Parameters<typeof reporter.onLine>[0]): void => {
      // A suspended machine has lost its connection, and its monotonic clock has stopped.
      clockAt = Number.NEGATIVE_INFINITY;
      reporter.onLine(line);
    },
  };
};
