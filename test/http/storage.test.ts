/** A disk that takes no writes. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { startTestService } from '../support/service.ts';

/** Puts a read-only file system over a folder until the test is over; false where this machine does not allow it. */
const makeReadOnly = (folder: string): boolean => {
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return false;
  }
  onTestFinished(() => void execFileSync('/bin/umount', ['--lazy', folder]));
  return true;
};

test('uploads and device names are answered 503 when the disk is read-only', async ({ skip }) => {
  const service = await startTestService({ content: lobby });
  if (!makeReadOnly(join(service.dataDir, 'uploads'))) skip();
  const put = await service.get('/api/media/a.txt', { method: 'PUT', body: 'x' });
  expect([put.status, await put.json()]).toMatchObject([503, { error: { code: 'storage_unavailable' } }]);
  makeReadOnly(service.dataDir);
  const order = { command: 'setclientname', clientName: 'Door', deviceId: 'device-1' };
  const named = await service.post('/api/screens/lobby/commands', order);
  expect([named.status, await named.json()]).toMatchObject([503, { error: { code: 'storage_unavailable' } }]);
});
