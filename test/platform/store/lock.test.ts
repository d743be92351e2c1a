/** A data directory is one service's: a second one changes nothing in it, and a killed one is in nobody's way. */
import { once } from 'node:events';
import { readdirSync, symlinkSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lockFolder } from '../../../service/platform/store/lock.ts';
import { temporaryFolder } from '../../support/service.ts';
import { repeats } from '../../support/soak.ts';
import { startHeadless } from '../options/process.ts';

const start = (SIGNAGE_DATA_DIR: string) => startHeadless({ SIGNAGE_DATA_DIR, SIGNAGE_LOG_LEVEL: 'error' });

test('a second service ends with a sentence, and what the first one does goes on', async () => {
  const dataDir = temporaryFolder();
  const url = await start(dataDir).ready();
  const upload = request(`${url}/api/media/film.bin`, { method: 'PUT', headers: { 'Content-Length': 200_000 } });
  const answered = once(upload, 'response');
  await new Promise((resolve) => upload.write(Buffer.alloc(100_000), resolve));

  const alias = join(temporaryFolder(), 'alias');
  symlinkSync(dataDir, alias);
  const second = start(alias);
  expect(await second.ended).toBe(1);
  expect(second.printed).toEqual({
    stdout: '',
    stderr: `The data folder ${alias} is in use by another signage player at ${url}; end that one, or set SIGNAGE_DATA_DIR to another folder.\n`,
  });

  upload.end(Buffer.alloc(100_000));
  const [answer] = await answered;
  expect([answer.statusCode, JSON.parse(String(await buffer(answer)))]).toMatchObject([201, { size: 200_000 }]);
});

test.each(Array.from({ length: repeats(1, 10) }, (_, index) => index))(
  'a service that was killed is followed at once by the next (%i)',
  async () => {
    const dataDir = temporaryFolder();
    const first = start(dataDir);
    await first.ready();
    // Not waited for: a supervisor may be faster than the kernel.
    first.child.kill('SIGKILL');
    await start(dataDir).ready();
  },
);

describe.each([
  ['by flock(1)', process.env.PATH],
  ['by a name, where there is no flock(1)', '/nonexistent'],
])('%s', (_, PATH) => {
  const log = pino({ level: 'silent' });
  const take = async (dataDir: string) => {
    const lock = await lockFolder({ dataDir, environment: { PATH }, log });
    onTestFinished(() => lock.close());
    return lock;
  };

  test('one has the folder, until it lets go; other folders are others', async () => {
    const [dataDir, other] = [temporaryFolder(), temporaryFolder()];
    const first = await take(dataDir);
    await take(other);
    await first.announce('http://[::1]:8080');
    await expect(take(dataDir)).rejects.toThrow(/another signage player at http:\/\/\[::1\]:8080; end/);
    await first.close();
    expect(readdirSync(dataDir)).toEqual([]);
    await take(dataDir);
  });

  test('a process that asks while it is released waits for it', async () => {
    const dataDir = temporaryFolder();
    const first = await take(dataDir);
    const second = take(dataDir);
    await first.close();
    await second;
  });
});
