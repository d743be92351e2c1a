/** Who had a display black, paused or redirected, or started a takeover, by the audit; pure. */
import type { AuditRecord } from '../../../service/contract/console/site.ts';
import type { Display } from './displays.ts';

export interface Doer {
  /** Null: unknown. */
  name: string | null;
  /** ISO 8601. */
  at: string;
}

const commands: Partial<Record<Display['state'], string>> = {
  black: 'blackout',
  paused: 'pause',
  redirected: 'redirect',
};

/** Whether a display is as somebody left it. */
export const isHeld = ({ state }: Pick<Display, 'state'>): boolean => commands[state] !== undefined;

const doer = (record: AuditRecord | undefined): Doer | null =>
  record === undefined ? null : { name: record.operator, at: record.at };

/** @param records newest first */
export const doerOf = (
  records: readonly AuditRecord[],
  { state, connection }: Pick<Display, 'state' | 'connection'>,
  slug: string,
): Doer | null => {
  const command = commands[state];
  if (command === undefined) return null;
  return doer(
    records.find(({ action, target, result, after }) => {
      const asked = (after ?? {}) as Record<string, unknown>;
      const isMeant =
        (asked['connectionId'] == null || asked['connectionId'] === connection?.id) &&
        (asked['clientId'] == null || asked['clientId'] === connection?.clientId);
      const isOff = asked['blackout'] === false;
      return (
        action === 'screen.command' &&
        target === slug &&
        result === 'ok' &&
        asked['command'] === command &&
        isMeant &&
        !isOff
      );
    }),
  );
};

export const starterOf = (records: readonly AuditRecord[], takeoverId: string): Doer | null =>
  doer(
    records.find(
      ({ action, target, result }) => action === 'takeover.start' && target === takeoverId && result === 'ok',
    ),
  );
