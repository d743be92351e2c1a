/** What an earlier run left, on a disk that takes no writes. */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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

// Root may remove files from any folder.
test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
  'the service starts where the file of an interrupted upload cannot be removed',
  async () => {
    const dataDir = temporaryFolder();
    const folder = join(dataDir, 'uploads');
    mkdirSync(folder);
    writeFileSync(join(folder, `.upload-${randomUUID()}`), 'half');
    chmodSync(folder, 0o555);
    onTestFinished(() => chmodSync(folder, 0o755));
    const box = await startTestService({ dataDir });
    expect(logged(box, 'the temporary file of an upload could not be deleted')).toHaveLength(1);
  },
);
