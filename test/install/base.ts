/** A fresh Debian for each release, made once: every test file gets a copy. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The name of the release of Debian. */
    release: string;
    /** The folder with its system, in which no service is started. */
    base: string;
  }
}

export const setup = async (project: TestProject): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-debian-'));
  const base = join(folder, 'base');
  const { release } = project.config.provide;
  await promisify(execFile)('debootstrap', ['--variant=minbase', String(release), base], { maxBuffer: 2 ** 26 });
  writeFileSync(join(base, 'usr', 'sbin', 'policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  project.provide('base', base);
  return () => rmSync(folder, { recursive: true, force: true });
};
