/** The HTTP routes of onboarding, and the sockets of landing pages. */
import type { IncomingMessage } from 'node:http';
import { networkInterfaces } from 'node:os';
import { parse as parseQuery } from 'node:querystring';
import QRCode from 'qrcode';
import type { Content } from '../content/index.ts';
import { readFields } from '../contract/fields.ts';
import {
  binding,
  claimHeader,
  deviceKnownHeader,
  deviceProofHeader,
  deviceQuery,
  proofNeedsHeader,
} from '../contract/onboarding.ts';
import { mostAskedDevices, peerClaims, peerDevicesQuery } from '../contract/peers.ts';
import { zoneHeader } from '../contract/playlist.ts';
import { canonicalDeviceId, isProvableId } from '../contract/readable.ts';
import { isBound } from '../domain/displays.ts';
import { type Interfaces, ownBase, publicBase, type Reached } from '../domain/lan-address.ts';
import { isThisMachine, listensAlone } from '../domain/network-scope.ts';
import { readJson } from '../http/body.ts';
import { isEncrypted } from '../http/client-address.ts';
import type { Context, Routes, Sockets } from '../http/routes.ts';
import { checkScope, hasScope } from '../http/scope.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { Screens } from '../screens/index.ts';
import type { Claims } from './claims.ts';
import type { KnownDevices } from './known-devices.ts';
import type { Landing } from './landing.ts';
import type { Onboarding } from './onboarding.ts';
import type { DeviceProofs } from './proofs.ts';
import type { StoredDevices } from './store.ts';

interface Dependencies {
  onboarding: Onboarding;
  devices: Pick<StoredDevices, 'get' | 'list'>;
  screens: Pick<Screens, 'screensOf'>;
  landing: Pick<Landing, 'attach' | 'proved'>;
  knownDevices: Pick<KnownDevices, 'isKnown' | 'isKnownHere'>;
  proofs: Pick<DeviceProofs, 'verify' | 'needs'>;
  claims: Claims;
  content: Pick<Content, 'screens' | 'tags'>;
  peers: Pick<Peers, 'mediaProgress'>;
  /** Called with the time zone of a phone in front of a display of this box, of which none had a screen before. */
  onTimeZone(timeZone: string): void;
}

