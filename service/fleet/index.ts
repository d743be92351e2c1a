/** Joins the site to a fleet: a hub with many sites, over NATS. Loaded only if a fleet is configured. */
import { networkInterfaces } from 'node:os';
import type { Content } from '../content/index.ts';
import type { FleetHealth } from '../contract/fleet.ts';
import type { Health } from '../contract/health.ts';
import { publicBase } from '../domain/lan-address.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import { exposesPassword, isExposed, openLine, readCredentials, readUser, withoutUser } from '../platform/nats.ts';
import { createPause } from '../platform/pause.ts';
import type { Records } from '../records/index.ts';
import type { Screens } from '../screens/index.ts';
import type { Secrets } from '../secrets/index.ts';
import { createFleetAlerts } from './alerts.ts';
import { createConnection } from './connection.ts';
import { createRefusals } from './refusals.ts';
import { createRequests } from './requests.ts';
import { createFleetClock, createPlaying, createStatus } from './status.ts';
import { createUpward } from './uplink.ts';
import { createWanted } from './wanted.ts';

interface Dependencies {
  /** The summary of `/healthz` of this box. */
  summary(): Promise<Pick<Health, 'status' | 'warnings'>>;
  content: Pick<Content, 'screens' | 'tags' | 'playing' | 'isWhole' | 'publish' | 'validate' | 'onPlay'>;
  screens: Pick<Screens, 'command' | 'takeSnapshot' | 'pages'>;
  peers: Pick<Peers, 'alive'>;
  records: Pick<Records, 'audit' | 'deliverPlaysTo' | 'alertTo'>;
  secrets: Pick<Secrets, 'onChange'>;
}

/** Sentences of refusals in `/healthz`. */
const MAX_SENTENCES = 10;
/** A clock that differs more from the hub's is told. */
const MAX_CLOCK_MS = 120_000;

