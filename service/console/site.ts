/** `GET /console/api/site`. */
import type { Content } from '../content/index.ts';
import type { SiteOverview } from '../contract/console/site.ts';
import type { DeviceBinding } from '../contract/peers.ts';
import { deviceKey } from '../contract/readable.ts';
import type { Routes } from '../http/routes.ts';
import type { Screens } from '../screens/index.ts';
import { deviceState } from './device-state.ts';

interface Dependencies {
  content: Pick<Content, 'screens' | 'tags' | 'document' | 'status'>;
  devices: { list(): DeviceBinding[] };
  screens: Pick<Screens, 'takeSnapshot'>;
  box(): SiteOverview['boxes'][number];
}

export const siteRoutes = (
  { content, devices, screens: { takeSnapshot }, box }: Dependencies,
  { site, nodeId }: { site: string; nodeId: string },
): Routes => ({
  'GET /console/api/site': async (ctx) => {
    const document = content.document();
    const screens = await Promise.all(
      content.screens().map(async (screen) => {
        const { connections, degraded } = await takeSnapshot(screen.slug, false);
        const bound = devices.list().filter(({ screenSlug }) => screenSlug === screen.slug);
        const states = bound.map(({ deviceId, clientName }) => {
          const own = connections.filter(
            (each) => each.deviceId !== null && deviceKey(each.deviceId) === deviceKey(deviceId),
          );
          const lastSeenAt = own.at(-1)?.lastSeenAt ?? null;
          const isConnected = own.length > 0;
          return {
            deviceId,
            clientName,
            nodeId: isConnected ? nodeId : null,
            lastSeenAt,
            state: deviceState({
              connections: own.map(() => ({ isStuck: false })),
              wasSeen: isConnected,
              isOpen: true,
            }),
          };
        });
        return { screen, tags: [...content.tags(screen.slug)], devices: states, connections, degraded };
      }),
    );
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      site,
      nodeId,
      content: {
        sha256: document?.sha256 ?? null,
        changedAt: document?.changedAt ?? null,
        status: content.status().status,
      },
      boxes: [box()],
      screens: screens.map(({ degraded: _, ...screen }) => screen),
      takeovers: [],
      degraded: screens.some(({ degraded }) => degraded),
    } satisfies SiteOverview;
  },
});
