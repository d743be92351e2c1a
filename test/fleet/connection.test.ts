/** The connection to the hub: kept for ever, never waited for. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { describe, expect, test, vi } from 'vitest';
import { fleetBox } from '../../service/contract/fleet.ts';
import { pauseAfter } from '../../service/fleet/connection.ts';
import { hasNats, prepareHub, startHub } from '../support/nats.ts';
import { patience } from '../support/observe.ts';
import { freePort } from '../support/ports.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { becomes as becomesSuch, healthOf } from './support.ts';

const becomes = (service: TestService, status: string): Promise<void> => becomesSuch(service, { status });

test('the pause before the next attempt grows to 20 s, and no two sites take the same', () => {
  expect(pauseAfter(0, 0)).toBe(250);
  expect(pauseAfter(0, 1)).toBe(2_250);
  expect(pauseAfter(100, 1)).toBe(20_250);
  expect(pauseAfter(100, 0.5)).toBe(10_250);
});

test('a box without a fleet says nothing of one', async () => {
  const service = await startTestService();
  expect(await healthOf(service)).not.toHaveProperty('fleet');
});

test('a box starts without its hub, says so, and is as well as before', async () => {
  const url = `nats://127.0.0.1:${await freePort()}`;
  const service = await startTestService({ env: { SIGNAGE_FLEET_URL: url } });
  await vi.waitFor(async () => {
    const { fleet, status, warnings } = await healthOf(service);
    expect(fleet).toMatchObject({ status: 'away', url, reason: 'cannot be reached' });
    expect(warnings).toContain(`The hub of the fleet at ${url} cannot be reached; the site keeps running.`);
    expect(status).toBe('ok');
  }, patience);
});

test('credentials that are not there are named, and a user and a password are not', async () => {
  const path = join(temporaryFolder(), 'site.creds');
  const env = { SIGNAGE_FLEET_URL: 'nats://user:word@127.0.0.1:9', SIGNAGE_FLEET_CREDENTIALS: path };
  const service = await startTestService({ env });
  await vi.waitFor(async () => {
    const { fleet } = await healthOf(service);
    expect(fleet?.url).toBe('nats://127.0.0.1:9');
    expect(fleet?.reason).toBe(`is not asked: ${path}, which SIGNAGE_FLEET_CREDENTIALS names, cannot be read (ENOENT)`);
  }, patience);
  expect(service.log()).not.toContain('word');
});

describe.skipIf(!hasNats)('with a real nats-server', () => {
  test('a hub that comes late, without buckets, gets its status a moment after they are made', async () => {
    const hub = await startHub();
    await hub.kill();
    const service = await startTestService({ env: { SIGNAGE_FLEET_URL: hub.url, SIGNAGE_SITE: 'Wien_1' } });
    await becomes(service, 'away');
    await hub.start();
    await becomes(service, 'unprepared');
    expect((await healthOf(service)).warnings.join()).toContain('signage fleet init');
    const { status } = await prepareHub(await hub.client());
    await becomes(service, 'connected');
    const { nodeId } = await healthOf(service);
    const entry = await vi.waitFor(async () => {
      const found = await status.get(`Wien_1.${nodeId}`);
      expect(found).not.toBeNull();
      return found;
    }, patience);
    expect(entry?.json()).toMatchObject({ nodeId, site: 'Wien_1', status: 'ok', connections: 0 });
    expect(Object.keys(entry?.json() ?? {}).sort()).toEqual(Object.keys(fleetBox.shape).sort());
  });

  test('a hub that is killed and comes back is found again, and learns what has changed meanwhile', async () => {
    const hub = await startHub();
    const nats = await hub.client();
    const { status } = await prepareHub(nats);
    const service = await startTestService({ env: { SIGNAGE_FLEET_URL: hub.url } });
    await becomes(service, 'connected');
    await hub.kill();
    await becomes(service, 'away');
    service.writeContent('not json');
    await vi.waitFor(async () => expect((await healthOf(service)).status).toBe('degraded'), patience);
    await hub.start();
    await becomes(service, 'connected');
    const { nodeId } = await healthOf(service);
    await vi.waitFor(async () => {
      const entry = await status.get(`default.${nodeId}`);
      expect(entry?.json()).toMatchObject({ status: 'degraded', warnings: [expect.stringContaining('content.json')] });
    }, patience);
  });

  test.each<[string, (port: number) => { config: string; scheme: string; userinfo?: string; port?: number }]>([
    [
      'a user and a password in the URL',
      () => ({
        config: 'authorization { user: site, password: "pass word" }',
        scheme: 'nats',
        userinfo: 'site:pass%20word@',
      }),
    ],
    [
      'a token in the URL',
      () => ({ config: 'authorization { token: "s3cret" }', scheme: 'nats', userinfo: 's3cret@' }),
    ],
    [
      'WebSocket',
      (port) => ({ config: `websocket { listen: "127.0.0.1:${port}", no_tls: true }`, scheme: 'ws', port }),
    ],
  ])('a box connects with %s', async (_, setup) => {
    const { config, scheme, userinfo = '', port } = setup(await freePort());
    const hub = await startHub({ config });
    const url = `${scheme}://${userinfo}127.0.0.1:${port ?? hub.port}`;
    const service = await startTestService({ env: { SIGNAGE_FLEET_URL: url } });
    await becomes(service, 'unprepared');
  });

  test('a box connects with TLS, refuses a certificate of somebody else, and a server without TLS', async () => {
    const folder = temporaryFolder();
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, '-keyout', key, '-out', certificate],
      { stdio: 'ignore' },
    );
    const secure = await startHub({ config: `tls { cert_file: "${certificate}", key_file: "${key}" }` });
    const plain = await startHub();
    const reasonOf = async (port: number): Promise<string | null | undefined> => {
      const service = await startTestService({ env: { SIGNAGE_FLEET_URL: `tls://127.0.0.1:${port}` } });
      return vi.waitFor(async () => {
        const { fleet } = await healthOf(service);
        expect(fleet?.reason).not.toBe('has not been asked yet');
        return fleet?.reason;
      }, patience);
    };
    expect(await reasonOf(secure.port)).toBe('has a certificate that is not trusted');
    expect(await reasonOf(plain.port)).toBe('does not offer TLS, which the URL asks for');
  });

  test('a file with the seed of an nkey alone is enough, and one of another user is refused', async () => {
    const [own, other] = [nkeys.createUser(), nkeys.createUser()];
    const hub = await startHub({ config: `authorization { users: [ { nkey: ${own.getPublicKey()} } ] }` });
    const statusWith = async (user: typeof own, expected: object): Promise<void> => {
      const path = join(temporaryFolder(), 'site.creds');
      writeFileSync(
        path,
        `-----BEGIN USER NKEY SEED-----\n${Buffer.from(user.getSeed()).toString()}\n------END USER NKEY SEED------\n`,
      );
      const service = await startTestService({ env: { SIGNAGE_FLEET_URL: hub.url, SIGNAGE_FLEET_CREDENTIALS: path } });
      await vi.waitFor(async () => expect((await healthOf(service)).fleet).toMatchObject(expected), patience);
    };
    await statusWith(own, { status: 'unprepared' });
    await statusWith(other, { status: 'away', reason: 'refuses the credentials' });
  });
});