export const createFleet = async (
  service: ServiceContext,
  { summary, content, screens, peers, records, secrets }: Dependencies,
): Promise<Module> => {
  const { options, version, startedAt, machineName, ids, logs } = service;
  const { fleetUrl, fleetCredentials, site, publicUrl, host } = options;
  if (fleetUrl === null) return {};
  const url = withoutUser(fleetUrl);
  const { nodeId } = ids;
  const context = { ...service, site, nodeId, log: logs('fleet', { fleet: url }) };
  let port = options.port;
  /** The site that the credentials name; null: they name none. */
  let isOf: string | null = null;

  const refusals = createRefusals();
  const connection = createConnection(context, refusals, async () => {
    if (fleetCredentials !== null) {
      const { jwt } = await readCredentials(fleetCredentials);
      isOf = jwt === null ? null : (readUser(jwt)?.name ?? null);
    }
    return openLine({ url: fleetUrl, credentials: fleetCredentials }, `signage ${site} ${nodeId}`, service.outbound);
  });
  const clock = createFleetClock(service);
  const requests = createRequests(context, { content, screens, audit: records.audit, clock });
  const wanted = createWanted(context, {
    content,
    audit: records.audit,
    clock,
    boxesBefore: () => peers.alive().filter((peer) => peer.nodeId !== null && peer.nodeId < nodeId).length,
    onChange: () => playing.wake(),
    secrets,
    refusals,
  });
  const playing = createPlaying(context, { content, describeWanted: wanted.describe, refusals });
  const status = createStatus(context, {
    box: { nodeId, site, name: machineName, version, startedAt: startedAt.toISOString() },
    report: async () => ({
      ...(await summary()),
      url: publicBase(publicUrl, { host: '127.0.0.1', port }, networkInterfaces(), host),
      connections: screens.pages().length,
    }),
    playing: () => content.playing()?.push?.id,
    clock,
    refusals,
    onRecovered: wanted.check,
    onStatus: () => recheck(),
  });
  const ways = { line: connection.line, refusals };
  const [playChannel, alertChannel] = [createUpward(context, 'plays', ways), createUpward(context, 'alerts', ways)];
  const arrival = createPause();
  const delivery = records.deliverPlaysTo({
    key: 'fleet',
    keeper: {
      ready: async (signal) => {
        while (connection.line() === null) {
          signal.throwIfAborted();
          await arrival.wait(context.tempo.fleet.retry, signal);
        }
      },
      newest: playChannel.newest,
    },
    deliver: (plays) => playChannel.send(plays.map((play) => ({ id: play.play_id, body: play }))),
  });
  const alerts = await createFleetAlerts(service, alertChannel);
  // If the hub is unreachable, another box of the site may still reach it.
  records.alertTo({ key: 'fleet', deliver: alerts.deliver });
  /** The hub may have lost records: it was restored, or its storage is another. */
  const recheck = (): void => {
    delivery.recheck();
    alerts.recheck();
  };
  connection.onLine(() => {
    for (const channel of [playChannel, alertChannel]) channel.reset();
    recheck();
    arrival.wake();
  });
  for (const part of [requests, status, wanted, playing]) connection.onLine(part.onLine);

  const describe = (): FleetHealth => {
    const { since, reason } = connection.state();
    const acceptance = status.acceptance();
    const common = { url, since, refused: refusals.list().slice(0, MAX_SENTENCES), content: wanted.describe() };
    if (connection.line() === null) return { status: 'away', reason, ...common };
    if (acceptance.state === 'taken') return { status: 'connected', reason: null, ...common };
    if (acceptance.state === 'unknown') {
      return { status: 'away', reason: 'is connected, and has not taken a status yet', ...common };
    }
    return { status: 'unprepared', reason: `does not take the status of this box: ${acceptance.reason}`, ...common };
  };

  /** Sentences that degrade the status. */
  const issuesOf = ({ status: state, refused, reason }: FleetHealth): string[] => {
    const issues = [...refused];
    if (state !== 'connected' && isOf !== null && isOf !== site) {
      issues.push(`The credentials for the hub of the fleet are those of the site ${isOf}, and this is ${site}.`);
    }
    if (state === 'away' && /credentials|certificate|TLS|is not asked/.test(reason ?? '')) {
      issues.push(`The hub of the fleet at ${url} ${reason}.`);
    }
    const ahead = clock.ahead();
    if (ahead !== null && Math.abs(ahead) > MAX_CLOCK_MS) {
      const minutes = Math.round(Math.abs(ahead) / 60_000);
      const way = ahead > 0 ? 'ahead of' : 'behind';
      issues.push(`The clock of this box is ${minutes} minutes ${way} that of the hub of the fleet.`);
    }
    return issues;
  };

  return {
    health: () => {
      const fleet = describe();
      const issues = issuesOf(fleet);
      const isTold = fleet.status !== 'away' || issues.length > 0;
      const notes = isTold ? [] : [`The hub of the fleet at ${url} ${fleet.reason}; the site keeps running.`];
      notes.push(...playChannel.notes(), ...alertChannel.notes());
      if (isExposed(fleetUrl)) {
        const harm = 'a host on the way can command this site and change its content';
        notes.push(
          `Nothing proves that ${url} is the hub of the fleet: ${harm}. Use ${fleetUrl.startsWith('ws:') ? 'wss' : 'tls'}://.`,
        );
      }
      if (exposesPassword(fleetUrl)) {
        notes.push(`Every host on the way to the hub can read the password in SIGNAGE_FLEET_URL: use tls://.`);
      }
      const [issue] = fleet.content.errors;
      if (issue !== undefined) {
        const place = issue.path === '' ? '' : `${issue.path}: `;
        notes.push(`The content that the fleet wants does not play: ${place}${issue.message}.`);
      }
      return { fields: { fleet }, issues: { fleet: issues }, notes };
    },
    start: (at) => {
      port = at.port;
      connection.start();
    },
    close: connection.close,
  };
};
