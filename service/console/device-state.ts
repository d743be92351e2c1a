/** The state of a device that is expected to show a screen, and whether a page is stuck. Pure. */
import type { DeviceState } from '../contract/console/site.ts';
import type { Slide } from '../contract/playlist.ts';
import { kindsWithOwnLength } from '../contract/slide-values.ts';

interface DeviceFacts {
  /** Its live connections. */
  connections: readonly { isStuck: boolean }[];
  /** Whether any box of the site has ever seen it. */
  wasSeen: boolean;
  /** Whether its screen is inside its opening hours. */
  isOpen: boolean;
}

export const deviceState = ({ connections, wasSeen, isOpen }: DeviceFacts): DeviceState => {
  const isConnected = connections.length > 0;
  if (!isConnected && !wasSeen) return 'never';
  if (!isOpen) return 'closed';
  if (!isConnected) return 'away';
  return connections.every(({ isStuck }) => isStuck) ? 'stuck' : 'playing';
};

interface PageFacts {
  /** The slide that it shows; null: none, or one that the content no longer has. */
  slide: Pick<Slide, 'duration_seconds' | 'kind'> | null;
  /** Since the slide came on, or the page was paused, resumed or given new content, ms. */
  unchangedMs: number;
  /** It shows no slide, and has reported one that it could not show. */
  reportsFaultsAlone: boolean;
  /** Paused, black, redirected or taken over: its slide is not meant to change. */
  isHeld: boolean;
  /** Whether another slide of its screen was on schedule all through the last `ms`. A slide that is alone stays. */
  hasSuccessor(ms: number): boolean;
}

const LENGTHS = 3;
const DEFAULT_MS = 10_000;
/** How long the slide is shown, ms; null: the page determines it. */
const lengthOf = ({ duration_seconds, kind }: NonNullable<PageFacts['slide']>): number | null =>
  duration_seconds !== null ? duration_seconds * 1000 : kindsWithOwnLength.includes(kind) ? null : DEFAULT_MS;

/** Whether a page is stuck: its slide has not changed for three of its lengths, or it reports faults alone. */
export const isStuck = ({ slide, unchangedMs, reportsFaultsAlone, isHeld, hasSuccessor }: PageFacts): boolean => {
  if (isHeld) return false;
  if (reportsFaultsAlone) return true;
  const length = slide === null ? null : lengthOf(slide);
  return length !== null && unchangedMs > LENGTHS * length && hasSuccessor(LENGTHS * length);
};
