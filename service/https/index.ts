/** HTTPS: the same answers over TLS, on a port of its own. Loaded only where SIGNAGE_HTTPS is on. */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { SiteAuthority } from '../authority/index.ts';
import type { Health } from '../contract/health.ts';
import { MAX_BACKLOG, serverLimits } from '../http/server.ts';
import type { Listening, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import { chainOf, type Pair } from '../platform/x509.ts';
import { readPair } from './files.ts';
import { createFirstRoot } from './first-root.ts';
import { createOwn, namesOf, type Own } from './own.ts';

interface Dependencies {
  authority: SiteAuthority;
  peers: Pick<Peers, 'alive' | 'ask' | 'catchUp'>;
}

const HANDSHAKE_MS = 10_000;

/** Why the port does not answer, as a sentence. */
const portIssue = (port: number, { code }: NodeJS.ErrnoException): string =>
  code === 'EADDRINUSE'
    ? `HTTPS does not answer: port ${port} is taken by another program; set SIGNAGE_HTTPS_PORT to a free one.`
    : `HTTPS does not answer: it cannot listen on port ${port} (${code}).`;

/** What to answer with, or why a new certificate is not used: `reason` completes "HTTPS does not use the certificate: ". */
type Found = { pair: Pair; own?: Own } | { reason: string };

export const createHttps = (context: ServiceContext, { authority, peers }: Dependencies) => {
  const { options, machineName, now, tempo, log } = context;
  const { httpsPort, tlsCert, tlsKey, host, publicUrl, allowedHosts } = options;
  const files = tlsCert !== null && tlsKey !== null ? { tlsCert, tlsKey } : null;
  /** Of the two settings the one that the other one lacks; null: none. */
  const lacking = (tlsCert === null) === (tlsKey === null) ? null : `SIGNAGE_TLS_${tlsCert === null ? 'CERT' : 'KEY'}`;
  const findOwn = createOwn(context, authority);
  const firstRoot = files !== null ? null : createFirstRoot(context, { authority, peers });
  /** The newest good pair. */
  let pair: Pair | null = null;
  /** What is known of it, if it is of this box. */
  let own: Own | null = null;
  let server: Server | null = null;
  let reason: string | null = null;
  let problem: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  let isStale = false;
  let isClosing = false;
  let wake = (): void => undefined;

  authority.onChange(() => {
    isStale = true;
    wake();
  });

  const find = async (): Promise<Found> => {
    if (files !== null) return readPair(files, now());
    try {
      const found = await findOwn(namesOf({ machineName, publicUrl, allowedHosts }, networkInterfaces()));
      return { pair: found.pair, own: found };
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
    isStale = false;
    await firstRoot?.consider();
    const found = await find();
    if ('reason' in found && found.reason !== reason) log.warn({ reason: found.reason }, 'the certificate is not used');
    reason = 'reason' in found ? found.reason : null;
    if ('pair' in found && (found.pair.cert !== pair?.cert || found.pair.key !== pair.key)) {
      server?.setSecureContext({ ...found.pair, minVersion: 'TLSv1.2' });
      ({ pair } = found);
    }
    if ('own' in found) ({ own = null } = found);
    if (pair !== null && server === null && !isClosing) await listen(pair, at);
    const [signing] = authority.known();
    // Only what this box answers with is given to people.
    if (signing !== undefined && own?.signer != null) authority.show(signing.id);
  };

  /** {@link look}, which TLS may end with a pair that it refuses: the screens play on, and the next look tries again. */
  const tryToLook = (at: Listening): Promise<void> =>
    look(at).catch((error: NodeJS.ErrnoException) => {
      log.error({ err: error }, 'the certificate is not used');
      reason = `TLS refuses it (${error.code ?? error.message})`;
    });

  const port = (): number | null => (server?.address() as AddressInfo | null)?.port ?? null;
  const fields = (): Pick<Health, 'https'> => {
    const [certificate = null] = pair === null ? [] : (chainOf(pair.cert) ?? []);
    return {
      https: {
        port: port(),
        source: files !== null ? 'files' : own?.signer ? 'site' : 'box',
        fingerprint: certificate?.fingerprint256 ?? null,
        notAfter: certificate === null ? null : new Date(certificate.validTo).toISOString(),
        root: authority.shown()?.root.fingerprint256 ?? null,
        leftOut: [...(own?.leftOut ?? [])],
      },
    };
  };

  /** That people who installed the root of the site are not served by it yet. */
  const otherRoot = (): string[] => {
    const [certificate] = pair === null ? [] : (chainOf(pair.cert) ?? []);
    const isOther = own?.signer != null && own.signer.id !== authority.known()[0]?.id;
    if (!isOther || certificate === undefined) return [];
    const day = new Date(certificate.validTo).toISOString().slice(0, 10);
    return [`HTTPS answers until ${day} with a certificate of another root of the site, which lost to an older one.`];
  };

  return {
    /** Where it answers; null: it does not. */
    port,
    start: (at: Listening) => {
      const again = async (): Promise<void> => {
        await tryToLook(at);
        const waitMs = isStale ? 0 : Math.min(tempo.https.look, own?.againMs ?? tempo.https.look);
        if (isClosing) return;
        const next = (): void => {
          clearTimeout(timer);
          wake = () => undefined;
          looking = again();
        };
        wake = next;
        timer = setTimeout(next, waitMs).unref();
      };
      looking = again();
    },
    health: () => ({
      fields: fields(),
      issues: {
        https: [
          ...[lacking && `${lacking} is not set`, reason].flatMap((why) =>
            why === null ? [] : `HTTPS does not use the certificate: ${why}.`,
          ),
          ...(problem === null ? [] : [problem]),
          ...(firstRoot?.issues() ?? []),
        ],
      },
      notes: otherRoot(),
    }),
    close: async () => {
      isClosing = true;
      wake = () => undefined;
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
