/** The connection to the hub: kept for ever, never waited for. */
import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nkeys } from '@nats-io/transport-node';
import { describe, expect, test, vi } from 'vitest';
import { openHub } from '../../service/cli/fleet/hub.ts';
import { fleetBox } from '../../service/contract/fleet.ts';
import { pauseAfter } from '../../service/fleet/connection.ts';
import { connectFault, openLine } from '../../service/platform/nats.ts';
import { hasNats, startHub, startNats } from '../support/nats.ts';
import { patience } from '../support/observe.ts';
import { freePort } from '../support/ports.ts';
import { untranslated } from '../support/sentences.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { becomes as becomesSuch, healthOf, startMember, statusOf } from './support.ts';

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

test.each([
  ['nats://192.0.2.1:9', true],
  ['ws://hub.invalid:9', true],
  ['tls://192.0.2.1:9', false],
  ['nats://127.0.0.1:9', false],
])('of %s it is said that nothing proves the hub: %s', async (url, isTold) => {
  const service = await startTestService({ env: { SIGNAGE_FLEET_URL: url } });
  const { status, warnings } = await healthOf(service);
  const told = `Nothing proves that ${url} is the hub of the fleet: a host on the way can command this site and change its content. Use ${url.startsWith('ws:') ? 'wss' : 'tls'}://.`;
  expect(warnings.filter((each) => each.includes('proves'))).toEqual(isTold ? [told] : []);
  expect(status).toBe('ok');
  expect(untranslated({ warnings })).toEqual([]);
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
    const hub = await startHub({ init: false });
    const credentials = await hub.credentials('Wien_1');
    await hub.kill();
    const env = { SIGNAGE_FLEET_URL: hub.url, SIGNAGE_SITE: 'Wien_1', SIGNAGE_FLEET_CREDENTIALS: credentials };
    const service = await startTestService({ env });
    await becomes(service, 'away');
    await hub.start();
    await becomes(service, 'unprepared');
    const { warnings, status: state } = await healthOf(service);
    expect(warnings.join()).toContain('signage fleet init');
    expect(state).toBe('degraded');
    const nats = await hub.headOffice();
    await openHub(nats).init(null);
    await becomes(service, 'connected');
    const { nodeId } = await healthOf(service);
    const status = await statusOf(nats);
    const read = async () => (await status.get(`Wien_1.${nodeId}`))?.json<object>() ?? {};
    await expect.poll(read, patience).toMatchObject({ nodeId, site: 'Wien_1', status: 'ok', connections: 0 });
    expect(Object.keys(await read()).sort()).toEqual(Object.keys(fleetBox.shape).sort());
  });

  test('a hub that is killed and comes back is found again, and learns what has changed meanwhile', async () => {
    const hub = await startHub();
    const service = await startMember(hub);
    await hub.kill();
    await becomes(service, 'away');
    service.writeContent('not json');
    await vi.waitFor(async () => expect((await healthOf(service)).status).toBe('degraded'), patience);
    await hub.start();
    await becomes(service, 'connected');
    const { nodeId } = await healthOf(service);
    const status = await statusOf(await hub.headOffice());
    await vi.waitFor(async () => {
      const entry = await status.get(`default.${nodeId}`);
      expect(entry?.json()).toMatchObject({ status: 'degraded', warnings: [expect.stringContaining('content.json')] });
    }, patience);
  });

  test('credentials of another site, and a clock that is an hour off, are told', async () => {
    const hub = await startHub();
    const credentials = await hub.credentials('Graz');
    const env = { SIGNAGE_FLEET_URL: hub.url, SIGNAGE_SITE: 'Wien', SIGNAGE_FLEET_CREDENTIALS: credentials };
    const service = await startTestService({ env });
    await becomes(service, 'unprepared');
    expect((await healthOf(service)).warnings.join()).toContain('are those of the site Graz, and this is Wien');
    const fast = await startMember(hub, { wall: () => Date.now() + 3_600_000 });
    const warnings = async () => (await healthOf(fast)).warnings.join();
    await expect.poll(warnings, patience).toContain('60 minutes ahead of that of the hub');
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
    const hub = await startNats(config);
    const url = `${scheme}://${userinfo}127.0.0.1:${port ?? hub.port}`;
    const service = await startTestService({ env: { SIGNAGE_FLEET_URL: url } });
    await becomes(service, 'unprepared');
  });

  test('with tls:// nothing is sent before TLS, and what is wrong with the hub is said in words', async () => {
    const folder = temporaryFolder();
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
    const authority = ['-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.crt'];
    openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...authority);
    const certify = (name: string, san: string, days: string) => {
      openssl(
        'req',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-subj',
        `/CN=${name}`,
        '-keyout',
        `${name}.key`,
        '-out',
        `${name}.csr`,
      );
      writeFileSync(join(folder, 'ext'), `subjectAltName=${san}`);
      const signing = [
        '-CA',
        'ca.crt',
        '-CAkey',
        'ca.key',
        '-CAcreateserial',
        '-out',
        `${name}.crt`,
        '-extfile',
        'ext',
      ];
      openssl('x509', '-req', '-in', `${name}.csr`, ...signing, '-days', days);
      return `tls { cert_file: "${folder}/${name}.crt", key_file: "${folder}/${name}.key" }`;
    };
    const servers = {
      right: await startNats(certify('right', 'IP:127.0.0.1', '2')),
      // Node takes localhost for the name of an address, where it is not told another one.
      named: await startNats(certify('named', 'DNS:localhost', '2')),
      old: await startNats(certify('old', 'IP:127.0.0.1', '-1')),
      plain: await startNats(),
    };
    /** Of each, in a process that trusts what `env` says. */
    const faultsAt = async (hubs: readonly { port: number }[], env: Record<string, string>): Promise<string[]> => {
      const script = `import { openLine, connectFault } from ${JSON.stringify(join(import.meta.dirname, '../../service/platform/nats.ts'))};
        const faultAt = (port) => openLine({ url: 'tls://user:word@127.0.0.1:' + port, credentials: null }, 'test').then((line) => line.close(), connectFault);
        Promise.all(${JSON.stringify(hubs.map(({ port }) => port))}.map(faultAt)).then((faults) => console.log(JSON.stringify(faults.map(String))));`;
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '-e', script],
        {
          env: { PATH: process.env.PATH, ...env },
          cwd: join(import.meta.dirname, '../..'),
        },
      );
      return JSON.parse(stdout);
    };
    const trusting = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt') };
    const { right, named, old, plain } = servers;
    expect(await Promise.all([faultsAt([right, named, old, plain], trusting), faultsAt([right], {})])).toEqual([
      [
        'undefined',
        'has a certificate for another name than that of the URL',
        'has a certificate that has expired',
        'does not offer TLS, which the URL asks for',
      ],
      ['has a certificate of an authority that is not trusted here'],
    ]);
  });

  test(
    'a host in between that offers no TLS gets no password, and one that says nothing is given up with its socket',
    walk,
    async () => {
      const heard: string[] = [];
      const open = new Set<Socket>();
      let greeting = 'INFO {"server_id":"x","version":"2.10.27","max_payload":1048576,"nonce":"abc"}\r\n';
      const server = createServer((socket) => {
        open.add(socket);
        socket.on('close', () => open.delete(socket)).on('error', () => undefined);
        socket.on('data', (data) => heard.push(String(data)));
        socket.write(greeting);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const address = `127.0.0.1:${port}`;
      const line = (url: string) => openLine({ url, credentials: null }, 'test').catch(connectFault);
      expect(await line(`tls://user:word@${address}`)).toBe('does not offer TLS, which the URL asks for');
      expect(heard).toEqual([]);
      greeting = '';
      const begun = performance.now();
      expect(await line(`nats://user:word@${address}`)).toBe('does not answer');
      expect(performance.now() - begun).toBeLessThan(9_500);
      await expect.poll(() => open.size, patience).toBe(0);
      server.close();
    },
  );

  test('a file with the seed of an nkey alone is enough, and one of another user is refused', walk, async () => {
    const [own, other] = [nkeys.createUser(), nkeys.createUser()];
    const hub = await startNats(`authorization { users: [ { nkey: ${own.getPublicKey()} } ] }`);
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
