/** A real electron-updater against served release folders. */
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { createDownloads, readPublicKey } from '../../main/updates/downloads.ts';
import { temporaryFolder } from '../support/service.ts';
import { nodeUpdater, publicKey, serveFeed, serveNobody, serveSilence } from './release.ts';

const always = () => true;

interface Box {
  version?: string;
  kind?: string;
  channel?: string;
  dataDir?: string;
  /** Bytes. */
  free?: number;
  /** In ms. */
  patience?: number;
}

const boxOf = ({
  version = '1.0.0',
  kind,
  channel = 'latest',
  dataDir = temporaryFolder(),
  free,
  patience,
}: Box = {}) => {
  const readyDir = join(dataDir, 'ready');
  const deps = {
    updater: nodeUpdater(version, dataDir),
    log: pino({ level: 'silent' }),
    key: publicKey,
    ...(free !== undefined && { disk: { free: async () => free } }),
  };
  const downloads = createDownloads(deps, {
    readyDir,
    kind,
    ...(patience !== undefined && { patience: { check: patience, download: patience } }),
  });
  return {
    dataDir,
    readyDir,
    fetch: (feed: string | null, peers: string[], wanted: (version: string) => boolean) =>
      downloads.fetch({ feed, peers, channel }, wanted),
  };
};

