/** Joins the site to a fleet: a hub with many sites, over NATS. Loaded only if a fleet is configured. */
import { networkInterfaces } from 'node:os';
import type { Content } from '../content/index.ts';
import type { FleetHealth } from '../contract/fleet.ts';
import type { Health } from '../contract/health.ts';
import { inboxPrefix } from '../domain/fleet-subjects.ts';
import { publicBase } from '../domain/lan-address.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import { openLine, withoutUser } from '../platform/nats.ts';
import type { Records } from '../records/index.ts';
import type { Screens } from '../screens/index.ts';
import { createConnection } from './connection.ts';
import { createRequests } from './requests.ts';
import { createFleetClock, createPlaying, createStatus } from './status.ts';
import { createUpward } from './upward.ts';
import { createWanted } from './wanted.ts';

interface Dependencies {
  /** The summary of `/healthz` of this box. */
  summary(): Promise<Pick<Health, 'status' | 'warnings'>>;
  content: Pick<Content, 'screens' | 'tags' | 'playing' | 'publish' | 'onPlay'>;
  screens: Pick<Screens, 'command' | 'takeSnapshot' | 'pages'>;
  peers: Pick<Peers, 'alive'>;
  records: Pick<Records, 'audit' | 'deliverPlaysTo' | 'alertTo'>;
}

export const createFleet = (
  service: ServiceContext,
  { summary, content, screens, peers, records }: Dependencies,
): Module => {
  const { options, version, startedAt, machineName, ids, logs } = service;
  const { fleetUrl, fleetCredentials, site, publicUrl, host } = options;
  if (fleetUrl === null) return {};
  const url = withoutUser(fleetUrl);
  const { nodeId } = ids;
  const context = { ...service, site, nodeId, log: logs('fleet', { fleet: url }) };
  let port = options.port;

  const connection = createConnection(context, () =>
    openLine({ url: fleetUrl, credentials: fleetCredentials }, `signage ${site} ${nodeId}`, inboxPrefix(site)),
  );
  const clock = createFleetClock(service);
  const requests = createRequests(context, { content, screens, audit: records.audit, clock });
  const wanted = createWanted(context, {
    content,
    audit: records.audit,
    boxesBefore: () => peers.alive().filter((peer) => peer.nodeId !== null && peer.nodeId < nodeId).length,
    onChange: () => playing.wake(),
  });
  const playing = createPlaying(context, { content, describeWanted: wanted.describe });
  const status = createStatus(context, {
    box: { nodeId, site, name: machineName, version, startedAt: startedAt.toISOString() },
    report: async () => ({
      ...(await summary()),
      url: publicBase(publicUrl, { host: '127.0.0.1', port }, networkInterfaces(), host),
      connections: screens.pages().length,
    }),
    clock,
    onRecovered: wanted.check,
  });
  const upward = createUpward(context, connection.line);
  for (const part of [requests, status, wanted, playing, upward]) connection.onLine(part.onLine);

  records.deliverPlaysTo({
    key: 'fleet',
    deliver: (plays, signal) =>
      upward.send(
        'plays',
        plays.map((play) => ({ id: play.play_id, body: play })),
        signal,
      ),
  });

  // If the hub is unreachable, another box of the site may still reach it.
  records.alertTo({ key: 'fleet', deliver: (alert, id) => upward.sendOnce('alerts', { id, body: alert }) });

  const describe = (): FleetHealth => {
    const { since, reason } = connection.state();
    const isConnected = connection.line() !== null;
    return {
      status: !isConnected ? 'away' : status.isPrepared() === false ? 'unprepared' : 'connected',
      url,
      since,
      reason,
      content: wanted.describe(),
    };
  };

  return {
    health: () => {
      const fleet = describe();
      const { refused } = connection.state();
      const notes = {
        away: [`The hub of the fleet at ${url} ${fleet.reason}; the site keeps running.`],
        unprepared: [
          'The hub of the fleet does not answer for its buckets: run "signage fleet init" once, or behind a leaf node check its line to the hub.',
        ],
        connected: refused === null ? [] : [`The hub of the fleet does not permit this box: ${refused}.`],
      }[fleet.status];
      const [issue] = fleet.content.errors;
      if (issue !== undefined) {
        notes.push(
          `The content that the fleet wants does not play: ${issue.path} ${issue.message}.`.replace(':  ', ': '),
        );
      }
      return { fields: { fleet }, notes };
    },
    start: (at) => {
      port = at.port;
      connection.start();
    },
    close: connection.close,
  };
};
