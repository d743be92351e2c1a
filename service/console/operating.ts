/** The part of the console that operates a site: its overview, takeovers, devices, boxes and screenshots. */
import type { Content } from '../content/content.ts';
import type { DeviceBinding } from '../contract/peers.ts';
import type { Onboarding } from '../devices/onboarding.ts';
import type { Listening, Module, ServiceContext } from '../module.ts';
import type { TakeSnapshot } from '../screens/snapshot.ts';
import { boxRoutes } from './boxes.ts';
import { deviceRoutes } from './devices.ts';
import { siteRoutes } from './site.ts';
import { takeoverRoutes } from './takeovers.ts';

interface Dependencies {
  content: Pick<Content, 'screens' | 'tags' | 'document' | 'status'>;
  devices: { list(): DeviceBinding[] };
  onboarding: Pick<Onboarding, 'forget'>;
  takeSnapshot: TakeSnapshot;
  /** The newest lines of this box's log, oldest first: a JSON object each. */
  logLines(): readonly string[];
}

export const createOperating = (
  { options, version, now, ids: { nodeId }, machineName }: ServiceContext,
  { content, devices, onboarding, takeSnapshot, logLines }: Dependencies,
): Module => {
  let url = '';
  return {
    routes: {
      ...siteRoutes(
        {
          content,
          devices,
          takeSnapshot,
          box: () => ({
            nodeId,
            name: machineName,
            url,
            version,
            status: 'here',
            lastSeenAt: new Date(now()).toISOString(),
            warnings: [],
          }),
        },
        { site: options.site, nodeId },
      ),
      ...boxRoutes({ logLines }, { nodeId }),
      ...deviceRoutes(onboarding),
      ...takeoverRoutes(),
    },
    start: (at: Listening) => {
      url = at.url;
    },
  };
};
