/** HTTPS: the same answers over TLS, on a port of its own. Loaded only where SIGNAGE_HTTPS is on. */
import { X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Health } from '../contract/health.ts';
import { MAX_BACKLOG, serverLimits } from '../http/server.ts';
import type { Listening, Module, ServiceContext } from '../module.ts';
import { type Pair, readPair, type Verdict } from './files.ts';
import { createOwn, namesOf } from './own.ts';

const HANDSHAKE_MS = 10_000;

/** Why the port does not answer, as a sentence. */
const portIssue = (port: number, { code }: NodeJS.ErrnoException): string =>
  code === 'EADDRINUSE'
    ? `HTTPS does not answer: port ${port} is taken by another program; set SIGNAGE_HTTPS_PORT to a free one.`
    : `HTTPS does not answer: it cannot listen on port ${port} (${code}).`;

/** Listens beside the other port. */
export interface Https extends Module {
  /** Where it answers; null: it does not. */
  port(): number | null;
}

export const createHttps = ({ options, machineName, now, tempo, log }: ServiceContext): Https => {
  const { httpsPort, tlsCert, tlsKey, host, publicUrl, allowedHosts, dataDir } = options;
  const hasFiles = tlsCert !== null || tlsKey !== null;
  const own = createOwn({ dataDir, machineName });
  /** The newest good pair. */
  let pair: Pair | null = null;
  let server: Server | null = null;
  let reason: string | null = null;
  let problem: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  let isClosing = false;

  const findPair = async (): Promise<Verdict> => {
    if (hasFiles) return readPair({ tlsCert, tlsKey }, now());
    try {
      return { pair: await own(namesOf({ machineName, publicUrl, allowedHosts }, networkInterfaces()), now()) };
    } catch (error) {
      return { reason: `it cannot be made (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})` };
    }
  };

  const listen = async (given: Pair, { serve, maxConnections }: Listening): Promise<void> => {
    const next = createServer({ ...serverLimits, ...given, handshakeTimeout: HANDSHAKE_MS, minVersion: 'TLSv1.2' });
    serve(next);
    // The descriptors of the process are those of the other port, too.
    next.maxConnections = Math.floor(maxConnections / 4);
    try {
      await new Promise<void>((resolve, reject) => {
        next.once('error', reject);
        next.listen({ host, port: httpsPort, backlog: MAX_BACKLOG }, resolve);
      });
    } catch (error) {
      problem = portIssue(httpsPort, error as NodeJS.ErrnoException);
      return;
    }
    next.on('error', (error) => log.error({ err: error }, 'the listening socket of HTTPS failed'));
    problem = null;
    server = next;
    log.info({ port: (next.address() as AddressInfo).port }, 'HTTPS answers');
  };

  /** Takes a new certificate, and listens where the service does not do so yet. */
  const look = async (at: Listening): Promise<void> => {
    const verdict = await findPair();
    if ('reason' in verdict && verdict.reason !== reason)
      log.warn({ reason: verdict.reason }, 'the certificate is not used');
    reason = 'reason' in verdict ? verdict.reason : null;
    if ('pair' in verdict && (verdict.pair.cert !== pair?.cert || verdict.pair.key !== pair.key)) {
      ({ pair } = verdict);
      server?.setSecureContext({ ...pair, minVersion: 'TLSv1.2' });
    }
    if (pair !== null && server === null && !isClosing) await listen(pair, at);
  };

  const port = (): number | null => (server?.address() as AddressInfo | null)?.port ?? null;
  const fields = (): Pick<Health, 'https'> => {
    const certificate = pair === null ? null : new X509Certificate(pair.cert);
    return {
      https: {
        port: port(),
        source: hasFiles ? 'files' : 'box',
        fingerprint: certificate?.fingerprint256 ?? null,
        notAfter: certificate === null ? null : new Date(certificate.validTo).toISOString(),
      },
    };
  };

  return {
    port,
    start: (at) => {
      const again = async (): Promise<void> => {
        await look(at);
        if (!isClosing) timer = setTimeout(() => (looking = again()), tempo.https.look).unref();
      };
      looking = again();
    },
    health: () => ({
      fields: fields(),
      issues: {
        https: [
          ...(reason === null ? [] : [`HTTPS does not use the certificate: ${reason}.`]),
          ...(problem === null ? [] : [problem]),
        ],
      },
    }),
    close: async () => {
      isClosing = true;
      clearTimeout(timer);
      await looking;
      const open = server;
      if (open === null) return;
      await new Promise((resolve) => {
        open.close(resolve);
        open.closeIdleConnections();
      });
    },
  };
};
