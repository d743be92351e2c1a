/** A service that also answers over TLS, through real connections. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { type RequestOptions, request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { pino } from 'pino';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Health } from '../../service/contract/health.ts';
import { faultOf } from '../../service/https/files.ts';
import { createHttps } from '../../service/https/index.ts';
import type { ServiceContext } from '../../service/module.ts';
import { makeCertificate as ownPair } from '../../service/platform/x509.ts';
import { shareTestService, startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';
import { type Certificate, makeCertificate, writePair } from './certificates.ts';

const healthOf = async (service: TestService): Promise<Health> =>
  (await service.get('/healthz')).json() as Promise<Health>;

const until = <T>(check: () => Promise<T> | T): Promise<T> => vi.waitFor(check, { timeout: 15_000, interval: 20 });

const httpsPort = (service: TestService): Promise<number> =>
  until(async () => {
    const { https } = await healthOf(service);
    expect(https?.port).toEqual(expect.any(Number));
    return https?.port ?? 0;
  });

const ask = async (path: string, options: RequestOptions): Promise<{ status: number; body: string }> => {
  const asked = request({ host: '127.0.0.1', path, agent: false, ...options }).end();
  const [answer] = await once(asked, 'response');
  let body = '';
  for await (const chunk of answer) body += String(chunk);
  return { status: answer.statusCode, body };
};

/** What a client that trusts nothing in particular is shown. */
const shown = async (port: number): Promise<X509Certificate> => {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  return new X509Certificate(raw);
};

let root: Certificate;
let leaf: Certificate;
beforeAll(async () => {
  root = await makeCertificate('root');
  leaf = await makeCertificate('leaf', root);
});

describe('without files', () => {
  const service = shareTestService({ env: { SIGNAGE_HTTPS: 'on', SIGNAGE_HTTPS_PORT: '0' } });
  const ownCertificate = (): string => readFileSync(join(service().dataDir, 'https.pem'), 'latin1');

  test('the box answers with a certificate of its own, which names its addresses', async () => {
    const port = await httpsPort(service());
    const { status, body } = await ask('/healthz', { port, ca: ownCertificate() });
    expect(status).toBe(200);
    const { https, warnings } = JSON.parse(body) as Health;
    expect(https).toMatchObject({ port, source: 'box', fingerprint: (await shown(port)).fingerprint256 });
    expect(warnings.filter((each) => each.includes('HTTPS'))).toEqual([]);
    expect((await shown(port)).subjectAltName).toContain('DNS:localhost, IP Address:127.0.0.1');
    expect(statSync(join(service().dataDir, 'https.pem')).mode & 0o777).toBe(0o600);
  });

  test('sockets, Host and Origin checks are those of http', async () => {
    const port = await httpsPort(service());
    // Without it Node compares the certificate with the Host header.
    const trust = { port, ca: ownCertificate(), servername: 'localhost' };
    expect((await ask('/healthz', { ...trust, headers: { Host: 'evil.example.com' } })).status).toBe(421);
    const options = { method: 'POST', headers: { Origin: `http://127.0.0.1:${port + 1}` } };
    expect((await ask('/api/auth/page', { ...trust, ...options })).status).toBe(403);
    const socket = new WebSocket(`wss://127.0.0.1:${port}/api/screens/lobby/socket`, 'signage.v1', trust);
    const [error] = await once(socket, 'error');
    expect(String(error)).toContain('404');
    const landing = new WebSocket(`wss://127.0.0.1:${port}/api/onboarding/socket?deviceId=a`, trust);
    const [message] = await once(landing, 'message');
    expect(JSON.parse(String(message))).toMatchObject({ type: 'status' });
    landing.close();
    await once(landing, 'close');
  });

  test('addresses in answers have the scheme and the port of the request', async () => {
    const port = await httpsPort(service());
    const headers = { Host: `signage.local:${port}`, 'Content-Type': 'application/json' };
    const { body } = await ask('/', { port, ca: ownCertificate(), servername: 'localhost', headers });
    expect(body).toContain(`https://signage.local:${port}/onboard`);
    const plain = await (await fetch(`${service().url}/`)).text();
    expect(plain).not.toContain('https://signage.local');
  });

  test('a client that speaks http to the port, or breaks off the handshake, disturbs nobody', async () => {
    const port = await httpsPort(service());
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
    await expect(ask('/healthz', { port })).rejects.toThrow(/self-signed/);
    expect((await ask('/healthz', { port, ca: ownCertificate() })).status).toBe(200);
  });
});

const flipped = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

test.each<[string, (pem: string) => string]>([
  ['cut off', (pem) => pem.slice(0, -60)],
  // OpenSSL takes the first one for the key of the certificate.
  ['changed in its number', (pem) => flipped(pem, pem.indexOf('-----BEGIN PRIVATE KEY-----') + 28 + 65)],
  ['changed in its form', (pem) => flipped(pem, pem.indexOf('-----BEGIN PRIVATE KEY-----') + 28)],
])('a box whose kept key is %s plays on, and answers with a new certificate', async (_, damage) => {
  const env = { SIGNAGE_HTTPS: 'on', SIGNAGE_HTTPS_PORT: '0' };
  const dataDir = temporaryFolder();
  const first = await startTestService({ env, dataDir });
  const before = await shown(await httpsPort(first));
  await first.close();
  const path = join(dataDir, 'https.pem');
  writeFileSync(path, damage(readFileSync(path, 'latin1')));
  const service = await startTestService({ env, dataDir });
  const port = await httpsPort(service);
  expect((await ask('/healthz', { port, ca: readFileSync(path, 'latin1') })).status).toBe(200);
  const { https } = await healthOf(service);
  expect(https?.fingerprint).toBe((await shown(port)).fingerprint256);
  expect(https?.fingerprint).not.toBe(before.fingerprint256);
});

