/** The routes of a screen: playlist, connections, commands, and the socket of its pages. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SignResponse } from '../auth/access.ts';
import type { Content, Payload } from '../content/index.ts';
import { type CommandResult, commandResult } from '../contract/commands.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { rules } from '../contract/operations/rules.ts';
import {
  type CommandAnswer,
  commandHeaders,
  commandIdHeader,
  mostCommandAgeMs,
  mostConnections,
  type PeerConnections,
  peerCommands,
  peerConnectionsQuery,
} from '../contract/peers.ts';
import { versionHeader, zoneHeader } from '../contract/playlist.ts';
import { cutText } from '../contract/terms.ts';
import { perObject } from '../domain/collections.ts';
import { toCodedError } from '../http/answer.ts';
import { readJson } from '../http/body.ts';
import { createHeldBodies } from '../http/held-bodies.ts';
import { createPacing } from '../http/pacing.ts';
import { extendPrepared, isKnownTo, type PreparedAnswer, sendPrepared } from '../http/prepared.ts';
import type { AnswerOpen, Context, Routes, Sockets } from '../http/routes.ts';
import { checkScope, hasScope } from '../http/scope.ts';
import type { ServiceContext } from '../module.ts';
import { type CommandOrigin, type Commands, parseCommand } from './commands.ts';
import { fitting } from './fitting.ts';
import type { Hub } from './hub.ts';
import { createSnapshotAnswers, createTrim, type TakeLocally, type TakeSnapshot } from './snapshot.ts';

/** Maximum bytes of outdated snapshots that slow clients are still reading. */
const MAX_HELD_BYTES = 16 * 1024 ** 2;
/** Smaller snapshots are written in one piece. */
const LARGE_BYTES = 64 * 1024;
/** A snapshot of 5,000 connections takes about a millisecond to write to a client on the machine itself. */
const paceOfLarge = { limit: 2, patienceMs: 20 };
/** Browsers send fewer than 300 characters. */
const MAX_USER_AGENT_LENGTH = 500;

/**
 * The playlist and the connections of a screen, as far as they need no credentials: the fast path of the server checks
 * none.
 */
const openPath = new RegExp(
  `^/api/screens/([a-z0-9-]{1,64})/(${['playlist', 'connections', 'clients']
    .filter((name) => rules[`GET /api/screens/:slug/${name}` as keyof Routes].access === 'public')
    .join('|')})(?:\\?|$)`,
);

/** Difference of the clocks of two boxes, ms, from which on the answer carries the clock of this box. */
const MAX_AHEAD_MS = 250;

/**
 * Whether a host in between may have held a command, which is then left out. One dated ahead could be held for longer.
 * @param signedMs ago the request was signed
 * @param ageMs of the command at that time
 */
const isStale = (signedMs: number, ageMs: number): boolean =>
  signedMs < -MAX_AHEAD_MS || signedMs + ageMs > mostCommandAgeMs;

interface Dependencies {
  content: Pick<Content, 'payload' | 'screens' | 'tags'>;
  /** Resolves with the screens of others that change with a device: that which it is bound to, and those that it shows. */
  screensOf(deviceId: string): Promise<string[]>;
  hub: Pick<Hub, 'attach' | 'snapshot' | 'unproven'>;
  takeSnapshot: TakeSnapshot;
  takeLocally: TakeLocally;
  commands: Commands;
}

/** @returns a payload with headers added, made once for each. @param more alternating names and values */
const createPlaylistAnswer = (more: readonly string[]) =>
  perObject((payload: Payload): PreparedAnswer => extendPrepared(payload, more));

