/** The deb's scripts after installation and removal, in a folder of their own, with stand-ins for what only root can run. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');

/** A `setpriv` that drops its options and marks what it runs, and an `unshare` that obeys the system's rule. */
const standIns = {
  setpriv:
    'case "$*" in *--reuid=nobody*) ;; *) exit 1 ;; esac\nwhile case $1 in --*) true ;; *) false ;; esac; do shift; done\nIS_NOBODY=1 exec "$@"',
  unshare: '[ -z "$IS_NOBODY" ] || [ "$USERS_MAY" = yes ]',
  apparmor_status: 'exit 1',
};

/** @returns the mode of the helper that the sandbox uses where there are no user namespaces */
const install = async (usersMay: 'yes' | 'no'): Promise<number> => {
  const folder = temporaryFolder();
  const app = join(folder, 'app');
  for (const name of ['app', 'bin']) mkdirSync(join(folder, name));
  for (const [name, script] of Object.entries(standIns)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  writeFileSync(join(app, 'chrome-sandbox'), '');
  writeFileSync(`${app}.installing`, '');
  const script = readFileSync(join(root, 'resources', 'linux', 'postinst'), 'utf8')
    .replaceAll(/\/opt\/\$\{sanitizedProductName\}/g, app)
    .replaceAll('/usr/bin/', `${folder}/`)
    .replaceAll('/usr/share/', `${folder}/share/`)
    .replaceAll(/\$\{executable\}/g, 'signage-player');
  const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, USERS_MAY: usersMay };
  await promisify(execFile)('bash', ['-c', script], { env });
  // Otherwise the next start would put an earlier version back.
  expect(existsSync(`${app}.installing`)).toBe(false);
  expect(readlinkSync(join(folder, 'signage'))).toBe(join(app, 'resources', 'linux', 'signage'));
  const completions = join(app, 'resources', 'linux', 'completions');
  expect(readlinkSync(join(folder, 'share/bash-completion/completions/signage'))).toBe(
    join(completions, 'signage.bash'),
  );
  expect(readlinkSync(join(folder, 'share/zsh/vendor-completions/_signage'))).toBe(join(completions, 'signage.zsh'));
  expect(readlinkSync(join(folder, 'share/fish/vendor_completions.d/signage.fish'))).toBe(
    join(completions, 'signage.fish'),
  );
  return statSync(join(app, 'chrome-sandbox')).mode & 0o7777;
};

test.skipIf(process.platform !== 'linux')(
  "the helper of the sandbox is made root's where users, unlike root, may not create user namespaces",
  async () => {
    expect(await install('no')).toBe(0o4755);
    expect(await install('yes')).toBe(0o755);
  },
);

test.skipIf(process.platform !== 'linux').each([
  ['that', ['configure', '1.0.0'], true, false, true],
  ['not after its own update, which does so', ['configure', '1.0.0'], true, true, false],
  ['not after the first installation', ['configure', ''], true, false, false],
  ['not in an image that is being built', ['configure', '1.0.0'], false, false, false],
])(
  'the player that runs is started again after an upgrade by apt alone: %s',
  async (_, words, runs, isOwn, isRestarted) => {
    const folder = temporaryFolder();
    const [app, calls] = [join(folder, 'app'), join(folder, 'calls')];
    for (const name of ['app', 'bin', ...(runs ? ['run'] : [])]) mkdirSync(join(folder, name));
    // It fails, as for a unit that is broken.
    const programs = { ...standIns, systemctl: `echo "$*" >>'${calls}'; exit 1` };
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    if (isOwn) writeFileSync(`${app}.installing`, '');
    const script = readFileSync(join(root, 'resources', 'linux', 'postinst'), 'utf8')
      .replaceAll(/\/opt\/\$\{sanitizedProductName\}/g, app)
      .replaceAll('/run/systemd/system', join(folder, 'run'))
      .replaceAll('/usr/', `${folder}/`);
    const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
    await promisify(execFile)('bash', ['-c', script, 'postinst', ...words], { env });
    const restart = '--no-block try-restart signage-player.service\n';
    expect(existsSync(calls) ? readFileSync(calls, 'utf8') : '').toBe(isRestarted ? restart : '');
  },
);

test('what is removed are its own links, and no file of the package that takes its place', async () => {
  const folder = temporaryFolder();
  const script = readFileSync(join(root, 'resources', 'linux', 'postrm'), 'utf8')
    .replaceAll(/\$\{sanitizedProductName\}/g, 'Signage Player')
    .replaceAll('/usr/', `${folder}/`)
    .replaceAll('/etc/', `${folder}/`)
    .replaceAll(/\$\{executable\}/g, 'signage-player');
  const own = ['bin/signage-player', 'share/fish/vendor_completions.d/signage.fish'];
  const others = ['bin/signage', 'share/zsh/vendor-completions/_signage'];
  for (const path of [...own, ...others]) mkdirSync(dirname(join(folder, path)), { recursive: true });
  for (const path of own) symlinkSync(`/opt/Signage Player/${path}`, join(folder, path));
  symlinkSync('../lib/signage-player-headless/signage', join(folder, 'bin/signage'));
  writeFileSync(join(folder, 'share/zsh/vendor-completions/_signage'), '');
  const left = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => [...own, ...others].includes(path));
  await promisify(execFile)('bash', ['-c', script, 'postrm', 'upgrade']);
  expect(left().toSorted()).toEqual([...own, ...others].toSorted());
  await promisify(execFile)('bash', ['-c', script, 'postrm', 'remove']);
  expect(left().toSorted()).toEqual(others.toSorted());
});
