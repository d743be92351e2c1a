import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { MediaContext } from '../../service/media/context.ts';
import { createLostUploads, lostAtOf, lostFolderOf, lostNameOf } from '../../service/media/lost.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

const DAY_MS = 86_400_000;

test('an upload that was lost in 1970 is kept for 30 days from the first right time', async () => {
  const uploads = temporaryFolder();
  let now = Date.UTC(2026, 10, 28);
  const folder = lostFolderOf(uploads);
  mkdirSync(folder);
  for (const lostAt of [300_000, now - 31 * DAY_MS]) writeFileSync(join(folder, lostNameOf('a.png', lostAt)), '');
  const lost = createLostUploads({
    dirs: { uploads } as MediaContext['dirs'],
    folders: { changed: async () => {} } as unknown as MediaContext['folders'],
    now: () => now,
    log: pino({ level: 'silent' }),
  });
  await lost.prune();
  expect((await lost.list()).map(lostAtOf)).toEqual([now]);
  now += 30 * DAY_MS;
  await lost.prune();
  expect(await lost.list()).toEqual([]);
});

test('what is kept takes no room of the quota, which nobody could make by deleting files', async () => {
  const dataDir = temporaryFolder();
  const folder = lostFolderOf(join(dataDir, 'uploads'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, lostNameOf('menu.png', Date.now())), Buffer.alloc(2_000));
  const service = await startTestService({ dataDir, env: { SIGNAGE_MEDIA_QUOTA_BYTES: '1000' } });
  const answer = await service.get('/api/media/menu.txt', { method: 'PUT', body: 'x'.repeat(900) });
  expect(answer.status).toBe(201);
  expect(await (await service.get('/console/api/media')).json()).toMatchObject({ used_bytes: 900, quota_bytes: 1_000 });
});
