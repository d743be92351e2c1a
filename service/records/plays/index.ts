/** Plays: received from pages, kept, exported and delivered. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Content } from '../../content/index.ts';
import type { Connection } from '../../contract/connections.ts';
import { tooManyRequests } from '../../contract/errors.ts';
import { readFields } from '../../contract/fields.ts';
import { degradedHeader } from '../../contract/headers.ts';
import { type PagePlay, type Play, type PlayRefusal, peerPlaysQuery, playsQuery } from '../../contract/plays.ts';
import type { Devices } from '../../devices/index.ts';
import { isBound, isDisplayOf } from '../../domain/displays.ts';
import { withoutCredentials } from '../../domain/media-names.ts';
import { formats } from '../../domain/play-formats.ts';
import type { SiteTime } from '../../domain/time.ts';

import { createTransferSlots, endIfUnread, streamedAnswers } from '../../http/transfers.ts';
import type { Media } from '../../media/index.ts';
import type { HealthReport, Module, ServiceContext } from '../../module.ts';
import type { Peers } from '../../peers/index.ts';
import type { Screens } from '../../screens/index.ts';
import { timeOf } from '../time-bounds.ts';
import type { SendWebhook } from '../webhook.ts';
import { createAdmission } from './admission.ts';
import { createDelivery, type Delivery, type PlaysReceiver } from './delivery.ts';
import { openKnownScreens } from './known-screens.ts';
import type { Range } from './ordered.ts';
import { openParts } from './parts.ts';
import { createPlayPages, createSitePlays } from './site.ts';
import { createPlayStore } from './store.ts';

interface Dependencies {
  screens: Pick<Screens, 'onPlays'>;
  peers: Pick<Peers, 'all' | 'ask' | 'settled'>;
  media: Pick<Media, 'digestAt'>;
  content: Pick<Content, 'screens' | 'onChange'>;
  devices: Pick<Devices, 'get'>;
  /** Plays are dated by the time that pages were told. */
  clock: Pick<SiteTime, 'timeOfDay' | 'isConfirmed'>;
  /** Posts plays to the operator's receiver; null: there is none. */
  send: SendWebhook | null;
}

/** How often refused plays are logged. */
const LOG_MS = 60_000;

const TOO_LARGE = 413;

const webhookReceiver = (send: SendWebhook): PlaysReceiver => {
  /** Fewer once the receiver has refused a message for its size. */
  let most = Number.POSITIVE_INFINITY;
  return {
    key: 'webhook',
    deliver: async (given, signal) => {
      const plays = given.slice(0, most);
      const body = JSON.stringify(plays);
      // The same plays have the same id: after a restart a repeated batch is known, too.
      const id = `plays_${createHash('sha256').update(body).digest('hex').slice(0, 32)}`;
      await send({ id, body }, signal).catch((error: Error) => {
        if (error.cause === TOO_LARGE) most = Math.ceil(plays.length / 2);
        throw error;
      });
      return { count: plays.length, last: plays.at(-1)?.play_id ?? null };
    },
  };
};