/** The files of a folder that this process has open, also those that were removed; Linux alone tells. */
const openIn = (folder: string): string[] =>
  (process.platform === 'linux' ? readdirSync('/proc/self/fd') : []).flatMap((fd) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${fd}`);
      return file.startsWith(folder) ? [file] : [];
    } catch {
      return [];
    }
  });

test('a good version comes in whole, with what another box needs to take it from here', async () => {
  const feed = await serveFeed({ version: '2.0.0' });
  const { fetch, readyDir } = boxOf();
  expect(await fetch(feed.url, [], always)).toEqual({
    version: '2.0.0',
    file: join(readyDir, 'signage-player-2.0.0-amd64.deb'),
  });
  expect(readFileSync(join(readyDir, 'signage-player-2.0.0-amd64.deb'), 'utf8')).toBe('the program 2.0.0');
  expect(readdirSync(readyDir)).toHaveLength(3);
});

test('an image takes whole systems, and never the package', async () => {
  const feed = await serveFeed({ version: '3.0.0' }, { version: '2.0.0', kind: 'image' });
  const { fetch, readyDir } = boxOf({ kind: 'image' });
  const file = join(readyDir, 'signage-player-2.0.0-amd64.raucb');
  expect(await fetch(feed.url, [], always)).toEqual({ version: '2.0.0', file });
  expect(readFileSync(file, 'utf8')).toBe('the program 2.0.0');
  expect(await boxOf({ version: '2.0.0', kind: 'image' }).fetch(feed.url, [], always)).toBeNull();
});

test('a box takes it from another box, and the feed sends it once', async () => {
  const feed = await serveFeed({ version: '2.0.0' });
  const other = await serveFeed({ version: '2.0.0' });
  const { fetch } = boxOf();
  expect(await fetch(feed.url, [await serveNobody(), other.url], always)).toMatchObject({ version: '2.0.0' });
  expect(other.asked).toContain('/signage-player-2.0.0-amd64.deb');
  expect(feed.asked).not.toContain('/signage-player-2.0.0-amd64.deb');
});

describe('a source that never ends', () => {
  test('and says nothing keeps no other from being asked, nor the next check', async () => {
    const silent = await serveSilence();
    const other = await serveFeed({ version: '2.0.0' });
    const { fetch } = boxOf({ patience: 1500 });
    await expect(fetch(silent, [], always)).rejects.toThrow('it does not answer, or too slowly');
    expect(await fetch(silent, [other.url], always)).toMatchObject({ version: '2.0.0' });
  });

  test.each(['silently', 'endlessly'] as const)(
    'and goes on %s after a release is let go of, and so is its file',
    async (how) => {
      const feed = await serveFeed({ version: '2.0.0' });
      const bad = await serveFeed({ version: '2.0.0' });
      bad.goOn(how);
      const { fetch, dataDir, readyDir } = boxOf({ patience: 1500 });
      expect(await fetch(feed.url, [bad.url], always)).toMatchObject({ version: '2.0.0' });
      expect(bad.asked).toContain('/signage-player-2.0.0-amd64.deb');
      expect(readFileSync(join(readyDir, 'signage-player-2.0.0-amd64.deb'), 'utf8')).toBe('the program 2.0.0');
      await bad.isLeft();
      await vi.waitFor(() => expect(openIn(dataDir)).toEqual([]), 5000);
    },
  );
});

test('with no feed at all the boxes nearby are enough', async () => {
  const other = await serveFeed({ version: '2.0.0' });
  expect(await boxOf().fetch(null, [other.url], always)).toMatchObject({ version: '2.0.0' });
  expect(await boxOf().fetch(await serveNobody(), [other.url], always)).toMatchObject({ version: '2.0.0' });
});

test('a box that is behind the feed is passed over', async () => {
  const feed = await serveFeed({ version: '2.0.0' });
  const behind = await serveFeed({ version: '1.5.0' });
  const { fetch, readyDir } = boxOf();
  expect(await fetch(feed.url, [behind.url], always)).toMatchObject({ version: '2.0.0' });
  expect(readFileSync(join(readyDir, 'signage-player-2.0.0-amd64.deb'), 'utf8')).toBe('the program 2.0.0');
});

test.each([
  ['an older version', '0.9.0'],
  ['the same version', '1.0.0'],
])('%s is no update', async (_, version) => {
  const feed = await serveFeed({ version });
  const { fetch, dataDir } = boxOf();
  expect(await fetch(feed.url, [], always)).toBeNull();
  expect(readdirSync(dataDir)).not.toContain('ready');
});

test.each([
  ['latest', '2.0.0-beta.1', false],
  ['latest', '2.0.0-latest.1', false],
  ['latest', '2.0.0-1', false],
  ['latest', '2.0.0', true],
  ['latest', '2.0.0+build-7', true],
  ['beta', '2.0.0-beta.1', true],
  ['beta', '2.0.0', true],
  ['beta', '2.0.0-alpha.1', false],
  ['beta', '2.0.0-betamax.1', false],
])(
  'by the channel %s version %s comes in: %s, be it from the feed or another box',
  async (channel, version, isTaken) => {
    const source = await serveFeed({ version, channel });
    for (const [feed, peers] of [
      [source.url, []],
      [null, [source.url]],
    ] as const) {
      const ready = await boxOf({ channel }).fetch(feed, [...peers], always);
      expect(ready?.version).toBe(isTaken ? version : undefined);
    }
  },
);

test('a version that is not wanted is not downloaded', async () => {
  const feed = await serveFeed({ version: '2.0.0' });
  expect(await boxOf().fetch(feed.url, [feed.url], (version) => version !== '2.0.0')).toBeNull();
  expect(feed.asked.filter((path) => path.endsWith('.deb'))).toEqual([]);
});

describe('nothing comes in', () => {
  const refused = async (fetch: () => Promise<unknown>, readyDir: string, reason: RegExp) => {
    await expect(fetch()).rejects.toThrow(reason);
    expect(() => readdirSync(readyDir)).toThrow('ENOENT');
  };

  test('where the file is not the one that was signed for', async () => {
    const feed = await serveFeed({ version: '2.0.0', sha512: Buffer.alloc(64).toString('base64') });
    const { fetch, readyDir } = boxOf();
    await refused(() => fetch(feed.url, [], always), readyDir, /sha512 checksum mismatch/);
  });

  test('where somebody else signed', async () => {
    const feed = await serveFeed({ version: '2.0.0', signedWith: generateKeyPairSync('ed25519').privateKey });
    const { fetch, readyDir } = boxOf();
    await refused(() => fetch(feed.url, [], always), readyDir, /not signed with the key of this build/);
    expect(feed.asked.filter((path) => path.endsWith('.deb'))).toEqual([]);
  });

  test.each(['', 'not base64', 'AAAA'])('where the signature is %j', async (signature) => {
    const feed = await serveFeed({ version: '2.0.0' });
    for (const name of readdirSync(feed.folder)) {
      if (name.endsWith('.sig')) writeFileSync(join(feed.folder, name), signature);
    }
    const { fetch, readyDir } = boxOf();
    await refused(() => fetch(feed.url, [], always), readyDir, /not signed/);
  });

  test('where the download is cut, until it is not', async () => {
    const feed = await serveFeed({ version: '2.0.0', bytes: Buffer.alloc(300_000, 'program') });
    const { fetch, readyDir } = boxOf();
    feed.cutAfter(100_000);
    await expect(fetch(feed.url, [], always)).rejects.toThrow();
    expect(() => readdirSync(readyDir)).toThrow('ENOENT');
    feed.cutAfter(null);
    expect(await fetch(feed.url, [], always)).toMatchObject({ version: '2.0.0' });
    expect(readFileSync(join(readyDir, 'signage-player-2.0.0-amd64.deb'))).toHaveLength(300_000);
  });

  test('where nobody can be asked', async () => {
    const { fetch, readyDir } = boxOf();
    const nobody = await serveNobody();
    await refused(() => fetch(nobody, [nobody], always), readyDir, /socket hang up/);
  });
});

describe('a disk that is nearly full', () => {
  const bytes = Buffer.alloc(300_000, 'program');
  const sha512 = Buffer.alloc(64).toString('base64');
  /** A box that restarts with 2.0.0 downloaded or already installed. */
  const startedAgain = async (version: string, free: number) => {
    const { dataDir, fetch } = boxOf();
    await fetch((await serveFeed({ version: '2.0.0', bytes: bytes.subarray(1000) })).url, [], always);
    return boxOf({ version, dataDir, free });
  };
  const old = 'signage-player-2.0.0-amd64.deb';

  test('takes no release that does not fit, asks no further source, and says how much is missing', async () => {
    const feed = await serveFeed({ version: '3.0.0', bytes: Buffer.alloc(5_000_000) });
    const [first, second] = [await serveFeed(), await serveFeed({ version: '3.0.0' })];
    cpSync(feed.folder, first.folder, { recursive: true });
    const { fetch, readyDir } = await startedAgain('2.0.0', 1_600_000);
    await expect(fetch(feed.url, [first.url, second.url], always)).rejects.toThrow(
      'version 3.0.0 needs 4 MB more than the disk has free',
    );
    expect([...feed.asked, ...first.asked].filter((path) => path.endsWith('.deb'))).toEqual([]);
    expect(second.asked).toEqual([]);
    expect(readdirSync(readyDir)).toContain(old);
  });

  test.each([
    ['first where it must', 299_999, false],
    ['last where both fit', 300_000, true],
  ])('lets go of the previous release %s', async (_, free, isKept) => {
    const bad = await serveFeed({ version: '3.0.0', bytes, sha512 });
    const { fetch, readyDir } = await startedAgain('2.0.0', free);
    await expect(fetch(bad.url, [], always)).rejects.toThrow('sha512 checksum mismatch');
    expect(existsSync(join(readyDir, old))).toBe(isKept);
    const good = await serveFeed({ version: '3.0.1', bytes });
    const { fetch: fetchLater } = boxOf({ version: '2.0.0', dataDir: join(readyDir, '..'), free: 300_000 });
    expect(await fetchLater(good.url, [], always)).toMatchObject({ version: '3.0.1' });
    expect(existsSync(join(readyDir, old))).toBe(false);
  });

  test('needs no room for a release that is there', async () => {
    const feed = await serveFeed({ version: '2.0.0', bytes: bytes.subarray(1000) });
    const { fetch } = await startedAgain('1.0.0', 0);
    expect(await fetch(feed.url, [], always)).toMatchObject({ version: '2.0.0' });
    expect(feed.asked.filter((path) => path.endsWith('.deb'))).toEqual([]);
  });
});

test('a release in stages comes to the boxes that it is for', async () => {
  const none = await serveFeed({ version: '2.0.0', more: 'stagingPercentage: 0' });
  expect(await boxOf().fetch(none.url, [], always)).toBeNull();
  const all = await serveFeed({ version: '2.0.0', more: 'stagingPercentage: 100' });
  expect(await boxOf().fetch(all.url, [], always)).toMatchObject({ version: '2.0.0' });
});

test('only an Ed25519 public key can be trusted', () => {
  const pem = (key: typeof publicKey) => key.export({ type: 'spki', format: 'pem' }).toString();
  expect(readPublicKey(pem(publicKey)).asymmetricKeyType).toBe('ed25519');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
  expect(() => readPublicKey(pem(rsa))).toThrow('not an Ed25519 public key');
});
