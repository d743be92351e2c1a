/** The service as it was before it gossiped, for comparisons: its sources, with the libraries of this checkout. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The last commit of the old protocol. */
const OLD = '03f138e';

/** @returns its folder; null: this is no clone with its history */
export const checkOutOld = (): string | null => {
  const root = join(import.meta.dirname, '..', '..');
  const folder = mkdtempSync(join(tmpdir(), 'signage-old-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  try {
    const archive = execFileSync('git', ['archive', OLD, 'service', 'resources', 'package.json'], {
      cwd: root,
      maxBuffer: 256 * 1024 ** 2,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
  } catch {
    return null;
  }
  for (const shared of ['node_modules', 'dist']) symlinkSync(join(root, shared), join(folder, shared));
  return folder;
};
