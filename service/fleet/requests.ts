/** Handles requests of the hub: commands and snapshots. One box of the site answers each request. */
import type { Msg } from '@nats-io/transport-node';
import type { Content } from '../content/index.ts';
import type { CommandResult } from '../contract/commands.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import {
  type FleetCommandResult,
  fleetCommand,
  fleetOperator,
  mostCommandBytes,
  mostCommandMs,
} from '../contract/fleet.ts';
import type { AuditRule } from '../contract/operations/index.ts';
import { rules } from '../contract/operations/rules.ts';
import type { Screen } from '../contract/playlist.ts';
import { commandSubject, connectionsSubject, lastToken } from '../domain/fleet-subjects.ts';
import { screensOf } from '../domain/targets.ts';
import type { Records } from '../records/index.ts';
import type { Screens } from '../screens/index.ts';
import type { FleetContext, Line } from './connection.ts';
import type { FleetClock } from './status.ts';

interface Modules {
  content: Pick<Content, 'screens' | 'tags'>;
  screens: Pick<Screens, 'command' | 'takeSnapshot'>;
  audit: Pick<Records['audit'], 'during'>;
  clock: Pick<FleetClock, 'now'>;
}

/** Concurrent requests; further ones are refused. */
const MAX_RUNNING = 32;
/** Screens of one command that are commanded concurrently. */
const AT_ONCE = 8;

/** How a command is recorded, whichever way it came. */
const commandRule = rules['POST /api/screens/:slug/commands'].audit as AuditRule;

/** @throws CodedError `payload_too_large`, `invalid_json` */
const parseBody = (data: Uint8Array): Record<string, unknown> => {
  if (data.length > mostCommandBytes) {
    throw new CodedError('payload_too_large', `A command must not be over ${mostCommandBytes / 1024} KiB.`);
  }
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch {
    throw new CodedError('invalid_json');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new CodedError('invalid_json');
  return json as Record<string, unknown>;
};

export const createRequests = ({ site, log }: FleetContext, { content, screens, audit, clock }: Modules) => {
  /** @throws CodedError `screen_not_found` */
  const screensFor = (target: string): Screen[] => {
    const all = content.screens();
    const targetable = all.map((screen) => ({ ...screen, tags: content.tags(screen.slug) }));
    const slugs = new Set(screensOf([target], targetable).map(({ slug }) => slug));
    if (slugs.size > 0 || target === 'all') return all.filter(({ slug }) => slugs.has(slug));
    throw new CodedError('screen_not_found', `The site ${site} has no screen for the target ${target}.`);
  };

  /** A copy of a command on another subject is refused. @throws CodedError `misdirected` */
  const checkAddress = (command: { site: string; target: string }, target: string): void => {
    for (const [field, own] of [
      ['site', site],
      ['target', target],
    ] as const) {
      const given = command[field];
      if (given === own) continue;
      const message = `The command is for the ${field} ${given}, and came to ${own}.`;
      throw new CodedError('misdirected', message, { field });
    }
  };

  const run = async (
    target: string,
    body: Record<string, unknown>,
    fields: Record<string, unknown>,
  ): Promise<CommandResult | FleetCommandResult> => {
    const command = readFields(fleetCommand, fields);
    checkAddress(command, target);
    if (command.expiresAt > clock.now() + mostCommandMs) {
      const message = 'expiresAt must be at most 5 minutes ahead, by the clock of the fleet.';
      throw new CodedError('invalid_field', message, { field: 'expiresAt' });
    }
    const checkExpiry = (): void => {
      if (clock.now() >= command.expiresAt) throw new CodedError('command_expired');
    };
    checkExpiry();
    const waiting = screensFor(target);
    const isForOne = waiting.length === 1 && waiting[0]?.slug === target;
    const results: CommandResult[] = [];
    let failure: unknown = null;
    const worker = async (): Promise<void> => {
      for (let screen = waiting.shift(); screen !== undefined; screen = waiting.shift()) {
        try {
          // A command for many screens is slow.
          checkExpiry();
          results.push(await screens.command(screen.slug, body, { relayed: false, id: command.id, log }));
        } catch (error) {
          failure ??= error;
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const [first] = results;
    if (first === undefined && failure !== null) throw failure;
    if (isForOne && first !== undefined) return first;
    return {
      screen: null,
      screenSlug: null,
      command: String(body['command']),
      connectionId: null,
      sent: results.reduce((sum, { sent }) => sum + sent, 0),
      degraded: failure !== null || results.some(({ degraded }) => degraded),
    };
  };

  /** Runs a command, and records it as one change, however many screens it is for. */
  const runAudited = async (target: string, data: Uint8Array): ReturnType<typeof run> => {
    const asked = { params: { slug: target }, operator: fleetOperator, address: null };
    return audit.during(commandRule, asked, async (onBody) => {
      const { id, expiresAt, site: forSite, target: forTarget, ...body } = parseBody(data);
      await onBody(body);
      return run(target, body, { id, expiresAt, site: forSite, target: forTarget });
    });
  };

  const takeSnapshot = async (slug: string) => {
    const screen = content.screens().find((each) => each.slug === slug);
    if (screen === undefined) throw new CodedError('screen_not_found');
    const { connections, degraded } = await screens.takeSnapshot(slug, false);
    return { screen, screenSlug: slug, count: connections.length, connections, degraded };
  };

  let running = 0;
  const answer = async (message: Msg, mostBytes: number, carryOut: (token: string) => Promise<unknown>) => {
    const respond = (body: unknown): void => {
      const bytes = Buffer.from(JSON.stringify(body));
      if (bytes.length > mostBytes)
        respond(new CodedError('payload_too_large', 'The answer is too large for the hub.'));
      else message.respond(bytes);
    };
    try {
      if (running >= MAX_RUNNING) throw new CodedError('too_many_requests');
      running += 1;
      try {
        respond(await carryOut(lastToken(message.subject)));
      } finally {
        running -= 1;
      }
    } catch (error) {
      if (!(error instanceof CodedError)) log.error({ err: error }, 'a request of the fleet has failed');
      else log.warn({ subject: message.subject, code: error.code }, 'a request of the fleet was refused');
      respond(error instanceof CodedError ? error : new CodedError('internal_error'));
    }
  };

  return {
    /** Answers for as long as the connection lasts. */
    onLine: ({ nats }: Line): void => {
      const mostBytes = nats.info?.max_payload ?? 1024 ** 2;
      const listen = (subject: string, carryOut: (token: string, message: Msg) => Promise<unknown>): void => {
        nats.subscribe(subject, {
          queue: site,
          callback: (error, message) => {
            if (error === null) void answer(message, mostBytes, (token) => carryOut(token, message));
          },
        });
      };
      listen(commandSubject(site, '*'), (target, message) => runAudited(target, message.data));
      listen(connectionsSubject(site, '*'), takeSnapshot);
    },
  };
};
