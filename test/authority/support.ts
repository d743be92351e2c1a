/** Boxes of a site that has an authority, and what they answer with over TLS. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect, vi } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { operatorSecret } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

export const until = <T>(check: () => Promise<T> | T): Promise<T> =>
  vi.waitFor(check, { timeout: 15_000, interval: 20 });

export const httpsSettings = { SIGNAGE_SHARED_SECRET: operatorSecret, SIGNAGE_HTTPS: 'on', SIGNAGE_HTTPS_PORT: '0' };

type Setup = NonNullable<Parameters<typeof startTestService>[0]>;

export const startBox = (
  { env = {}, ...setup }: Setup = {},
  ...onEnd: [onEnd?: (end: () => void | Promise<void>) => void]
): Promise<TestService> => startTestService({ ...setup, env: { ...httpsSettings, ...env } }, ...onEnd);

export const healthOf = async (box: TestService): Promise<Health> =>
  (await (await box.get('/healthz')).json()) as Health;

/** The root that the box gives to people; waits until there is one. */
export const rootOf = (box: TestService): Promise<X509Certificate> =>
  until(async () => {
    const response = await fetch(`${box.url}/trust/root.crt`);
    expect(response.status).toBe(200);
    return new X509Certificate(Buffer.from(await response.arrayBuffer()));
  });

export const portOf = (box: TestService): Promise<number> =>
  until(async () => {
    const { https } = await healthOf(box);
    expect(https?.port).toEqual(expect.any(Number));
    return https?.port ?? 0;
  });

/** The certificates of a TLS server, the leaf first. @throws Error if a client that trusts `ca` alone refuses it */
export const shownBy = async (
  port: number,
  ca: X509Certificate | null,
  servername?: string,
): Promise<X509Certificate[]> => {
  const socket = connect({
    host: '127.0.0.1',
    port,
    ...(servername !== undefined && { servername }),
    ...(ca === null ? { rejectUnauthorized: false } : { ca: ca.toString() }),
  });
  await once(socket, 'secureConnect');
  const chain: X509Certificate[] = [];
  for (let each = socket.getPeerCertificate(true); ; each = each.issuerCertificate) {
    chain.push(new X509Certificate(each.raw));
    if (each.issuerCertificate === undefined || each.issuerCertificate === each) break;
  }
  socket.destroy();
  return chain;
};
