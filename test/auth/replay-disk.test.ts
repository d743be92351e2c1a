/** The nonces that must outlive the process, on a real disk. */
import { readdir } from 'node:fs/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Sender } from '../../service/auth/nonces.ts';
import { openReplayGuard } from '../../service/auth/replay.ts';
import { temporaryFolder } from '../platform/store/folder.ts';
import { outcome } from './support.ts';

const sender = { kind: 'operator', name: '192.0.2.1' } as const;

const open = async (dataDir: string) => {
  const log = pino({ level: 'silent' });
  const guard = await openReplayGuard({ dataDir, log, now: Date.now });
  const use = (nonce: string, aheadMs: number, from: Sender = sender) => {
    const timestamp = Date.now() + aheadMs;
    return outcome(() => (guard.isFresh(timestamp) ? guard.use(nonce, timestamp, from) : undefined));
  };
  return { guard, use };
};

test('ten thousand nonces with future timestamps survive a restart, and one more is refused', async () => {
  const dataDir = await temporaryFolder();
  const before = await open(dataDir);
  const names = Array.from({ length: 10_000 }, (_, index) => `nonce-of-a-request-${index}`);
  const said = await Promise.all(names.map((name) => before.use(name, 200_000)));
  expect(new Set(said)).toEqual(new Set(['accepted']));
  expect(await before.use('one more', 200_000)).toBe('busy');
  expect(await before.use('one of now', 0)).toBe('accepted');
  // Not closed, as if it was killed.
  const after = await open(dataDir);
  for (const name of [names[0], names[9_999]])
    expect(await after.use(String(name), 200_000)).toBe('signature_replayed');
  expect(await after.use('one more', 200_000)).toBe('busy');
  await before.guard.close();
  await after.guard.close();
  expect((await readdir(dataDir)).toSorted()).toEqual(['nonces.json', 'nonces.json.prev']);
});

test('people whose timestamps are ahead take 200 places each, 2,000 together, and none of those of boxes', async () => {
  const { guard, use } = await open(await temporaryFolder());
  const countOf = async (name: string, tries: number): Promise<number> => {
    const nonces = Array.from({ length: tries }, (_, index) => `nonce-of-${name}-${index}`);
    const said = await Promise.all(nonces.map((nonce) => use(nonce, 200_000, { kind: 'person', name })));
    return said.filter((each) => each === 'accepted').length;
  };
  expect(await countOf('viewer', 10_000)).toBe(200);
  for (let index = 0; index < 9; index += 1) expect(await countOf(`person-${index}`, 200)).toBe(200);
  expect(await countOf('last', 1)).toBe(0);
  expect(await use('nonce-of-a-box-1', 200_000, { kind: 'peer', name: 'box' })).toBe('accepted');
  expect(await use('nonce-of-a-program', 200_000)).toBe('accepted');
  await guard.close();
});
