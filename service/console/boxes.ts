/** One box of the site: its log, its restart, and pictures of its displays. Any box forwards to the right one. */
import { type BoxLog, type BoxLogQuery, boxLogQuery, capturedAtHeader, logLevels } from '../contract/console/site.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { peerScreenshotQuery } from '../contract/peers.ts';
import type { Clock } from '../domain/time.ts';
import { isOwnClient } from '../http/authority.ts';
import type { Context, Routes } from '../http/routes.ts';
import { afterAnswer } from '../http/transfers.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { Screens } from '../screens/index.ts';
import { answerOf, findPeer } from './peer-box.ts';
import type { Site } from './site.ts';

interface Dependencies {
  peers: Pick<Peers, 'find' | 'ask'>;
  screens: Pick<Screens, 'pages'>;
  site: Pick<Site, 'take' | 'boxOf'>;
}

/** The newest lines of a level and above, oldest first. */
export const selectLines = (lines: readonly string[], { level, limit }: BoxLogQuery): BoxLog['lines'] => {
  const chosen: BoxLog['lines'] = [];
  for (let index = lines.length - 1; index >= 0 && chosen.length < limit; index--) {
    const record = JSON.parse(lines[index] ?? '') as BoxLog['lines'][number];
    if (record.level >= logLevels[level]) chosen.push(record);
  }
  return chosen.reverse();
};

export const boxRoutes = (
  { ids: { nodeId }, logLines, capture, restart, now, monotonicNow }: ServiceContext,
  { peers, screens, site }: Dependencies,
): { routes: Routes; screenshot: TakeScreenshot } => {
  const takeScreenshot = createScreenshots({ capture: capture ?? (() => null), now, monotonicNow });

  const find = (box: string) => findPeer(peers, box);

  /** @throws CodedError `not_supported` */
  const restartHere = (ctx: Context): void => {
    if (restart === undefined) throw new CodedError('not_supported');
    ctx.state.log.warn({ nodeId }, 'the player is restarted from the console');
    afterAnswer(ctx.res, restart);
  };

  const isHere = (connectionId: string): boolean =>
    screens.pages().some(({ connection }) => connection.id === connectionId);

  /** @throws CodedError `connection_not_found`, `screenshot_unavailable`, `screenshot_timeout` */
  const screenshotHere = (connectionId: string): Promise<Screenshot> => {
    const page = screens.pages().find(({ connection }) => connection.id === connectionId);
    if (page === undefined) throw new CodedError('connection_not_found');
    const { deviceId, remoteAddress } = page.connection;
    // A browser elsewhere may have the device id of a display in its address.
    if (deviceId === null || !isOwnClient(remoteAddress)) throw new CodedError('screenshot_unavailable');
    return takeScreenshot(deviceId);
  };

  const screenshotThere = async (connectionId: string): Promise<Screenshot> => {
    if (site.boxOf(connectionId) === null) await site.take();
    const box = site.boxOf(connectionId);
    if (box === null) throw new CodedError('connection_not_found');
    const { jpeg, capturedAt } = answerOf(
      await peers.ask(find(box), 'boxes.screenshot', connectionId),
      ...(['connection_not_found', 'screenshot_unavailable', 'screenshot_timeout'] as const),
    );
    return { jpeg: Buffer.from(jpeg, 'base64'), capturedAt };
  };

  const screenshot: TakeScreenshot = (id) => (isHere(id) ? screenshotHere(id) : screenshotThere(id));

  const routes: Routes = {
    'GET /console/api/boxes/:nodeId/log': async (ctx) => {
      const query = readFields(boxLogQuery, ctx.query);
      const box = ctx.params.nodeId;
      ctx.body =
        box === nodeId
          ? { lines: selectLines(logLines(), query) }
          : answerOf(await peers.ask(find(box), 'boxes.log', query));
    },
    'GET /api/peers/log': (ctx) => {
      ctx.body = { lines: selectLines(logLines(), readFields(boxLogQuery, ctx.query)) } satisfies BoxLog;
    },
    'POST /console/api/boxes/:nodeId/restart': async (ctx) => {
      const box = ctx.params.nodeId;
      if (box === nodeId) restartHere(ctx);
      else answerOf(await peers.ask(find(box), 'boxes.restart'), 'not_supported');
      ctx.status = 202;
      ctx.body = '';
    },
    'POST /api/peers/restart': (ctx) => {
      restartHere(ctx);
      ctx.status = 202;
      ctx.body = {};
    },
    'GET /console/api/connections/:id/screenshot': async (ctx) => {
      const { id } = ctx.params;
      const { jpeg, capturedAt } = await screenshot(id);
      ctx.set(capturedAtHeader, capturedAt);
      ctx.type = 'image/jpeg';
      ctx.body = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.length);
    },
    'GET /api/peers/screenshot': async (ctx) => {
      const { jpeg, capturedAt } = await screenshotHere(readFields(peerScreenshotQuery, ctx.query).connectionId);
      ctx.body = { jpeg: Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.length).toString('base64'), capturedAt };
    },
  };
  return { routes, screenshot };
};

/**
 * Takes a picture of the display of a connection, on whichever box it is.
 * @throws CodedError `connection_not_found`, `screenshot_unavailable`, `screenshot_timeout`, `box_away`
 */
export type TakeScreenshot = (connectionId: string) => Promise<Screenshot>;

export interface Screenshot {
  jpeg: Uint8Array;
  /** ISO 8601 */
  capturedAt: string;
}

interface Camera extends Clock {
  /** Resolves with a JPEG of the screen that the display of a device shows; null: there is none. It may hang. */
  capture(deviceId: string): Promise<Uint8Array> | null;
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
 * @throws CodedError `screenshot_unavailable` if no display is this device, or it shows no screen, `screenshot_timeout`
 */
export const createScreenshots = ({ capture, now, monotonicNow }: Camera) => {
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
