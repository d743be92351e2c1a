/** The HTML pages of the service, and which pages of other sites can be framed in them. */
import type { IncomingMessage } from 'node:http';
import QRCode from 'qrcode';
import type { SiteAuthority } from '../authority/index.ts';
import type { Content } from '../content/index.ts';
import type { PageBoot } from '../contract/page.ts';
import { parseUrl } from '../contract/url.ts';
import type { DeviceProofs, Devices } from '../devices/index.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Screens } from '../screens/index.ts';
import { createFrames, frameRoutes } from './frames.ts';
import { createPageRoutes, type PageRoutes } from './pages.ts';

interface Dependencies {
  content: Pick<Content, 'payload' | 'screens' | 'namesPage'>;
  screens: Pick<Screens, 'onRedirect'>;
  devices: Pick<Devices, 'formAddress' | 'formOpened' | 'baseOf'>;
  authority: Pick<SiteAuthority, 'shown'>;
  /** The port of HTTPS; null: it does not answer. */
  securePort(): number | null;
  proofs: Pick<DeviceProofs, 'time'>;
  /** Issues a page token; null if pages need none. */
  pageToken(): Promise<PageBoot['pageToken']>;
}

export type Pages = Module & Pick<PageRoutes, 'sendMissing'>;

/** Makes the base URL of this service at a port, under the host of a request; null: it does not answer there. */
const baseBy =
  (scheme: string, portOf: () => number | null) =>
  ({ headers: { host = '' } }: IncomingMessage): string | null => {
    const [port, reached] = [portOf(), parseUrl(`http://${host}`)];
    return port === null || reached === null ? null : new URL(`${scheme}//${reached.hostname}:${port}`).origin;
  };

/** @throws Error if the renderer is not built */
export const createPages = async (
  { options, dirs, ids, get, monotonicNow, version }: ServiceContext,
  { content, screens, devices, proofs, authority, securePort, pageToken }: Dependencies,
): Promise<Pages> => {
  const frames = createFrames({ isNamed: content.namesPage, get, monotonicNow });
  screens.onRedirect(frames.allow);
  let plainPort: number | null = null;
  const { routes, sendMissing } = await createPageRoutes(
    {
      content,
      pageToken,
      formAddress: devices.formAddress,
      trust: async (request) => {
        const root = authority.shown()?.root;
        if (root === undefined) return null;
        const url = `${devices.baseOf(request)}/trust`;
        return {
          url,
          // ISO/IEC 18004: a quiet zone of four modules.
          code: await QRCode.toString(url, { type: 'svg', errorCorrectionLevel: 'M', margin: 4 }),
          fingerprint: root.fingerprint256,
          notAfter: new Date(root.validTo).toISOString(),
        };
      },
      formOpened: devices.formOpened,
      secureBase: baseBy('https:', securePort),
      plainBase: baseBy('http:', () => plainPort),
      box: () => ({
        nodeId: ids.nodeId,
        time: proofs.time(),
        ...(options.variant === 'baseline' && { isBaseline: true }),
      }),
    },
    {
      variant: options.variant,
      version,
      timeZone: () => options.timeZone,
      rendererDir: dirs.renderer,
      hasSecret: options.sharedSecret !== null,
      hasSignOn: options.sharedSecret !== null && options.oidcIssuer !== null,
    },
  );
  return {
    routes: { ...routes, ...frameRoutes(frames) },
    sendMissing,
    start: ({ port }) => {
      plainPort = port;
    },
  };
};
