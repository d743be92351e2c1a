/** Records of what happened: metrics, the audit of changes, and plays. */
import type { Content } from '../content/index.ts';
import type { PeerReset } from '../contract/console/actions.ts';
import { type AuditRecord, auditQuery, peerAuditQuery } from '../contract/console/site.ts';
import { readFields } from '../contract/fields.ts';
import type { Play } from '../contract/plays.ts';
import type { DeviceProofs, Devices } from '../devices/index.ts';
import { isTrusted, type SiteTime } from '../domain/time.ts';
import type { Media } from '../media/index.ts';
import type { Module, Modules, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { Screens } from '../screens/index.ts';
import type { Streams } from '../streams/index.ts';
import { type Alerts, createAlerts } from './alerts/index.ts';
import { type Audit, createAudit, createAuditLog } from './audit.ts';
import { isAsked, newestFirst, pageOf } from './audit-pages.ts';
import { createMetrics } from './metrics.ts';
import type { PlaysReceiver, Taken } from './plays/delivery.ts';
import { createPlays } from './plays/index.ts';
import { timeOf } from './time-bounds.ts';
import { createSendWebhook, webhookKey } from './webhook.ts';

export type { PlaysReceiver, Taken };

interface Dependencies {
  modules: Pick<Modules, 'metrics' | 'states'>;
  screens: Pick<Screens, 'onSwap' | 'onPlays' | 'failingSlides'>;
  content: Pick<Content, 'screens' | 'hours' | 'status' | 'tags' | 'sessionPages' | 'onFileEdit' | 'onChange'>;
  streams: Pick<Streams, 'list'>;
  devices: Pick<Devices, 'get' | 'statuses' | 'sightings'>;
  proofs: Pick<DeviceProofs, 'onKey'>;
  peers: Pick<Peers, 'all' | 'alive' | 'ask' | 'broadcast' | 'settled' | 'addState'>;
  media: Pick<Media, 'digestAt'>;
  clock: Pick<SiteTime, 'timeOfDay' | 'isConfirmed'>;
}

export interface Records extends Module, Pick<Alerts, 'alertTo' | 'beginUpdate' | 'raise'> {
  audit: Pick<Audit, 'during' | 'record' | 'onRefused'>;
  /** Records that another box is reset: it forgets its own audit. */
  recordReset(reset: PeerReset): Promise<void>;
  /** Delivers the plays of this box to a further receiver, as SIGNAGE_PLAYS_URL does. Called before the start. */
  deliverPlaysTo(receiver: PlaysReceiver): { recheck(): void };
}

/** The displays by a name that each has alone: those of one model get their number. */
const displaySeries = <Named extends { display: string }>(displays: readonly Named[]): [string, Named][] => {
  const names = displays.map(({ display }) => display);
  return displays.map((each, index) => {
    const isAlone = names.indexOf(each.display) === names.lastIndexOf(each.display);
    return [isAlone ? each.display : `${each.display} ${index + 1}`, each];
  });
};

export const createRecords = async (
  context: ServiceContext,
  { modules, screens, peers, media, content, streams, devices, proofs, clock }: Dependencies,
): Promise<Records> => {
  const { now, version, kiosk, keep, options } = context;
  const metrics = createMetrics(context, modules.metrics);
  screens.onSwap((gapMs) => metrics.observe('signage_swap_gap_seconds', gapMs / 1000));

  const auditLog = keep(createAuditLog(context));
  const audit = createAudit(context, { log: auditLog, states: modules.states });
  const edited = { operator: null, address: null, action: 'content.publish', target: null, result: 'ok' };
  content.onFileEdit((edit) => void audit.record({ ...edited, ...edit }));

  proofs.onKey((deviceId, key) => {
    const kept = { operator: null, address: null, action: 'device.key', target: deviceId, result: 'ok' };
    void audit.record({ ...kept, before: null, after: { key } });
  });

  const key = webhookKey(options.webhookSecret, options.sharedSecret);
  const sender = (url: string | null) => (url === null ? null : createSendWebhook(context, url, key));
  const send = sender(options.playsUrl);
  const plays = await createPlays(context, { screens, peers, media, content, devices, clock, send });
  const alerts = await createAlerts(context, {
    content,
    streams,
    screens,
    devices,
    peers,
    send: sender(options.alertUrl),
  });
  const instantOf = (field: 'from' | 'to', text: string | undefined): string | undefined => {
    const time = timeOf(field, text, options.timeZone);
    return time === null ? undefined : new Date(time).toISOString();
  };
  const shown: Partial<Record<Play['kind'], Partial<Record<Play['result'], number>>>> = {};
  plays.onKept((kept) => {
    for (const { kind, result } of kept) shown[kind] = { ...shown[kind], [result]: (shown[kind]?.[result] ?? 0) + 1 };
  });

  return {
    audit,
    recordReset: ({ name: target, operator, person = null }) => {
      const record = { operator, person, address: null, action: 'box.reset', target, before: null, after: null };
      return audit.record({ ...record, result: 'ok' });
    },
    deliverPlaysTo: plays.deliverTo,
    alertTo: alerts.alertTo,
    raise: alerts.raise,
    beginUpdate: alerts.beginUpdate,
    routes: {
      ...plays.routes,
      ...alerts.routes,
      'GET /metrics': async (ctx) => {
        ctx.set('Cache-Control', 'no-store');
        ctx.set('Content-Type', metrics.contentType);
        ctx.body = await metrics.text();
      },
      'GET /console/api/audit': async (ctx) => {
        const { from, to, ...filter } = readFields(auditQuery, ctx.query);
        const query = { ...filter, from: instantOf('from', from), to: instantOf('to', to) };
        const wanted = isAsked(query, content.tags);
        const own = auditLog.newest(query.limit, wanted);
        const { answers, degraded } = await peers.broadcast('records.audit', query);
        // A box of an older version answers with all of its newest.
        const theirs = answers.flatMap(({ records }): AuditRecord[] => records).filter(wanted);
        const all = newestFirst([...(await own), ...theirs]);
        ctx.body = { records: pageOf(all, query.limit), degraded };
      },
      'GET /api/peers/audit': async (ctx) => {
        const query = readFields(peerAuditQuery, ctx.query);
        ctx.body = { records: await auditLog.newest(query.limit, isAsked(query, content.tags)) };
      },
    },
    metrics: () => ({
      signage_build_info: { [version]: 1 },
      signage_slides_shown_total: shown,
      signage_plays_refused_total: plays.refused(),
      signage_clock_trusted: Number(isTrusted(now())),
      ...(kiosk && {
        signage_recoveries_total: kiosk().recoveries,
        signage_display_info: Object.fromEntries(
          displaySeries(kiosk().screens).map(([name, { gpu, video_decode }]) => [
            name,
            { [gpu]: { [video_decode]: 1 } },
          ]),
        ),
      }),
    }),
    health: () => {
      const { issues, notes = [] } = alerts.health();
      return { ...(issues && { issues }), notes: [...(plays.health().notes ?? []), ...notes] };
    },
    start: () => {
      audit.start();
      plays.start();
      alerts.start();
    },
    close: async () => {
      audit.close();
      await Promise.all([plays.close(), alerts.close()]);
    },
  };
};