test('a pair that TLS refuses is a warning, and the next look takes a good one', async () => {
  const good = await ownPair({ commonName: 'hall', notBefore: Date.now(), notAfter: Date.now() + 86_400_000 });
  const signed = [{ cert: good.cert, key: 'no key' }, good];
  const https = createHttps(
    {
      options: {
        httpsPort: 0,
        host: '127.0.0.1',
        tlsCert: null,
        tlsKey: null,
        publicUrl: null,
        allowedHosts: [],
        sharedSecret: null,
      },
      ...{
        dirs: { data: temporaryFolder() },
        machineName: 'hall',
        ids: { nodeId: 'a' },
        log: pino({ level: 'silent' }),
      },
      ...{ now: Date.now, monotonicNow: () => performance.now(), tempo: testTempo },
    } as unknown as ServiceContext,
    {
      authority: {
        ...{ onChange: () => undefined, shown: () => null, show: () => undefined, known: () => [{ signer: good }] },
        permits: (_: unknown, names: string[]) => Promise.resolve({ kept: names, leftOut: [] }),
        sign: () => Promise.resolve(signed.shift() ?? good),
      } as never,
      peers: {} as never,
    },
  );
  onTestFinished(https.close);
  https.start({ serve: () => undefined, maxConnections: 100 } as never);
  await until(() => expect(https.health().issues.https.join()).toMatch(/does not use the certificate: TLS refuses it/));
  await until(() => expect(https.port()).toEqual(expect.any(Number)));
  expect(https.health().issues.https).toEqual([]);
});

describe('with files', () => {
  test('they are used, read again after a change, and kept where the next ones are wrong', async () => {
    const folder = temporaryFolder();
    const settings = writePair(folder, { cert: leaf.cert + root.cert, key: leaf.key });
    const service = await startTestService({ env: { SIGNAGE_HTTPS: 'on', SIGNAGE_HTTPS_PORT: '0', ...settings } });
    const port = await httpsPort(service);
    expect((await ask('/healthz', { port, ca: root.cert })).status).toBe(200);

    const next = await makeCertificate('next', root);
    writePair(folder, { cert: next.cert + root.cert, key: next.key });
    await until(async () => expect((await shown(port)).subject).toBe('CN=next'));

    writePair(folder, { cert: leaf.cert + root.cert, key: next.key });
    await until(async () => {
      const { warnings, status } = await healthOf(service);
      expect(status).toBe('degraded');
      expect(warnings.join('\n')).toMatch(/HTTPS does not use the certificate: the key in \S+key\.pem is not that of/);
    });
    expect((await shown(port)).subject).toBe('CN=next');
  });
});

test('a port that is taken is a warning, and is tried again', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const env = { SIGNAGE_HTTPS: 'on', SIGNAGE_HTTPS_PORT: String(port), SIGNAGE_TLS_KEY: '/nosuch.pem' };
  const service = await startTestService({ env });
  await until(async () => expect((await healthOf(service)).warnings.join('\n')).toContain(`port ${port} is taken`));
  taken.close();
  expect(await httpsPort(service)).toBe(port);
  // Half a pair is as good as none.
  const { warnings, https } = await healthOf(service);
  expect(warnings).toContain('HTTPS does not use the certificate: SIGNAGE_TLS_CERT is not set.');
  expect(https?.source).toBe('box');
});

test('the baseline variant ignores the settings, and says so', async () => {
  const service = await startTestService({ env: { SIGNAGE_VARIANT: 'baseline', SIGNAGE_HTTPS: 'on' } });
  const { warnings, https } = await healthOf(service);
  expect(warnings).toContain('SIGNAGE_HTTPS is ignored in the baseline variant');
  expect(https).toBeUndefined();
});

test('what is wrong with a pair is told', async () => {
  const paths = { tlsCert: 'cert.pem', tlsKey: 'key.pem' };
  const fault = (cert: string, key: string, now = Date.now()) => faultOf({ cert, key }, paths, now);
  const other = await makeCertificate('other');
  const secret = createPrivateKey(leaf.key).export({
    format: 'pem',
    type: 'pkcs8',
    cipher: 'aes-256-cbc',
    passphrase: 'x',
  });
  expect(fault(leaf.cert + root.cert, leaf.key)).toBe(null);
  expect(fault(leaf.cert, leaf.key)).toBe(null);
  expect(fault('', leaf.key)).toBe('cert.pem holds no certificate in PEM');
  expect(fault(leaf.cert, 'key')).toBe('key.pem holds no private key in PEM');
  expect(fault(leaf.cert, String(secret))).toBe('the key in key.pem is encrypted; store it without a passphrase');
  expect(fault(leaf.cert, other.key)).toBe('the key in key.pem is not that of the certificate');
  expect(fault(leaf.cert, leaf.key, Date.now() + 31 * 86_400_000)).toMatch(/^the certificate "CN=leaf" expired at /);
  expect(fault(leaf.cert + other.cert, leaf.key)).toBe(
    '"CN=leaf" is not signed by "CN=other", which follows it in cert.pem',
  );
});
