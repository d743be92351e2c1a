import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import jsqr from 'jsqr';
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

/** Modules of the quiet zone of a QR code. */
export const QUIET = 4;
const PIXELS = 8;

/** The dark modules of the SVG's one stroked path, quiet zone included. */
export const modulesOf = (svg: string): boolean[][] => {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  let [x, y] = [0, 0];
  for (const [, command, first, second] of (/stroke="#000000" d="([^"]+)"/.exec(svg)?.[1] ?? '').matchAll(
    /([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?/g,
  )) {
    if (command === 'M') [x, y] = [Number(first), Math.floor(Number(second))];
    else if (command === 'm') x += Number(first);
    else for (let left = Number(first); left > 0; left -= 1) (rows[y] as boolean[])[x++] = true;
  }
  return rows;
};

/** The text of a QR code. */
export const readQr = (modules: boolean[][]): string | undefined => {
  const width = modules.length * PIXELS;
  const pixels = new Uint8ClampedArray(width * width * 4);
  for (let at = 0; at < width * width; at += 1) {
    const dark = modules[Math.floor(at / width / PIXELS)]?.[Math.floor((at % width) / PIXELS)];
    pixels.set(dark ? [0, 0, 0, 255] : [255, 255, 255, 255], at * 4);
  }
  return jsqr(pixels, width, width)?.data;
};