export const createScreenRoutes = (
  {
    options: { variant, timeZone },
    version,
    clientAddress,
    isOwnAuthority,
  }: Pick<ServiceContext, 'options' | 'version' | 'clientAddress' | 'isOwnAuthority'>,
  { content, screensOf, hub, takeSnapshot, takeLocally, commands }: Dependencies,
) => {
  const playlistAnswer = createPlaylistAnswer(
    variant === 'extended' ? [versionHeader, version, zoneHeader, timeZone] : [],
  );
  const trimResult = createTrim(variant, commandResult);
  const snapshots = createSnapshotAnswers(variant);
  const held = createHeldBodies(MAX_HELD_BYTES);
  const pacing = createPacing(paceOfLarge);

  const find = (slug: string | undefined): Payload => {
    const payload = content.payload(slug ?? '');
    if (payload === undefined) throw new CodedError('screen_not_found');
    return payload;
  };

  const writeSnapshot = (
    request: IncomingMessage,
    response: ServerResponse,
    answer: PreparedAnswer,
    signResponse: SignResponse | null,
  ): void => {
    const write = (): void => sendPrepared(request, response, answer, signResponse);
    if (answer.body.length < LARGE_BYTES || isKnownTo(request, answer)) return write();
    held.add(answer.body, response);
    pacing.take(response, write);
  };

  const sendSnapshot = async (ctx: Context): Promise<void> => {
    const { screen } = find(ctx.params.slug);
    const snapshot = await takeSnapshot(screen.slug, ctx.state.isRelayed);
    ctx.respond = false;
    writeSnapshot(ctx.req, ctx.res, snapshots.of(screen, snapshot), ctx.state.signResponse);
  };

  /**
   * Runs the command in the body of a command request on the pages of a screen, on all boxes.
   * @param reached where the client has reached this service; a redirect to there is one to this service
   * @throws CodedError as the operation `POST /api/screens/:slug/commands` does
   */
  const command = (
    slug: string,
    body: Readonly<Record<string, unknown>>,
    origin: CommandOrigin,
    reached: Parameters<typeof isOwnAuthority>[1] = { host: '', port: 0 },
  ): Promise<CommandResult> => {
    const targeted = parseCommand(body, variant, (url) => isOwnAuthority(url, reached));
    return commands.run(find(slug).screen, targeted, origin);
  };

  const routes: Routes = {
    'GET /api/screens/:slug/playlist': (ctx) => {
      const payload = find(ctx.params.slug);
      // Written without Koa, like the fast path of the server for unsigned requests.
      ctx.respond = false;
      sendPrepared(ctx.req, ctx.res, playlistAnswer(payload), ctx.state.signResponse);
    },
    'GET /api/screens/:slug/connections': sendSnapshot,
    'GET /api/screens/:slug/clients': sendSnapshot,
    'POST /api/screens/:slug/commands': async (ctx) => {
      const reached = { host: ctx.get('Host'), port: ctx.socket.localPort ?? 0 };
      const { isRelayed: relayed, boundSignature } = ctx.state;
      const id = relayed ? readFields(commandHeaders, ctx.headers)[commandIdHeader] : boundSignature?.nonce;
      // The tags of a person may be others once the body is there.
      checkScope(ctx, content, [ctx.params.slug]);
      const body = await readJson(ctx);
      checkScope(ctx, content, [ctx.params.slug]);
      if (body['command'] === 'setclientname' && hasScope(ctx)) {
        checkScope(ctx, content, await screensOf(String(body['deviceId'])));
      }
      ctx.body = trimResult(await command(ctx.params.slug, body, { relayed, id, log: ctx.state.log }, reached));
    },
    'POST /api/peers/commands': async (ctx) => {
      const { log, boundSignature } = ctx.state;
      const { commands: relayed } = readFields(peerCommands, await readJson(ctx));
      const age = boundSignature?.age() ?? 0;
      // Each begins before the next one, so that they keep their order.
      const running = relayed.map(async ({ id, slug, body, ageMs = 0 }): Promise<CommandAnswer> => {
        if (boundSignature !== null && isStale(age, ageMs)) return { code: 'signature_stale' };
        try {
          const { sent } = await command(slug, body, { relayed: true, id, log });
          return { sent };
        } catch (error) {
          return { code: toCodedError(error, log).code };
        }
      });
      ctx.body = { answers: await Promise.all(running) };
    },
    'GET /api/peers/connections': (ctx) => {
      const { screens } = readFields(peerConnectionsQuery, ctx.query);
      const slugs = screens?.split(',') ?? content.screens().map(({ slug }) => slug);
      const screensHere = slugs.map((slug) => ({ slug, connections: hub.snapshot(slug) }));
      const all = screensHere.flatMap(({ connections }) => connections);
      const sent = new Set(fitting(all, (connection) => [connection]));
      ctx.body = {
        screens: screensHere.map(({ slug, connections }) => ({
          slug,
          connections: connections.filter((each) => sent.has(each)),
        })),
        ...(screens === undefined && { unproven: hub.unproven().slice(0, mostConnections) }),
      } satisfies PeerConnections;
    },
  };

  const sockets = {
    '/api/screens/:slug/socket': (request, slug) => {
      find(slug);
      const userAgent = request.headers['user-agent'];
      const { clientIp, remoteAddress } = clientAddress(request);
      const origin = {
        slug,
        userAgent: userAgent === undefined ? null : cutText(userAgent, MAX_USER_AGENT_LENGTH),
        clientIp,
        remoteAddress,
      };
      return (socket) => hub.attach(socket, origin);
    },
  } satisfies Sockets;

  /** Answers for playlists and snapshots. */
  const answerOpen: AnswerOpen = (request, response) => {
    const [, slug = '', what = ''] = openPath.exec(request.url ?? '') ?? [];
    const payload = content.payload(slug);
    if (payload === undefined) return false;
    if (what === 'playlist') {
      sendPrepared(request, response, playlistAnswer(payload), null);
      return true;
    }
    const snapshot = takeLocally(slug);
    if (snapshot === undefined) return false;
    writeSnapshot(request, response, snapshots.of(payload.screen, snapshot), null);
    return true;
  };

  /** @throws CodedError as {@link command} does of a body that no screen could carry out */
  const checkCommand = (body: Readonly<Record<string, unknown>>): void => {
    parseCommand(body, variant, (url) => isOwnAuthority(url, { host: '', port: 0 }));
  };

  return { routes, sockets, answerOpen, command, checkCommand };
};
