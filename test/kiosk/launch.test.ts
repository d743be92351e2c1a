/** How the tests start Electron itself, where it can be had. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { refusedSwitches } from '../../main/switches.ts';
import { temporaryFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');

/** By these Playwright reaches the app. */
const isOwn = (argument: string): boolean => /^--(inspect|remote-debugging-port)=0$/.test(argument);

it.skipIf(process.platform === 'win32')('the tests start Electron with its sandbox', async () => {
  const folder = temporaryFolder();
  const electron = join(folder, 'electron');
  writeFileSync(electron, `#!/bin/sh\nprintf '%s\\n' "$@" >'${folder}/arguments'\nexit 1\n`, { mode: 0o755 });
  // In a process of its own: Playwright leaves rejections behind where the app ends at its start.
  const launch = join(root, 'test', 'support', 'electron', 'launch.ts');
  const script = `(await import('${launch}')).launchReal(['--kiosk'], {}, '${electron}')`;
  const words = ['--import', 'tsx', '--input-type=module', '--eval', script];
  await expect(promisify(execFile)(process.execPath, words, { cwd: root })).rejects.toThrow('failed to launch');
  const given = readFileSync(join(folder, 'arguments'), 'utf8').trim().split('\n');
  expect(given).toContain('--kiosk');
  expect(refusedSwitches(given).filter((each) => !isOwn(each))).toEqual([]);
});
