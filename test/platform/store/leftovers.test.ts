/** What an earlier run left, on a disk that takes no writes. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logged } from '../../support/observe.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';

test.skipIf(process.platform !== 'linux').each(['streams', 'media/copies', 'media/renditions'])(
  'the service starts where nothing in %s can be removed',
  async (name) => {
    const dataDir = temporaryFolder();
    const folder = join(dataDir, name);
    mkdirSync(join(folder, '..'), { recursive: true });
    // Not even root may remove files from it.
    symlinkSync('/proc/self/fdinfo', folder);
    const box = await startTestService({ dataDir });
    expect((await box.get('/healthz')).status).toBe(200);
    expect(logged(box, 'a file that is not needed any more could not be removed')).not.toEqual([]);
  },
);
