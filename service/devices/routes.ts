/** The HTTP routes of onboarding, and the sockets of landing pages. */
import type { IncomingMessage } from 'node:http';
import { networkInterfaces } from 'node:os';
import { parse as parseQuery } from 'node:querystring';
import QRCode from 'qrcode';
import type { Content } from '../content/index.ts';
import { readFields } from '../contract/fields.ts';
import { binding, deviceKnownHeader, deviceQuery, type MediaProgress } from '../contract/onboarding.ts';
import { mostAskedDevices, peerDevicesQuery } from '../contract/peers.ts';
import { ownBase, publicBase, type Reached } from '../domain/lan-address.ts';
import { listensAlone } from '../domain/network-scope.ts';
import { readJson } from '../http/body.ts';
import { isRelayed } from '../http/caller.ts';
import type { createClientAddress } from '../http/client-address.ts';
import type { Context, Routes, Sockets } from '../http/routes.ts';
import type { KnownDevices } from './known-devices.ts';
import type { Landing } from './landing.ts';
import type { Onboarding } from './onboarding.ts';

interface Dependencies {
  onboarding: Onboarding;
  landing: Pick<Landing, 'attach'>;
  knownDevices: Pick<KnownDevices, 'isKnown' | 'isKnownHere'>;
  content: Pick<Content, 'screens'>;
  clientAddress: ReturnType<typeof createClientAddress>;
  /** As in {@link LandingMessage}. */
  mediaProgress(): MediaProgress;
}

interface Options {
  publicUrl: string | null;
  /** The listen address. */
  host: string;
  /** The host name of the machine, used for the base URL without a network. */
  machineName: string;
}

const reachedBy = ({ headers, socket }: IncomingMessage): Reached => ({
  host: headers.host ?? '',
  port: socket.localPort ?? 0,
});

export const createOnboardingRoutes = (
  { onboarding, landing, knownDevices, content, clientAddress, mediaProgress }: Dependencies,
  { publicUrl, host, machineName }: Options,
) => {
  // Computed per request: boxes move between networks, and DHCP leases change.
  const reachable = (reached: Reached): string | null => publicBase(publicUrl, reached, networkInterfaces(), host);
  const isAlone = listensAlone(host);
  const baseFor = (reached: Reached): string =>
    reachable(reached) ?? (isAlone ? ownBase(host, reached.port) : `http://${machineName}:${reached.port}`);

  /** The URL of the form for clients that used this address; null if no other machine can reach it. */
  const formUrl = (reached: Reached): string | null => {
    const base = reachable(reached);
    return base === null ? null : `${base}/onboard`;
  };

  const answer = (ctx: Context, body: unknown): void => {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = body;
  };

  const routes: Routes = {
    'GET /api/onboarding/status': async (ctx) => {
      const { deviceId } = readFields(deviceQuery, ctx.query);
      ctx.set(deviceKnownHeader, String(await knownDevices.isKnown(deviceId)));
      answer(ctx, onboarding.status(deviceId, baseFor(reachedBy(ctx.req))));
    },
    'GET /api/onboarding/screens': (ctx) => answer(ctx, { screens: content.screens() }),
    'GET /api/onboarding/qr': async (ctx) => {
      const { deviceId } = readFields(deviceQuery, ctx.query);
      const url = `${baseFor(reachedBy(ctx.req))}/onboard?deviceId=${deviceId}`;
      // ISO/IEC 18004: a quiet zone of four modules.
      answer(ctx, await QRCode.toString(url, { type: 'svg', errorCorrectionLevel: 'M', margin: 4 }));
      ctx.type = 'image/svg+xml';
    },
    'POST /api/onboarding': async (ctx) => {
      const given = readFields(binding, await readJson(ctx));
      answer(ctx, await onboarding.bind(given, baseFor(reachedBy(ctx.req)), isRelayed(ctx.req), ctx.state.log));
    },
    'GET /api/peers/devices': (ctx) => {
      const { deviceIds } = readFields(peerDevicesQuery, ctx.query);
      answer(ctx, { known: deviceIds.split(',', mostAskedDevices).filter(knownDevices.isKnownHere) });
    },
  };

  const sockets = {
    '/api/onboarding/socket': (request) => {
      const { deviceId } = readFields(deviceQuery, parseQuery((request.url ?? '').split('?', 2)[1] ?? ''));
      const reached = reachedBy(request);
      const { clientIp } = clientAddress(request);
      return (socket) => {
        landing.attach(socket, clientIp, deviceId, () => ({
          type: 'status',
          ...onboarding.status(deviceId, baseFor(reached)),
          formUrl: formUrl(reached),
          hasScreens: content.screens().length > 0,
          media: mediaProgress(),
        }));
        onboarding.caughtUp(deviceId);
      };
    },
  } satisfies Sockets;

  return {
    routes,
    sockets,
    formAddress: (request: IncomingMessage) => {
      const reached = reachedBy(request);
      const localFormUrl = isAlone ? `${ownBase(host, reached.port)}/onboard` : null;
      return { formUrl: formUrl(reached), localFormUrl };
    },
  };
};
