/** Who had a display off, black, paused or redirected, or started a takeover, by the audit; pure. */
import type { AuditRecord } from '../../../service/contract/console/site.ts';
import { canonicalDeviceId } from '../../../service/contract/readable.ts';
import { isTargeted } from '../../../service/domain/targets.ts';
import type { Display } from './displays.ts';

export interface Doer {
  /** Of the person, or of the trigger; null: unknown. */
  name: string | null;
  isTrigger: boolean;
  /** ISO 8601. */
  at: string;
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (state: unknown): Fields => (typeof state === 'object' && state !== null ? (state as Fields) : {});

const commands: Partial<Record<Display['state'], string>> = {
  black: 'blackout',
  paused: 'pause',
  redirected: 'redirect',
};

/** Whether a display is as somebody left it. */
export const isHeld = ({ state }: Pick<Display, 'state'>): boolean => commands[state] !== undefined;

/** Who did the newest thing that is meant. @param isMeant of what was done, and of what a trigger did in its place */
const doer = (
  records: readonly AuditRecord[],
  isMeant: (record: AuditRecord, after: Fields) => boolean,
  isFired: (did: Fields) => boolean,
): Doer | null => {
  for (const record of records) {
    const { action, operator, at, result } = record;
    const after = fieldsOf(record.after);
    if (result !== 'ok') continue;
    if (isMeant(record, after)) return { name: operator, isTrigger: false, at };
    if (action !== 'trigger.fire' || !isFired(after)) continue;
    return { name: typeof after['name'] === 'string' ? after['name'] : null, isTrigger: true, at };
  }
  return null;
};

type Held = Pick<Display, 'state' | 'device' | 'connection'>;

const isOfDevice = (named: unknown, { device }: Held): boolean =>
  named == null ||
  device?.names?.includes(String(named)) === true ||
  (typeof named === 'string' && canonicalDeviceId(named) === canonicalDeviceId(device?.deviceId ?? ''));

/**
 * @param records newest first
 * @param screen the one that it shows
 */
export const doerOf = (
  records: readonly AuditRecord[],
  display: Held,
  screen: { slug: string; tags: readonly string[] },
): Doer | null => {
  const { state, device, connection } = display;
  const command = commands[state];
  if (command === undefined) return null;
  if (device?.off) {
    const isMeant = ({ action, target }: AuditRecord, { action: act, display: named }: Fields): boolean =>
      action === 'box.action' && target === device.nodeId && act === 'display-off' && isOfDevice(named, display);
    return doer(records, isMeant, () => false);
  }
  const isAsked = (asked: Fields): boolean =>
    asked['command'] === command &&
    asked['blackout'] !== false &&
    (asked['connectionId'] == null || asked['connectionId'] === connection?.id) &&
    (asked['clientId'] == null || asked['clientId'] === connection?.clientId);
  return doer(
    records,
    ({ action, target }, after) => action === 'screen.command' && target === screen.slug && isAsked(after),
    (did) => {
      const asked = fieldsOf(did['command']);
      const { targets } = asked;
      return isAsked(asked) && Array.isArray(targets) && isTargeted(targets.map(String), screen);
    },
  );
};

export const starterOf = (records: readonly AuditRecord[], takeoverId: string): Doer | null =>
  doer(
    records,
    ({ action, target }) => action === 'takeover.start' && target === takeoverId,
    (did) => fieldsOf(did['takeover'])['id'] === takeoverId,
  );
