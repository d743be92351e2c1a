/** Chromium with a profile of its own, in which the root of a site may be installed (certutil of libnss3-tools). */
import { execFileSync } from 'node:child_process';
import type { X509Certificate } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { isSkipped as isWithoutBrowser } from '../support/browser.ts';
import { findChromium } from '../support/chromium.ts';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';

const certutil = findProgram('certutil');
/** Without these programs; in CI the tests fail then. */
export const isWithoutCertutil = (certutil === undefined && process.env.CI !== 'true') || isWithoutBrowser;

/** @param root the authority that the profile trusts; null: none but the public ones */
export const launchProfile = (
  root: X509Certificate | null,
  onEnd: (end: () => void | Promise<void>) => void,
): Promise<Browser> => {
  const home = temporaryFolder(onEnd);
  if (root !== null) {
    const store = join(home, '.pki', 'nssdb');
    const file = join(home, 'root.crt');
    mkdirSync(store, { recursive: true });
    writeFileSync(file, root.raw);
    execFileSync(certutil ?? '', ['-d', `sql:${store}`, '-N', '--empty-password']);
    execFileSync(certutil ?? '', ['-d', `sql:${store}`, '-A', '-t', 'C,,', '-n', 'signage', '-i', file]);
  }
  return chromium.launch({
    executablePath: findChromium() ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP *.local 127.0.0.1,MAP *.example.com 127.0.0.1'],
    env: { PATH: process.env.PATH ?? '', HOME: home },
  });
};
