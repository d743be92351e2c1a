/** Pictures of displays. A display is photographed at most once in 5 s for all clients together. */
import { CodedError } from '../contract/errors.ts';

export interface Screenshot {
  jpeg: Uint8Array;
  /** ISO 8601 */
  capturedAt: string;
}

interface Dependencies {
  /** Resolves with a JPEG of what the display of a device shows; null: no display is this device. It may hang. */
  capture(deviceId: string): Promise<Uint8Array> | null;
  /** ms since the epoch */
  now(): number;
  /** ms, monotonic */
  monotonicNow(): number;
}

const INTERVAL_MS = 5_000;
const PATIENCE_MS = 2_000;
/** An attempt that hangs is given up after this: attempts that hang must not pile up. */
const GIVE_UP_MS = 60_000;

interface Attempt {
  startedAt: number;
  isSettled: boolean;
  screenshot: Promise<Screenshot | null>;
}

/**
 * Returns a function that resolves with the newest picture of the display of a device.
 * @throws CodedError `screenshot_unavailable` if no display is this device, `screenshot_timeout`
 */
export const createScreenshots = ({ capture, now, monotonicNow }: Dependencies) => {
  /** By device id; one for each display of this box. */
  const attempts = new Map<string, Attempt>();

  const attempt = (deviceId: string): Attempt => {
    const last = attempts.get(deviceId);
    const age = monotonicNow() - (last?.startedAt ?? Number.NEGATIVE_INFINITY);
    if (last !== undefined && age < (last.isSettled ? INTERVAL_MS : GIVE_UP_MS)) return last;
    const capturing = capture(deviceId);
    if (capturing === null) {
      attempts.delete(deviceId);
      throw new CodedError('screenshot_unavailable');
    }
    const started: Attempt = {
      startedAt: monotonicNow(),
      isSettled: false,
      screenshot: capturing
        .then(
          (jpeg) => ({ jpeg, capturedAt: new Date(now()).toISOString() }),
          // A page that has crashed or paints nothing.
          () => null,
        )
        .finally(() => {
          started.isSettled = true;
        }),
    };
    attempts.set(deviceId, started);
    return started;
  };

  return async (deviceId: string): Promise<Screenshot> => {
    const { screenshot: taken } = attempt(deviceId);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS, null);
    });
    const screenshot = await Promise.race([taken, late]);
    clearTimeout(timer);
    if (screenshot === null) throw new CodedError('screenshot_timeout');
    return screenshot;
  };
};
