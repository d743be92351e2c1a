/** The lock of the image's packages. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { billOf, componentOf } from '../../.scripts/image/bill.ts';
import { fetchPackages, formatLock, lockFile, namesIn, parseLock, parseUri } from '../../.scripts/image/lock.ts';
import { temporaryFolder } from '../support/service.ts';

const hash = 'a'.repeat(64);
const line = `image libc6 2.41-12+deb13u5 ${hash} debian/pool/main/g/glibc/libc6_2.41-12+deb13u5_amd64.deb`;

it('is what it was read from', () => {
  const text = readFileSync(lockFile, 'utf8');
  expect(formatLock(parseLock(text))).toBe(text);
});

it('names the packages of the image, none of which opens a shell to anybody', () => {
  const { packages } = parseLock(readFileSync(lockFile, 'utf8'));
  const names = packages.filter(({ use }) => use === 'image').map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['linux-image-amd64', 'network-manager', 'sway', 'firmware-iwlwifi']));
  expect(
    names.filter((name) => /^(openssh-server|foot|xterm|sudo|linux-image-cloud.*|telnetd|dropbear)$/.test(name)),
  ).toEqual([]);
  expect(new Set(packages.map(({ name }) => name)).size).toBe(packages.length);
});

it.each([
  ['no time', line, /first line/],
  ['another use', `# 2026-11-26T22:00:00Z\n${line.replace('image', 'other')}`, /line 2 of the lock/],
  ['a short hash', `# 2026-11-26T22:00:00Z\n${line.replace(hash, 'abc')}`, /line 2/],
  ['a path that leads elsewhere', `# 2026-11-26T22:00:00Z\n${line.replace('pool/main', 'pool/../..')}`, /line 2/],
  ['a word too many', `# 2026-11-26T22:00:00Z\n${line} more`, /line 2/],
])('with %s it is refused', (_, text, reason) => {
  expect(() => parseLock(text)).toThrow(reason);
});

it('is read from what apt-get prints', () => {
  const uri = `'http://deb.debian.org/debian/pool/main/w/wpa/wpasupplicant_2.10-24%2bb1_amd64.deb' wpasupplicant_2%3a2.10-24+b1_amd64.deb 1426452 SHA256:${hash}`;
  expect(parseUri(uri, 'image')).toEqual({
    ...{ use: 'image', name: 'wpasupplicant', version: '2:2.10-24+b1', sha256: hash },
    path: 'debian/pool/main/w/wpa/wpasupplicant_2.10-24+b1_amd64.deb',
  });
  expect(parseUri('Reading package lists...', 'image')).toBeUndefined();
});

it('skips comments in the list of packages', () => {
  expect(namesIn('# a comment\nsystemd udev\n\nlinux-image-amd64\n')).toEqual(['systemd', 'udev', 'linux-image-amd64']);
});

it('becomes a component with the URL of the package', () => {
  const [package_] = parseLock(`# 2026-11-26T22:00:00Z\n${line}`).packages;
  expect(package_ && componentOf(package_)).toMatchObject({
    purl: 'pkg:deb/debian/libc6@2.41-12%2Bdeb13u5?arch=amd64&distro=debian-13',
    hashes: [{ alg: 'SHA-256', content: hash }],
  });
});

it('has what the bundles hold in its bill, and no tool', () => {
  const deb = join(temporaryFolder(), 'player.deb');
  writeFileSync(deb, 'a package');
  const { packages } = parseLock(`# 2026-11-26T22:00:00Z\n${line}`);
  const runtime = { type: 'framework', name: 'electron', version: '45.0.0' };
  const bill = JSON.parse(billOf({ madeAt: 1_764_194_400, packages }, runtime, { deb, version: '1.0.0' }, 'seed'));
  const names = bill.components.map(({ name }: { name: string }) => name);
  // A library of the service, two of pages, one that only such a library needs, and Debian's.
  for (const name of [
    'koa',
    'preact',
    'hls.js',
    '@codemirror/view',
    'style-mod',
    'libc6',
    'electron',
    'signage-player',
  ]) {
    expect(names.filter((each: string) => each === name)).toEqual([name]);
  }
  expect(bill.dependencies.find(({ ref }: { ref: string }) => ref.startsWith('signage-player@')).dependsOn).toContain(
    bill.components.find(({ name }: { name: string }) => name === 'koa')['bom-ref'],
  );
  for (const tool of ['vitest', 'electron-builder', 'typescript', 'esbuild', '@biomejs/biome']) {
    expect(names).not.toContain(tool);
  }
});

it('names the packages that the archive no longer has, and takes those of the cache', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cache = temporaryFolder();
  const bytes = Buffer.from('a package');
  const cached = line.replace(hash, createHash('sha256').update(bytes).digest('hex')).replaceAll('libc6', 'libc0');
  writeFileSync(join(cache, 'libc0_2.41-12+deb13u5_amd64.deb'), bytes);
  // Other bytes than the lock says are as good as none.
  writeFileSync(join(cache, 'libc6_2.41-12+deb13u5_amd64.deb'), bytes);
  const { packages } = parseLock(
    ['# 2026-11-26T22:00:00Z', cached, line, line.replaceAll('libc6', 'libc7')].join('\n'),
  );
  await expect(fetchPackages(packages, cache, from)).rejects.toThrow(
    /no longer has libc6 2\.41-12\+deb13u5, libc7 2\.41-12\+deb13u5;.*--lock/,
  );
  expect(asked).toHaveLength(2);
  expect(asked.join()).toContain('/debian/pool/main/g/glibc/libc6_2.41-12%2bdeb13u5_amd64.deb');
  const files = await fetchPackages(packages.slice(0, 1), cache, from);
  expect([...files.values()]).toEqual([join(cache, 'libc0_2.41-12+deb13u5_amd64.deb')]);
});
