/** The part of the console that operates a site: its overview, takeovers, devices, boxes and screenshots. */
import { networkInterfaces } from 'node:os';
import type { Content } from '../content/index.ts';
import type { Devices } from '../devices/index.ts';
import { publicBase } from '../domain/lan-address.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { Screens } from '../screens/index.ts';
import type { Takeovers } from '../takeovers/index.ts';
import { boxRoutes } from './boxes.ts';
import { deviceRoutes } from './devices.ts';
import { createOwnOverview } from './own-overview.ts';
import { createSite } from './site.ts';
import { takeoverRoutes } from './takeovers.ts';

export interface Dependencies {
  content: Pick<Content, 'screens' | 'payload' | 'slides' | 'tags' | 'hours' | 'playing' | 'status'>;
  devices: Pick<Devices, 'list' | 'forget' | 'sightings' | 'learn'>;
  screens: Pick<Screens, 'pages' | 'isFaulty'>;
  peers: Pick<Peers, 'all' | 'find' | 'ask' | 'settled' | 'sendTakeover'>;
  takeovers: Pick<Takeovers, 'now' | 'open' | 'isEmergency' | 'put' | 'end'>;
  health: {
    /** What is wrong with this box, in sentences. */
    warnings(): Promise<readonly string[]>;
  };
}

export const createOperating = (
  context: ServiceContext,
  { content, devices, screens, peers, takeovers, health }: Dependencies,
): Module => {
  const { options } = context;
  let listening = { url: '', port: 0 };
  /** Of this box, for other machines; looked up each time, because boxes move between networks. */
  const url = (): string => {
    const { host } = new URL(listening.url);
    return (
      publicBase(options.publicUrl, { host, port: listening.port }, networkInterfaces(), options.host) ?? listening.url
    );
  };
  const here = createOwnOverview(context, { content, screens, devices, warnings: health.warnings });
  const site = createSite(context, { content, devices, peers, takeovers, here, url });
  return {
    routes: {
      ...site.routes,
      ...boxRoutes(context, { peers, screens, site }),
      ...deviceRoutes(devices),
      ...takeoverRoutes({ takeovers, content, peers, site }),
    },
    start: (at) => {
      listening = at;
    },
  };
};
