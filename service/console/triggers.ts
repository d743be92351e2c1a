/** Triggers over HTTP: `/console/api/triggers`, and the address by which one is fired. */
import { networkInterfaces } from 'node:os';
import { partyOf } from '../auth/throttle.ts';
import type { Content } from '../content/index.ts';
import { mostTakeoverTitle } from '../contract/console/takeover-levels.ts';
import {
  type Trigger,
  type TriggerDid,
  type TriggerEffect,
  type TriggerRecord,
  type TriggerTrial,
  triggerLimits,
  triggerRequest,
} from '../contract/console/triggers.ts';
import { CodedError, tooManyRequests } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { messagePrefix } from '../contract/messages.ts';
import { cutText } from '../contract/terms.ts';
import { remember } from '../domain/collections.ts';
import { publicBase } from '../domain/lan-address.ts';
import { createRates } from '../domain/rate.ts';
import { redacted } from '../domain/redacted.ts';
import { screensOf, unknownTargets } from '../domain/targets.ts';
import { readJson, skipBody } from '../http/body.ts';
import { isEncrypted } from '../http/client-address.ts';
import { authorOf, mayReadAll } from '../http/operator.ts';
import type { Context, Routes } from '../http/routes.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { SourceLog } from '../platform/source-log.ts';
import type { Records } from '../records/index.ts';
import type { Screens } from '../screens/index.ts';
import type { Takeovers } from '../takeovers/index.ts';
import { effectOf, type Triggers } from '../triggers/index.ts';
import { displaysOf } from './overview.ts';
import type { Site } from './site.ts';
import { takeoverOf } from './takeovers.ts';

export interface TriggerDependencies {
  triggers: Pick<Triggers, 'list' | 'get' | 'find' | 'newId' | 'create' | 'remove' | 'play' | 'warnings'>;
  takeovers: Pick<Takeovers, 'now' | 'open' | 'put' | 'end'>;
  content: Pick<Content, 'screens' | 'tags' | 'message' | 'hasPlaylist' | 'playlistIssue'>;
  screens: Pick<Screens, 'command' | 'checkCommand'>;
  peers: Pick<Peers, 'sendTakeover'>;
  records: Pick<Records, 'audit' | 'raise'>;
  site: Pick<Site, 'take'>;
  /** Null: HTTPS of this box is off; its port is null while it does not answer. */
  https: { port(): number | null } | null;
}

/** What an effect would do, once everything is checked. */
type Prepared = (log: SourceLog) => Promise<TriggerDid['did']>;

const SECOND_MS = 1_000;
/** Addresses with unknown tokens, and triggers, that are remembered. */
const MAX_KNOWN = 1_000;
/** Failures of a trigger are recorded once in this time. */
const FAILURE_MS = 60_000;

const invalidEffect = (reason: string): CodedError =>
  new CodedError('invalid_field', `effect is not valid: ${reason}.`, { field: 'effect' });

