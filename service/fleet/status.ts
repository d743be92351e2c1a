/** What the hub knows of this box and of what its site plays, and the hub's clock, read from when it stored a status. */
import type { Content } from '../content/index.ts';
import type { FleetBox, FleetContent } from '../contract/fleet.ts';
import { cutText } from '../contract/terms.ts';
import { CONTENT_KEY, keySubject, STATUS_BUCKET, statusKey, streamOf } from '../domain/fleet-subjects.ts';
import type { Clock, EpochMs, MonotonicMs } from '../domain/time.ts';
import type { FleetContext, Line } from './connection.ts';
import type { Refusals } from './refusals.ts';
import { createReporter } from './reporter.ts';

const MAX_WARNINGS = 10;
const MAX_WARNING_LENGTH = 300;

/** The fleet's clock: that of the hub; until it is known, the machine's. */
export const createFleetClock = ({ now, monotonicNow }: Clock) => {
  let offset: number | null = null;
  return {
    now: (): EpochMs => (offset === null ? now() : monotonicNow() + offset),
    /** How far the machine's clock is ahead of the hub's, ms; null: not known yet. */
    ahead: (): number | null => (offset === null ? null : now() - (monotonicNow() + offset)),
    /**
     * Sets the clock by an event that the hub dated. An estimate that agrees with it is kept: a slow answer must not
     * replace a better one.
     * @param stored when, by the hub
     * @param sent the event is after this and before `received`
     */
    observe: (stored: EpochMs, sent: MonotonicMs, received: MonotonicMs): void => {
      const [least, most] = [stored - received, stored - sent];
      if (offset === null || offset < least || offset > most) offset = (least + most) / 2;
    },
  };
};
export type FleetClock = ReturnType<typeof createFleetClock>;

interface Playing {
  content: Pick<Content, 'playing'>;
  describeWanted(): Pick<FleetContent, 'wanted' | 'wantedPush' | 'state' | 'diverged' | 'errors'>;
  refusals: Pick<Refusals, 'set'>;
}

/** Reports what the site plays. */
export const createPlaying = (context: FleetContext, { content, describeWanted, refusals }: Playing) => {
  const { site, nodeId, now, tempo } = context;
  return createReporter<FleetContent>(context, {
    key: statusKey(site, CONTENT_KEY),
    what: 'what the site plays',
    refusals,
    period: tempo.fleet.playing,
    read: async () => {
      const { sha256 = null, changedAt = null, operator = null, push = null } = content.playing() ?? {};
      const at = new Date(now()).toISOString();
      return { site, sha256, changedAt, operator, push, ...describeWanted(), nodeId, at };
    },
    changing: ({ at: _, ...rest }) => rest,
  });
};

interface Reported {
  /** The part of the status that never changes. */
  box: Pick<FleetBox, 'nodeId' | 'site' | 'name' | 'version' | 'startedAt'>;
  report(): Promise<Pick<FleetBox, 'status' | 'warnings' | 'connections' | 'url'>>;
  /** Id of the push that plays: a rollout waits for what each box says since then. */
  playing(): string | undefined;
  clock: Pick<FleetClock, 'observe'>;
  refusals: Pick<Refusals, 'set'>;
  onRecovered(): void;
  /** Called after each status that the hub has taken. */
  onStatus(): void;
}

/** Reports the status of this box. */
export const createStatus = (
  context: FleetContext,
  { box, report, playing, clock, refusals, onRecovered, onStatus }: Reported,
) => {
  const { now, tempo } = context;
  const key = statusKey(box.site, box.nodeId);
  let clockAt = Number.NEGATIVE_INFINITY;
  const reporter = createReporter<FleetBox>(context, {
    key,
    what: 'the status of this box',
    refusals,
    onRecovered,
    period: tempo.fleet.status,
    read: async () => {
      const { warnings, ...rest } = await report();
      return {
        ...box,
        ...rest,
        warnings: warnings.slice(0, MAX_WARNINGS).map((each) => cutText(each, MAX_WARNING_LENGTH)),
        at: new Date(now()).toISOString(),
      };
    },
    // Connections change with each page reload.
    changing: ({ status, warnings, url }) => ({ status, warnings, url, push: playing() }),
    onWritten: async (hub, { sequence, sent, received }) => {
      onStatus();
      if (sent < clockAt) return;
      const stored = await hub.newest(streamOf(STATUS_BUCKET), keySubject(STATUS_BUCKET, key));
      // A server of a cluster that lags has the status before.
      if (stored?.sequence !== sequence) return;
      clock.observe(stored.storedAt.getTime(), sent, received);
      clockAt = received + tempo.fleet.clock;
    },
  });
  return {
    ...reporter,
    onLine: (line: Line): void => {
      // A suspended machine has lost its connection, and its monotonic clock has stopped.
      clockAt = Number.NEGATIVE_INFINITY;
      reporter.onLine(line);
    },
  };
};
