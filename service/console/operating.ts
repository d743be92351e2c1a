/** The part of the console that operates a site: its overview, takeovers, devices, boxes and screenshots. */
import type { Content } from '../content/index.ts';
import type { Devices } from '../devices/index.ts';
import type { Listening, Module, ServiceContext } from '../module.ts';
import type { Screens } from '../screens/index.ts';
import { boxRoutes } from './boxes.ts';
import { deviceRoutes } from './devices.ts';
import { siteRoutes } from './site.ts';
import { takeoverRoutes } from './takeovers.ts';

export interface Dependencies {
  content: Pick<Content, 'screens' | 'tags' | 'document' | 'status'>;
  devices: Pick<Devices, 'list' | 'forget'>;
  screens: Pick<Screens, 'takeSnapshot'>;
}

export const createOperating = (
  { options, version, now, ids: { nodeId }, machineName, logLines }: ServiceContext,
  { content, devices, screens }: Dependencies,
): Module => {
  let url = '';
  return {
    routes: {
      ...siteRoutes(
        {
          content,
          devices,
          screens,
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
      ...deviceRoutes(devices),
      ...takeoverRoutes(),
    },
    start: (at: Listening) => {
      url = at.url;
    },
  };
};