export const createOnboardingRoutes = (
  {
    options: { publicUrl, host, sharedSecret },
    machineName,
    clientAddress,
    kiosk,
    hotspot,
  }: Pick<ServiceContext, 'options' | 'machineName' | 'clientAddress' | 'kiosk' | 'hotspot'>,
  { onboarding, devices, screens, landing, knownDevices, proofs, claims, content, peers, onTimeZone }: Dependencies,
) => {
  /** Boxes move between networks, and DHCP leases change; in one turn of the event loop each landing page asks twice. */
  let interfaces: Interfaces | null = null;
  const currentInterfaces = (): Interfaces => {
    if (interfaces === null) {
      setImmediate(() => {
        interfaces = null;
      });
    }
    interfaces ??= networkInterfaces();
    return interfaces;
  };
  const reachable = (reached: Reached): string | null => publicBase(publicUrl, reached, currentInterfaces(), host);
  const reachedBy = (request: IncomingMessage): Reached => ({
    host: request.headers.host ?? '',
    scheme: clientAddress(request).isSecure ? 'https:' : 'http:',
    port: request.socket.localPort ?? 0,
    portScheme: isEncrypted(request.socket) ? 'https:' : 'http:',
  });
  const isAlone = listensAlone(host);
  const baseFor = (reached: Reached): string =>
    reachable(reached) ?? (isAlone ? ownBase(host, reached) : `${reached.portScheme}//${machineName}:${reached.port}`);

  /** The URL of the form for clients that used this address; null if no other machine can reach it. */
  const formUrl = (reached: Reached): string | null => {
    const base = reachable(reached);
    return base === null ? null : `${base}/onboard`;
  };

  const hasSecret = sharedSecret !== null;

  /**
   * The code that a landing page may show, where the request proves that it is of the page; null: it shows none. A device
   * that is bound shows one only for as long as an operator lets it.
   */
  const claimFor = (ctx: Context, deviceId: string, base: string): string | null => {
    const proof = ctx.get(deviceProofHeader);
    if (!hasSecret || proof === '') return null;
    if (!proofs.verify(deviceId, proof, ctx.state.clientIp)) {
      ctx.set(proofNeedsHeader, proofs.needs());
      return null;
    }
    landing.proved(deviceId);
    const isWaiting = !onboarding.status(deviceId, base).onboarded || claims.isOpened(deviceId);
    return isWaiting && isProvableId(deviceId) ? claims.codeFor(deviceId, ctx.state.clientIp) : null;
  };

  const isFirst = (deviceId: string): boolean => {
    const own = kiosk?.().screens.map((screen) => canonicalDeviceId(screen.deviceId)) ?? [];
    return own.includes(canonicalDeviceId(deviceId)) && !own.some((id) => isBound(devices.get(id)));
  };

  const routes: Routes = {
    'GET /api/onboarding/status': async (ctx) => {
      const { deviceId } = readFields(deviceQuery, ctx.query);
      const base = baseFor(reachedBy(ctx.req));
      const claim = claimFor(ctx, deviceId, base);
      if (claim !== null) ctx.set(claimHeader, claim);
      ctx.set(deviceKnownHeader, String(await knownDevices.isKnown(deviceId)));
      ctx.body = onboarding.status(deviceId, base);
    },
    'GET /api/onboarding/screens': (ctx) => {
      ctx.body = { screens: content.screens() };
    },
    'GET /api/onboarding/names': (ctx) => {
      const own = canonicalDeviceId(readFields(deviceQuery, ctx.query).deviceId);
      const others = devices
        .list()
        .filter(({ deviceId, forgotten }) => !forgotten && canonicalDeviceId(deviceId) !== own);
      ctx.body = { names: others.map(({ clientName }) => clientName) };
    },
    'GET /api/onboarding/qr': async (ctx) => {
      const { deviceId } = readFields(deviceQuery, ctx.query);
      const base = baseFor(reachedBy(ctx.req));
      const claim = claimFor(ctx, deviceId, base);
      const url = `${base}/onboard?deviceId=${deviceId}${claim === null ? '' : `&claim=${claim}`}`;
      // ISO/IEC 18004: a quiet zone of four modules.
      ctx.body = await QRCode.toString(url, { type: 'svg', errorCorrectionLevel: 'M', margin: 4 });
      ctx.type = 'image/svg+xml';
    },
    'POST /api/onboarding': async (ctx) => {
      const given = readFields(binding, await readJson(ctx));
      // Anyone who can open a page has a token: it shows nobody in front of the display.
      if (ctx.state.isPage) await claims.check(given.deviceId, ctx.get(claimHeader), ctx.state.clientIp);
      else if (hasScope(ctx)) {
        checkScope(ctx, content, [given.screenSlug, ...(await screens.screensOf(given.deviceId))]);
      }
      const { isRelayed, log, bodySha256 } = ctx.state;
      // Who signs need not be there, and no signature covers the header.
      const isThere = !isRelayed && bodySha256 === null && isFirst(given.deviceId);
      ctx.body = await onboarding.bind(given, baseFor(reachedBy(ctx.req)), isRelayed, log);
      if (isThere) onTimeZone(ctx.get(zoneHeader));
    },
    'GET /api/peers/devices': (ctx) => {
      const { deviceIds } = readFields(peerDevicesQuery, ctx.query);
      ctx.body = { known: deviceIds.split(',', mostAskedDevices).filter(knownDevices.isKnownHere) };
    },
    'POST /api/peers/claims': async (ctx) => {
      const asked = readFields(peerClaims, await readJson(ctx));
      ctx.body = { right: asked.claims.map(({ deviceId, claim }) => claims.isRightHere(deviceId, claim)) };
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
          media: peers.mediaProgress(),
          network: kiosk?.().network ?? undefined,
          // Its password is for people before the box.
          hotspot: isThisMachine(clientIp) ? (hotspot?.() ?? undefined) : undefined,
        }));
        onboarding.caughtUp(deviceId);
      };
    },
  } satisfies Sockets;

  return {
    routes,
    sockets,
    baseOf: (request: IncomingMessage) => baseFor(reachedBy(request)),
    formAddress: (request: IncomingMessage) => {
      const reached = reachedBy(request);
      const localFormUrl = isAlone ? `${ownBase(host, reached)}/onboard` : null;
      return { formUrl: formUrl(reached), localFormUrl };
    },
  };
};
