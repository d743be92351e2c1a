/** Updates of the whole system: after each the box plays, and says which slot runs and what happened. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildBundle } from '../../../.scripts/image/bundle.ts';
import { layout } from '../../../.scripts/image/layout.ts';
import { run } from '../../install/deb.ts';
import { buildImage, GB, machineOf } from '../image.ts';
import { bind, type Machine, patience } from '../machine.ts';
import { work } from '../tree.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const updateKey = join(root, 'resources', 'update-key.pem');
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const feed = join(work, 'feed');
let machine: Machine;
/** The slot of version 2.0.0. */
let slot: string;
/** How many bytes of the bundle were sent. */
let sent = 0;

/** A certificate that signs itself, as PEM. */
const makeKeys = (name: string): { key: string; certificate: string } => {
  const [key, certificate] = [join(work, `${name}.key`), join(work, `${name}.pem`)];
  const words = ['req', '-x509', '-newkey', 'rsa:3072', '-nodes', '-days', '3650', '-subj', `/O=signage/CN=${name}`];
  run('openssl', ...words, '-keyout', key, '-out', certificate);
  return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') };
};
const [own, foreign] = [makeKeys('own'), makeKeys('foreign')];

const server = createServer(({ url = '' }, response) => {
  try {
    const body = readFileSync(join(feed, url.slice(1).split('?')[0] ?? ''));
    response.setHeader('Content-Length', body.length);
    response.end(body, () => {
      if (url.includes('.raucb')) sent = body.length;
    });
  } catch {
    response.writeHead(404).end();
  }
});

/** Puts a bundle with a slot into the feed. */
const offer = (version: string, image: string, keys = own): void => {
  rmSync(feed, { recursive: true, force: true });
  mkdirSync(feed);
  const folder = join(work, `bundle-${version}`);
  mkdirSync(folder);
  buildBundle(image, version, keys, folder, join(feed, `signage-player-${version}-amd64.raucb`));
  rmSync(folder, { recursive: true });
  const metadata = readFileSync(join(feed, 'latest-image.yml'));
  writeFileSync(join(feed, 'latest-image.yml.sig'), sign(null, metadata, privateKey).toString('base64'));
  sent = 0;
};

const system = async () => (await machine.health()).kiosk?.system;
const restart = async (): Promise<void> => {
  await machine.cutPower();
  await machine.powerOn();
};

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  mkdirSync(feed);
  writeFileSync(updateKey, publicKey.export({ type: 'spki', format: 'pem' }));
  const keyring = join(work, 'own.pem');
  const first = buildImage(join(work, 'first'), ['--keyring', keyring, '--version', '1.0.0']);
  const second = join(work, 'second');
  buildImage(second, ['--keyring', keyring, '--version', '2.0.0'], own);
  const bundle = readdirSync(second).find((name) => name.endsWith('.raucb')) ?? '';
  run('unsquashfs', '-quiet', '-no-progress', '-dest', join(work, 'unpacked'), join(second, bundle));
  slot = join(work, 'unpacked', 'system.img');

  const settings = join(work, 'config.json');
  const { port } = server.address() as AddressInfo;
  const updates = { feed: `http://10.0.2.2:${port}/`, hours: '00:00-00:00' };
  writeFileSync(settings, JSON.stringify({ kiosk: { updates } }));
  run('mcopy', '-o', '-i', `${first}@@${layout.partitions.config.start}`, settings, '::/config.json');
  machine = await machineOf({ disk: first, size: 9 * GB, firmware: 'uefi' }, 'updates', [], { reachesHost: true });
});

afterAll(async () => {
  await machine?.cutPower();
  server.close();
  rmSync(updateKey, { force: true });
});

it('a fresh box starts from its first system', async () => {
  await machine.powerOn();
  const code = await machine.showsCode();
  expect(await bind(machine, new URL(code).searchParams.get('deviceId') ?? '')).toBe(true);
  await machine.plays();
  expect(await system()).toEqual({ slot: 'A', version: '1.0.0', onTrial: false, left: null, fault: null });
});

