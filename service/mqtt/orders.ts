/** Carries out what is published for displays. Each order is in the audit, as `mqtt`. */
import { createHash } from 'node:crypto';
import type { Console } from '../console/index.ts';
import { mostTakeoverBody, mostTakeoverTitle } from '../contract/console/takeover-levels.ts';
import { CodedError } from '../contract/errors.ts';
import type { AuditRule } from '../contract/operations/index.ts';
import { createRates } from '../domain/rate.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { Records } from '../records/index.ts';
import type { Screens } from '../screens/index.ts';
import type { Takeovers } from '../takeovers/index.ts';
import type { Message } from './broker.ts';
import { type Display, type OrderName, orderNames } from './entities.ts';

const OPERATOR = 'mqtt';
/** Orders to a display a second, and bytes of one. */
const A_SECOND = 5;
const MAX_BYTES = 4 * 1024;
/** Displays whose rates are remembered. */
const MAX_DISPLAYS = 2_000;
/** For how long a message is shown. */
const MESSAGE_MS = 300_000;

const commandRule: AuditRule = {
  action: 'screen.command',
  subject: 'screen',
  id: 'slug',
  fields: ['command', 'blackout', 'connectionId'],
};
const takeoverRule: AuditRule = { action: 'takeover.start', subject: 'takeover', id: 'id' };
const actionRule: AuditRule = { action: 'box.action', subject: 'box', id: 'nodeId', fields: ['action', 'value'] };

interface Dependencies {
  screens: Pick<Screens, 'command'>;
  takeovers: Pick<Takeovers, 'now' | 'put'>;
  peers: Pick<Peers, 'sendTakeover'>;
  records: Pick<Records, 'audit'>;
  box: Pick<Console, 'act'>;
}

/** The order that a topic names: `.../display/DEVICE/ORDER/set`. */
export const orderOf = (topic: string): { part: string; name: OrderName } | null => {
  const [part = '', given = ''] = topic.split('/').slice(-3);
  const name = orderNames.find((each) => each === given);
  return name === undefined ? null : { part, name };
};

/** The first line is the title. */
export const messageOf = (text: string): { title: string; body: string | null } | null => {
  const [first = '', ...others] = text.replace(/\r\n?/g, '\n').trim().split('\n');
  const title = first.trim().slice(0, mostTakeoverTitle);
  const body = others.join('\n').trim().slice(0, mostTakeoverBody);
  return title === '' ? null : { title, body: body === '' ? null : body };
};

const invalid = (reason: string): CodedError => new CodedError('invalid_field', reason, { field: 'payload' });

export const createOrders = (
  { monotonicNow, logs }: Pick<ServiceContext, 'monotonicNow' | 'logs'>,
  { screens, takeovers, peers, records, box }: Dependencies,
) => {
  const log = logs('mqtt');
  const rates = createRates(A_SECOND, 1_000, MAX_DISPLAYS);

  const audited = (
    rule: AuditRule,
    source: string,
    params: Record<string, string>,
    fields: object,
    change: () => Promise<unknown>,
  ) =>
    records.audit.during(rule, { params, operator: OPERATOR, address: null, source }, async (onBody) => {
      await onBody({ ...fields });
      await change();
    });

  const command = ({ deviceId, slug, connection }: Display, fields: { command: string; blackout?: boolean }) => {
    if (connection === null) throw new CodedError('connection_not_found', 'The display is not connected.');
    const body = { ...fields, connectionId: connection.id };
    // Each order of a display is counted by itself: how often a slide was skipped must not hide who made it black.
    const source = [deviceId, ...Object.values(fields)].join(' ');
    return audited(commandRule, source, { slug }, body, () => screens.command(slug, body, { relayed: false, log }));
  };

  const notify = ({ deviceId, slug }: Display, text: string) => {
    const message = messageOf(text);
    if (message === null) throw invalid('The message is empty.');
    const id = `mqtt-${createHash('sha256').update(deviceId).digest('hex').slice(0, 16)}`;
    const now = takeovers.now();
    const [from, until] = [now, now + MESSAGE_MS].map((at) => new Date(at).toISOString()) as [string, string];
    return audited(takeoverRule, deviceId, { id }, {}, async () => {
      const { record } = await takeovers.put({
        id,
        targets: [slug],
        level: 'info',
        ...message,
        media_url: null,
        from,
        until,
      });
      await peers.sendTakeover(record);
    });
  };

  const setVolume = ({ deviceId, nodeId }: Display, text: string) => {
    const value = Number(text);
    if (nodeId === null || text.trim() === '' || !Number.isFinite(value) || value < 0 || value > 100) {
      throw invalid('The volume must be a number from 0 to 100.');
    }
    const order = { action: 'volume', value } as const;
    return audited(actionRule, deviceId, { nodeId }, order, async () => {
      const { result, message } = await box.act(nodeId, order);
      if (result === 'not_supported') throw new CodedError('not_supported', message);
    });
  };

  const carryOut = (name: OrderName, display: Display, text: string): Promise<unknown> => {
    if (name === 'notify') return notify(display, text);
    if (name === 'volume') return setVolume(display, text);
    if (name !== 'screen') return command(display, { command: name });
    if (text !== 'ON' && text !== 'OFF') throw invalid('The display is set by ON or OFF.');
    return command(display, { command: 'blackout', blackout: text === 'OFF' });
  };

  return {
    /**
     * Carries out an order. What the broker has kept, what is too large and what comes too fast is left out.
     * @param find the display of a part of a topic
     */
    take: async (
      { topic, payload, isRetained }: Message,
      find: (part: string) => Display | undefined,
    ): Promise<void> => {
      const order = orderOf(topic);
      const display = order === null ? undefined : find(order.part);
      if (order === null || display === undefined || isRetained || payload.length > MAX_BYTES) return;
      const { deviceId } = display;
      if (!rates(deviceId).take(monotonicNow()))
        return log.warn({ deviceId }, 'orders come too fast, and some are left out');
      try {
        await carryOut(order.name, display, payload.toString());
      } catch (error) {
        if (!(error instanceof CodedError)) throw error;
        log.warn({ deviceId, order: order.name, code: error.code }, 'an order over MQTT was refused');
      }
    },
  };
};
