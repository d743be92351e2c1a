import type { Variant } from '../wire/terms.ts';

/**
 * Who may call what.
 * - `public`: anyone.
 * - `signed`: a signed request alone.
 * - `signed or page`: a signed request, or the token of a page.
 * - `page`: the token of a page.
 *
 * With no shared secret all of them are open.
 */
export type Access = 'public' | 'signed' | 'signed or page' | 'page';

interface Rule {
  access: Access;
  /** The smallest variant of the interface that has the route. */
  variant: Variant;
  /** For a GET that starts something: refused to other origins, as every other method is. */
  acts?: true;
}

/** Every route of the service, once. A route that is not in this table can't be mounted. */
export const policy = {
  'GET /': { access: 'public', variant: 'baseline' },
  'GET /onboard': { access: 'public', variant: 'extended' },
  'GET /screen/:slug': { access: 'public', variant: 'baseline' },
  'GET /assets/*path': { access: 'public', variant: 'baseline' },
  'GET /media/:filename': { access: 'public', variant: 'baseline' },
  'GET /updates/:filename': { access: 'public', variant: 'extended' },
  'GET /copies': { access: 'public', variant: 'baseline' },
  'GET /healthz': { access: 'public', variant: 'baseline' },
  'GET /api/screens/:slug/playlist': { access: 'public', variant: 'baseline' },
  'GET /api/screens/:slug/connections': { access: 'public', variant: 'baseline' },
  'GET /api/screens/:slug/clients': { access: 'public', variant: 'baseline' },
  'POST /api/screens/:slug/commands': { access: 'signed', variant: 'baseline' },
  'GET /api/onboarding/status': { access: 'public', variant: 'extended' },
  'GET /api/onboarding/screens': { access: 'public', variant: 'extended' },
  'GET /api/onboarding/qr': { access: 'public', variant: 'extended' },
  'POST /api/onboarding': { access: 'signed or page', variant: 'extended' },
  'POST /api/auth/page': { access: 'page', variant: 'extended' },
  'GET /api/media/config': { access: 'signed', variant: 'extended' },
  'PUT /api/media/:filename': { access: 'signed', variant: 'extended' },
  'DELETE /api/media/:filename': { access: 'signed', variant: 'extended' },
  'GET /api/frames': { access: 'signed or page', variant: 'extended', acts: true },
  'GET /api/rtmp/session': { access: 'signed or page', variant: 'extended', acts: true },
  'GET /api/rtmp/streams/:key/index.m3u8': { access: 'signed or page', variant: 'extended' },
  'GET /api/rtmp/streams/:key/:fileName': { access: 'signed or page', variant: 'extended' },
  'GET /api/peers/time': { access: 'signed', variant: 'extended' },
  'GET /api/peers/state': { access: 'signed', variant: 'extended', acts: true },
  'GET /api/peers/connections': { access: 'signed', variant: 'extended' },
  'GET /api/peers/content': { access: 'signed', variant: 'extended' },
  'GET /api/peers/bindings': { access: 'signed', variant: 'extended' },
  'GET /api/peers/devices': { access: 'signed', variant: 'extended' },
  'GET /api/peers/media': { access: 'signed', variant: 'extended' },
} as const satisfies Record<string, Rule>;

export type RouteName = keyof typeof policy;

/** Every socket of the service, once, by the path of its upgrade. All are refused to other origins. */
export const sockets = {
  '/api/screens/:slug/socket': { access: 'signed or page', variant: 'baseline' },
  '/api/onboarding/socket': { access: 'signed or page', variant: 'extended' },
} as const satisfies Record<string, Rule>;

export type SocketName = keyof typeof sockets;
