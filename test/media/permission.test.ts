import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { Signer } from '../../service/auth/person-keys.ts';
import { unconfirmed } from '../../service/domain/time.ts';
import { openMediaPermission } from '../../service/media/permission.ts';
import { createShared } from '../../service/shared/index.ts';
import { temporaryFolder } from '../support/service.ts';

const DAY = 86_400_000;
const signerOf = (id: string): Signer => ({ id, role: 'editor', tags: [] }) as never;

test('who uploaded a medium is kept as long as there is the file, and some days, so that names that are gone take no room', async () => {
  let time = Date.UTC(2026, 5, 1);
  const log = pino({ level: 'silent' });
  const shared = await createShared({
    dirs: { data: temporaryFolder() } as never,
    log,
    now: () => time,
    reserve: { release: async () => {} },
    keep: (resource) => {
      onTestFinished(() => void resource.close());
      return resource;
    },
  });
  shared.followClock({ ...unconfirmed(() => time), isConfirmed: () => true });
  const permission = await openMediaPermission(
    { now: () => time, log },
    { shared, exists: async () => true, isUsed: () => false },
  );
  const [ada, ben] = [signerOf('ada'), signerOf('ben')];
  const owners = (): unknown[] => shared.sets(true).flatMap((set) => set.list().map(({ by }) => by));
  for (const name of ['gone.png', 'old.png', 'again.png']) await permission.noteUpload(ada, name);
  await permission.noteDelete('gone.png');
  await permission.noteDelete('unknown.png');
  await permission.noteRename('old.png', 'new.png');
  await permission.noteDelete('again.png');
  await permission.noteUpload(ben, 'again.png');
  // Other boxes are still to learn of what has ended.
  expect(owners().toSorted()).toEqual(['', '', 'ada', 'ben']);
  time += 32 * DAY;
  expect(owners().toSorted()).toEqual(['ada', 'ben']);
  for (const [name, mine, other] of [
    ['new.png', ada, ben],
    ['again.png', ben, ada],
  ] as const) {
    expect(() => permission.checkDelete(mine, name)).not.toThrow();
    expect(() => permission.checkDelete(other, name)).toThrow(expect.objectContaining({ code: 'role_required' }));
  }
  expect(() => permission.checkDelete(ada, 'old.png')).toThrow(expect.objectContaining({ code: 'role_required' }));
});