export const createTriggerRoutes = (
  {
    options,
    clientAddress,
    monotonicNow,
    log,
  }: Pick<ServiceContext, 'options' | 'clientAddress' | 'monotonicNow' | 'log'>,
  dependencies: TriggerDependencies,
): Module => {
  const { triggers, takeovers, content, screens, peers, records, site, https } = dependencies;
  const unknown = createRates(triggerLimits.aSecond, SECOND_MS, MAX_KNOWN);
  const known = createRates(triggerLimits.aSecond, SECOND_MS, MAX_KNOWN);
  /** By id: when it last carried out its effect here, and when a failure was last recorded. */
  const firedAt = new Map<string, string>();
  const failedAt = new Map<string, number>();
  /** By id, and requests with tokens that are unknown. */
  const counts: Record<string, Record<'ok' | 'failed', number>> = { unknown: { ok: 0, failed: 0 } };

  const takeFrom = (rates: typeof known, key: string): void => {
    if (!rates(key).take(monotonicNow()))
      throw tooManyRequests(1, `At most ${triggerLimits.aSecond} requests a second are taken.`);
  };

  const everyScreen = () => content.screens().map(({ slug }) => ({ slug, tags: content.tags(slug) }));
  /** The targets that the content still has. @throws CodedError `target_not_found` */
  const present = (targets: readonly string[]): string[] => {
    const gone = new Set(unknownTargets(targets, everyScreen()));
    const left = targets.filter((target) => !gone.has(target));
    if (left.length === 0) throw new CodedError('target_not_found');
    return left;
  };
  const messageOf = (id: string) => {
    const message = content.message(id);
    if (message === undefined) throw new CodedError('message_not_found');
    return message;
  };

  const prepareTakeover = ({ message_id, targets }: NonNullable<TriggerEffect['takeover']>): Prepared => {
    const { title, body, level, media_url, minutes } = messageOf(message_id);
    const now = takeovers.now();
    const until = minutes === null ? null : new Date(now + minutes * 60_000).toISOString();
    const request = {
      targets: present(targets),
      level,
      title: title && cutText(title, mostTakeoverTitle),
      body,
      media_url,
      until,
    };
    const takeover = takeoverOf(`${messagePrefix}${message_id}`, request, everyScreen(), now);
    return async () => {
      const { record } = await takeovers.put(takeover);
      await peers.sendTakeover(record);
      return { takeover: { id: record.id, targets: record.targets, until: record.until } };
    };
  };

  const prepareEnd = ({ message_id }: NonNullable<TriggerEffect['end']>): Prepared => {
    const id = `${messagePrefix}${message_id}`;
    return async () => {
      try {
        await peers.sendTakeover(await takeovers.end(id));
        return { end: { id, ended: true } };
      } catch (error) {
        if (!(error instanceof CodedError) || error.code !== 'takeover_not_found') throw error;
        // What is on is ended, though its message is gone.
        messageOf(message_id);
        return { end: { id, ended: false } };
      }
    };
  };

  const preparePlaylist = (
    trigger: string,
    { targets, playlist_id, minutes }: NonNullable<TriggerEffect['playlist']>,
  ): Prepared => {
    if (!content.hasPlaylist(playlist_id)) throw new CodedError('playlist_not_found');
    const left = present(targets);
    const issue = content.playlistIssue(playlist_id, left);
    if (issue !== null) {
      throw new CodedError('invalid_field', `The playlist cannot play there: ${issue}.`, { field: 'effect' });
    }
    return async () => {
      return { playlist: { playlist_id, targets: left, until: await triggers.play(trigger, minutes) } };
    };
  };

  const prepareCommand = ({ targets, ...body }: NonNullable<TriggerEffect['command']>): Prepared => {
    const left = present(targets);
    screens.checkCommand(body);
    return async (requestLog) => {
      const slugs = screensOf(left, everyScreen()).map(({ slug }) => slug);
      const results = await Promise.all(
        slugs.map((slug) => screens.command(slug, body, { relayed: false, log: requestLog })),
      );
      const sent = results.reduce((sum, each) => sum + each.sent, 0);
      const degraded = results.some((each) => each.degraded);
      return { command: { command: body.command, targets: left, sent, degraded } };
    };
  };

  /** Checks everything, and changes nothing. @throws CodedError why it would fail */
  const prepare = (id: string, effect: TriggerEffect | null): Prepared => {
    const { takeover, end, playlist, command } = effect ?? {};
    if (takeover !== undefined) return prepareTakeover(takeover);
    if (end !== undefined) return prepareEnd(end);
    if (playlist !== undefined) return preparePlaylist(id, playlist);
    if (command !== undefined) return prepareCommand(command);
    throw new CodedError('not_supported', 'A newer version of the player made this trigger; update this box.');
  };
  const issueOf = (id: string, effect: TriggerEffect | null): string | null => {
    try {
      prepare(id, effect);
      const gone = effect?.end === undefined ? undefined : (content.message(effect.end.message_id) ?? null);
      return gone === null ? new CodedError('message_not_found').message : null;
    } catch (error) {
      return (error as Error).message;
    }
  };

  const count = (id: string, result: 'ok' | 'failed'): void => {
    counts[id] ??= { ok: 0, failed: 0 };
    counts[id][result] += 1;
  };
  const recordFiring = (
    { id, name }: TriggerRecord,
    address: string,
    did: Readonly<Record<string, unknown>>,
    result: string,
  ): Promise<void> => {
    const after = { name, ...did };
    const action = 'trigger.fire';
    return records.audit.record({ operator: null, address, action, target: id, before: null, after, result }, id);
  };

  const fail = async (record: TriggerRecord, address: string, error: unknown): Promise<never> => {
    const { id, name } = record;
    const last = failedAt.get(id) ?? Number.NEGATIVE_INFINITY;
    count(id, 'failed');
    if (monotonicNow() - last >= FAILURE_MS) {
      remember(failedAt, id, monotonicNow(), MAX_KNOWN);
      const code = error instanceof CodedError ? error.code : 'internal_error';
      const reason = error instanceof CodedError ? error.message : 'Something went wrong in the service.';
      log.warn({ trigger: id, code }, 'a trigger could not be carried out');
      await recordFiring(record, address, {}, code);
      records.raise('trigger', id, `The trigger ${JSON.stringify(name)} was not carried out: ${reason}`);
    }
    throw error;
  };

  const urlOf = (ctx: Context, token: string): string => {
    const { publicUrl, host } = options;
    const scheme = clientAddress(ctx.req).isSecure ? 'https:' : 'http:';
    const portScheme = isEncrypted(ctx.req.socket) ? 'https:' : 'http:';
    const reached = { host: ctx.get('Host'), scheme, port: ctx.socket.localPort ?? 0, portScheme } as const;
    const base = new URL(publicBase(publicUrl, reached, networkInterfaces(), host) ?? `${scheme}//${reached.host}`);
    const port = https?.port() ?? null;
    const isDirect = base.protocol === 'http:' && port !== null;
    return `${isDirect ? `https://${base.hostname}:${port}` : base.href.replace(/\/$/, '')}/api/triggers/${token}`;
  };

  const shown = (record: TriggerRecord): Trigger => {
    const { id, name, effect, created_at, created_by } = record;
    const fired_at = firedAt.get(id) ?? null;
    return { id, name, effect, created_at, created_by, fired_at, issue: issueOf(id, effectOf(record)) };
  };
  const find = (id: string): TriggerRecord => {
    const record = triggers.get(id);
    if (record === undefined) throw new CodedError('trigger_not_found');
    return record;
  };

  const routes: Routes = {
    'GET /console/api/triggers': (ctx) => {
      const all = triggers.list().map(shown);
      ctx.body = { triggers: mayReadAll(ctx) ? all : all.map((each) => ({ ...each, effect: redacted(each.effect) })) };
    },

    'POST /console/api/triggers': async (ctx) => {
      const { name, effect } = readFields(triggerRequest, await readJson(ctx));
      const issue = issueOf('', effect);
      if (issue !== null) {
        // The command's own error names the field at fault.
        if (effect.command !== undefined) prepare('', effect);
        throw invalidEffect(issue.replace(/\.$/, ''));
      }
      // Later, when one of several is gone, the others are left.
      const { targets = [] } = effect.takeover ?? effect.playlist ?? effect.command ?? {};
      const [gone] = unknownTargets(targets, everyScreen());
      if (gone !== undefined) throw invalidEffect(`there is no screen for the target ${JSON.stringify(gone)}`);
      const id = triggers.newId();
      await ctx.state.onBody?.({ id });
      const { token } = await triggers.create({ id, name, effect }, authorOf(ctx));
      ctx.body = { id, name, token, url: urlOf(ctx, token) };
    },

    'DELETE /console/api/triggers/:id': async (ctx) => {
      await triggers.remove(ctx.params.id);
      ctx.status = 204;
    },

    'POST /console/api/triggers/:id/try': async (ctx) => {
      const record = find(ctx.params.id);
      const effect = effectOf(record);
      const issue = issueOf(record.id, effect);
      const { screens: all } = await site.take();
      const on = takeovers.open().find(({ id }) => id === `${messagePrefix}${effect?.end?.message_id}`);
      const targets = [...((effect?.takeover ?? effect?.playlist ?? effect?.command)?.targets ?? on?.targets ?? [])];
      const slugs = screensOf(targets, everyScreen()).map(({ slug }) => slug);
      const displays = displaysOf(targets, all).size;
      ctx.body = { id: record.id, ok: issue === null, issue, screens: slugs, displays } satisfies TriggerTrial;
    },

    'POST /api/triggers/:token': async (ctx) => {
      const { clientIp: address, log: requestLog } = ctx.state;
      const record = triggers.find(ctx.params.token);
      if (record === undefined) {
        count('unknown', 'failed');
        takeFrom(unknown, partyOf(address));
        throw new CodedError('trigger_not_found');
      }
      const { id } = record;
      takeFrom(known, id);
      await skipBody(ctx);
      try {
        const effect = effectOf(record);
        const did = await prepare(id, effect)(requestLog);
        remember(firedAt, id, new Date(takeovers.now()).toISOString(), MAX_KNOWN);
        count(id, 'ok');
        // The record says whether a blackout began or ended, like those of commands.
        const blackout = effect?.command?.['blackout'];
        const told = did.command === undefined ? did : { command: { ...did.command, blackout } };
        await recordFiring(record, address, told, 'ok');
        requestLog.info({ trigger: id }, 'a trigger was fired');
        ctx.body = { id, did } satisfies TriggerDid;
      } catch (error) {
        await fail(record, address, error);
      }
    },
  };

  return {
    routes,
    health: () => ({ contentWarnings: triggers.warnings(content) }),
    metrics: () => {
      // One that was revoked stays so.
      for (const id of Object.keys(counts)) if (id !== 'unknown' && triggers.get(id) === undefined) delete counts[id];
      return { signage_triggers_total: counts };
    },
  };
};
