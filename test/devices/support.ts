import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { openSocket } from '../support/page.ts';
import type { TestService } from '../support/service.ts';

/** Three screens, each with a slide of its own. */
export const content = {
  screens: ['Lobby', 'Café', 'Gate 4'].map((name) => ({
    name,
    slug: name.toLowerCase().replace('é', 'e').replace(' ', '-'),
    playlist_id: 'main',
  })),
  playlists: [{ id: 'main', slides: [{ kind: 'text', title: 'Good morning' }] }],
};

/** A GET with a Host header of its own, which fetch can't send. */
export const getAs = async ({ url }: TestService, host: string, path: string) => {
  const sent = request(url + path, { headers: { host } }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return new Response(Buffer.concat(await response.toArray()), { status: response.statusCode ?? 0 });
};

export const bind = (service: TestService, binding: Record<string, unknown>, headers: Record<string, string> = {}) =>
  service.post(
    '/api/onboarding',
    { deviceId: 'device-1', clientName: 'Front desk', screenSlug: 'lobby', ...binding },
    headers,
  );

export const openLanding = (
  service: TestService,
  deviceId = 'device-1',
  options: Parameters<typeof openSocket>[2] = {},
) => openSocket(service, `/api/onboarding/socket?deviceId=${deviceId}`, options);
