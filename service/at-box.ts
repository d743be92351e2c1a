/** What people change at the box itself, on its maintenance page; the audit records it without an address. */
import type { Console } from './console/index.ts';
import type { Devices } from './devices/index.ts';
import type { Records } from './records/index.ts';
import type { Service } from './renewal.ts';
import type { Screens } from './screens/index.ts';

interface Dependencies {
  records: Pick<Records, 'audit'>;
  devices: Pick<Devices, 'bind'>;
  screens: Pick<Screens, 'retry'>;
  box: Pick<Console, 'act'>;
}

/** @param url of the service */
export const createAtBox = (
  { records, devices, screens, box }: Dependencies,
  { url, nodeId }: { url: string; nodeId: string },
): Pick<Service, 'bind' | 'end' | 'onSession'> => ({
  bind: async (deviceId, screenSlug) => {
    const rule = { action: 'device.bind', subject: 'device', id: 'deviceId' } as const;
    const asked = { params: { deviceId }, operator: null, address: null };
    await records.audit.during(rule, asked, () => devices.bind(deviceId, screenSlug, url));
  },
  end: (action) => {
    const rule = { action: 'box.action', subject: 'box', id: 'nodeId', fields: ['action'] } as const;
    const asked = { params: { nodeId }, operator: null, address: null };
    return records.audit.during(rule, asked, async (onBody) => {
      await onBody({ action });
      return box.act(nodeId, { action });
    });
  },
  onSession: async (change, session, origin) => {
    screens.retry();
    const made = { operator: null, address: null, action: `session.${change}`, target: session, result: 'ok' };
    await records.audit.record({ ...made, before: null, after: { origin } });
  },
});
