/** The form that a phone fills in over the box's own Wi-Fi: the only thing that answers there. */
import { createServer, type Server } from 'node:http';
import type { Logger } from 'pino';
import getRawBody from 'raw-body';
import { type KioskSettings, type NetworkFault, readKiosk } from '../../service/public.ts';
import { readOwnFile } from '../own-pages.ts';

export type Wifi = NonNullable<NonNullable<KioskSettings['network']>['wifi']>;

/** The port to which root leads port 80 of the Wi-Fi (resources/image/root/usr/lib/signage/hotspot). */
const FORM_PORT = 46_180;
/** A Wi-Fi with its password and country. */
const MAX_BYTES = 2_048;
/** After the answer is sent the Wi-Fi goes away. */
const GRACE_MS = 1_500;

/** @throws Error that says what is wrong with a field, in the words of `config.json` */
const readWifi = (body: string): Wifi => {
  const wifi: unknown = JSON.parse(body);
  const { network } = readKiosk({ network: { wifi } });
  if (network?.wifi === undefined) throw new Error('wifi.ssid is missing');
  return network.wifi;
};

interface FormPorts {
  log: Pick<Logger, 'warn'>;
  /** The Wi-Fis that are there, and why the last attempt failed. */
  shown(): { networks: readonly string[]; fault: NetworkFault | null };
  /** A phone has asked for something. */
  onVisitor(): void;
  /** The form is filled in, and answered. @throws Error if it cannot be kept */
  keep(wifi: Wifi): Promise<void>;
  join(): void;
}

/** @param pagesDir a flat folder with `network.html` and what it loads @param port for tests */
export const openForm = (
  { log, shown, onVisitor, keep, join: begin }: FormPorts,
  { pagesDir, address, port = FORM_PORT }: { pagesDir: string; address: string; port?: number },
): Server => {
  const base = (): string =>
    `http://${address}${port === FORM_PORT ? '' : `:${(server.address() as { port: number }).port}`}`;
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    onVisitor();
    const answer = (status: number, body: string | Uint8Array, type = 'application/json'): void => {
      const safe = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', Connection: 'close' };
      response.writeHead(status, { ...safe, 'Content-Type': type }).end(body);
    };
    const act = async (): Promise<void> => {
      const { method, url = '/', headers } = request;
      // What phones ask to see whether there is more than this Wi-Fi; they then show where they are led.
      if (`http://${headers.host}` !== base()) {
        response.writeHead(302, { Location: `${base()}/`, Connection: 'close' }).end();
        return;
      }
      if (method === 'POST' && url === '/wifi') {
        // Another page of the phone could not send this type without asking first.
        if (headers['content-type'] !== 'application/json') return answer(415, '{}');
        let wifi: Wifi;
        try {
          wifi = readWifi((await getRawBody(request, { limit: MAX_BYTES })).toString());
        } catch (error) {
          const [, field = 'ssid'] = /wifi\.(\w+)/.exec((error as Error).message) ?? [];
          return answer(400, JSON.stringify({ field }));
        }
        await keep(wifi);
        setTimeout(begin, GRACE_MS);
        return answer(202, '{}');
      }
      if (method !== 'GET') return answer(405, '{}');
      if (url === '/wifi') return answer(200, JSON.stringify(shown()));
      const name = url === '/' ? 'network.html' : url.slice(1);
      const isOfForm = name.startsWith('network.') || name.endsWith('.woff2');
      const file = isOfForm ? await readOwnFile(pagesDir, name) : null;
      if (file === null) return answer(404, '{}');
      answer(200, file.bytes, file.type);
    };
    act().catch((error: unknown) => {
      log.warn({ err: error }, 'the form of the Wi-Fi failed');
      if (!response.headersSent) answer(500, '{}');
    });
  });
  server.maxConnections = 64;
  server.on('error', (error) => log.warn({ err: error }, 'the form of the Wi-Fi does not answer'));
  server.listen(port, address);
  return server;
};