it('a bundle that plays is kept, with the data', async () => {
  offer('2.0.0', slot);
  await restart();
  await expect.poll(system, patience).toMatchObject({ slot: 'B', version: '2.0.0', onTrial: true });
  await machine.plays();
  await expect.poll(system, patience).toMatchObject({ slot: 'B', onTrial: false, left: null });
});

it('one that is signed with a foreign key is refused, and told', async () => {
  offer('3.0.0', slot, foreign);
  await restart();
  await expect.poll(async () => (await system())?.fault, patience).toMatch(/3\.0\.0.*signature verification failed/);
  await machine.plays();
  expect((await machine.health()).warnings.join()).toContain('was not installed');
});

it('one that boots and does not play is given up after three starts', async () => {
  const tree = join(work, 'broken');
  run('unsquashfs', '-quiet', '-no-progress', '-dest', tree, slot);
  writeFileSync(join(tree, 'usr/lib/signage-player/session'), '#!/bin/sh\nexit 1\n');
  const broken = join(work, 'broken.squashfs');
  run('mksquashfs', tree, broken, '-quiet', '-no-progress', '-comp', 'gzip', '-Xcompression-level', '1');
  rmSync(tree, { recursive: true });
  offer('3.0.0', broken);
  rmSync(broken);
  await restart();
  await expect.poll(() => sent, patience).toBeGreaterThan(0);
  // It is written, started three times, and each of them is given its time.
  await expect.poll(system, patience).toMatchObject({ slot: 'B', version: '2.0.0', left: { slot: 'A', why: 'trial' } });
  await machine.plays();
});

it('one that does not boot is given up at once', async () => {
  const noise = join(work, 'noise.img');
  writeFileSync(noise, randomBytes(2 ** 22));
  offer('4.0.0', noise);
  await restart();
  await expect.poll(system, patience).toMatchObject({ slot: 'B', left: { slot: 'A', why: 'unreadable' } });
  await machine.plays();
});

it('a power cut while it is written leaves the box as it was', async () => {
  offer('5.0.0', slot);
  await restart();
  await expect.poll(() => sent, patience).toBeGreaterThan(0);
  // It is checked and ordered within some seconds, and written for longer than that.
  await wait(25_000);
  rmSync(feed, { recursive: true });
  await restart();
  await machine.plays();
  expect(await system()).toMatchObject({ slot: 'B', version: '2.0.0', onTrial: false });
  // It was never tried, so it is not barred, though the one before it failed.
  expect((await machine.health()).kiosk?.updates.failed).not.toContain('5.0.0');
});

it('a disk that is full of media plays on, says what it has no room for, and takes a system', async () => {
  const before = await system();
  const media = join(root, 'resources', 'demo', 'media');
  const picture = readFileSync(join(media, readdirSync(media).find((name) => name.endsWith('.jpg')) ?? ''));
  let status = 201;
  for (let number = 0; status === 201; number += 1) {
    // What follows a picture in its file is not looked at; each file has other bytes.
    const body = Buffer.concat([picture, randomBytes(2 ** 27)]);
    const headers = { 'If-None-Match': '*' };
    const signal = AbortSignal.timeout(600_000);
    ({ status } = await machine.request(`/api/media/fill-${number}.jpg`, { method: 'PUT', headers, body, signal }));
  }
  expect(status).toBe(507);

  const large = join(work, 'large.img');
  const { size } = statSync(slot);
  const { free } = (await machine.health()).machine.disk;
  const bytes = readFileSync(slot);
  for (let there = 0; there <= size + free; there += size) appendFileSync(large, bytes);
  offer('6.0.0', large);
  rmSync(large);
  await restart();
  const fault = async () => (await machine.health()).kiosk?.updates.fault;
  await expect.poll(fault, patience).toMatch(/6\.0\.0 needs \d+ MB more/);
  await machine.plays();
  expect(await system()).toEqual(before);

  offer('7.0.0', slot);
  await restart();
  const other = before?.slot === 'A' ? 'B' : 'A';
  await expect.poll(system, patience).toMatchObject({ slot: other, left: null });
  await machine.plays();
});