export const createPlays = async (
  context: ServiceContext,
  { screens, peers, media, content, devices, clock, send }: Dependencies,
) => {
  const { options, log, ids, monotonicNow, keep, tempo, kiosk } = context;
  const { site } = options;
  const knownScreens = await openKnownScreens(context, content);
  const parts = await openParts(context);
  const receivers: string[] = [];
  const store = keep(createPlayStore({ log, now: clock.timeOfDay }, parts, { receivers: () => receivers }));
  /** Those that were new, and are durable. */
  const kept = new WeakSet<Play>();
  store.onKept((plays) => {
    for (const play of plays) kept.add(play);
  });
  const pages = createPlayPages(context, parts);
  const sitePlays = createSitePlays(context, { parts, peers });
  const deliveries: Delivery[] = [];
  const rangeOf = (from: string | undefined, to: string | undefined, screen: string | null): Range => ({
    from: timeOf('from', from, options.timeZone),
    to: timeOf('to', to, options.timeZone),
    screen,
  });
  const deliverTo = (receiver: PlaysReceiver): Delivery => {
    const delivery = createDelivery(context, { parts, receiver });
    deliveries.push(delivery);
    receivers.push(receiver.key);
    store.onKept(delivery.wake);
    return delivery;
  };
  if (send !== null) deliverTo(webhookReceiver(send));
  const exports = createTransferSlots(streamedAnswers);

  const complete = async (reported: PagePlay, slug: string, connection: Connection): Promise<Play> => {
    const { play_id, screen = slug, slide_id, slide_title, kind, media_url, ...rest } = reported;
    const digest = media_url === null ? null : await media.digestAt(media_url, Date.parse(reported.started_at));
    return {
      play_id,
      site,
      node_id: ids.nodeId,
      device_id: connection.deviceId,
      client_name: connection.clientName,
      screen,
      slide_id,
      slide_title,
      kind,
      media_url: media_url === null ? null : withoutCredentials(media_url),
      media_sha256: digest,
      ...rest,
    };
  };

  const admit = createAdmission({
    hasSecret: options.sharedSecret !== null,
    isBound: (deviceId) => isBound(devices.get(deviceId)),
    isDisplay: (deviceId) => isDisplayOf(kiosk?.(), deviceId),
    hasScreen: knownScreens.has,
  });
  const refused: Partial<Record<PlayRefusal, number>> = {};
  let loggedAt = Number.NEGATIVE_INFINITY;
  const refuse = (reason: PlayRefusal, count: number, deviceId: string | null): void => {
    if (count === 0) return;
    refused[reason] = (refused[reason] ?? 0) + count;
    if (monotonicNow() - loggedAt < LOG_MS) return;
    loggedAt = monotonicNow();
    log.warn({ sinceStart: { ...refused }, deviceId }, 'plays were refused');
  };

  screens.onPlays(async (plays, page) => {
    const { slug, connection } = page;
    const admission = admit(plays, page, { now: clock.timeOfDay(), at: monotonicNow() });
    const { taken, refused: never, isKnown, unproven, giveBack } = admission;
    for (const { reason } of never) refuse(reason, 1, connection.deviceId);
    refuse('unproven', unproven, connection.deviceId);
    const refusedIds = never.map(({ playId }) => playId);
    if (taken.length === 0) return refusedIds;
    let completed: Play[] = [];
    try {
      completed = await Promise.all(taken.map((each) => complete(each, slug, connection)));
      return [...refusedIds, ...(await store.accept(completed, !isKnown))];
    } catch (error) {
      log.error({ err: error }, 'plays could not be kept');
      return refusedIds;
    } finally {
      giveBack(taken.length - completed.filter((play) => kept.has(play)).length);
    }
  });

  const expire = async (): Promise<void> => {
    if (clock.isConfirmed()) await store.expire();
  };
  let timer: NodeJS.Timeout | undefined;

  return {
    /** Calls `listener` with plays that are durable, each one once. */
    onKept: store.onKept,
    /** Delivers all plays that are kept, and those that come, to a further receiver. Called before the start. */
    deliverTo,
    routes: {
      'GET /console/api/plays': async (ctx) => {
        const { from, to, screen = null, format } = readFields(playsQuery, ctx.query);
        const range = rangeOf(from, to, screen);
        // Each export reads files and waits for other boxes.
        const release = exports.take(ctx.state.clientIp);
        if (release === null) {
          throw tooManyRequests(2, 'Other exports are running; try again in a moment.');
        }
        ctx.res.once('close', release);
        const { plays, degraded } = await sitePlays.read(range);
        const { type, write } = formats[format];
        const body = Readable.from(write(plays), { objectMode: false });
        // The broken connection shows the client that the response is incomplete.
        body.once('error', () => ctx.res.destroy());
        ctx.set(degradedHeader, String(degraded));
        if (format === 'csv') ctx.attachment('plays.csv');
        ctx.status = 200;
        if (ctx.method === 'HEAD') body.destroy();
        else {
          ctx.body = body;
          endIfUnread(ctx.res, tempo.http.still);
        }
        ctx.set('Content-Type', type);
      },
      'GET /api/peers/plays': async (ctx) => {
        const { from, to, screen = null, after, skip, limit } = readFields(peerPlaysQuery, ctx.query);
        const range = rangeOf(from, to, screen);
        ctx.body = await pages.read(range, after === undefined ? null : { after, skip }, limit);
      },
    },
    health: (): HealthReport => ({ notes: [...store.notes(), ...deliveries.flatMap((delivery) => delivery.notes())] }),
    /** How many plays were refused since the start. */
    refused: (): Readonly<Partial<Record<PlayRefusal, number>>> => refused,
    start: (): void => {
      timer = setInterval(() => void expire(), tempo.records.expiry).unref();
      for (const delivery of deliveries) delivery.start();
    },
    close: async (): Promise<void> => {
      clearInterval(timer);
      pages.close();
      await Promise.all(deliveries.map((delivery) => delivery.close()));
    },
  } satisfies Module & Record<string, unknown>;
};
