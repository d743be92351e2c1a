/** Judges the installed units by systemd's own rules: unknown settings, missing programs, cycles. */
import { execFile } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isCi } from '../support/machine.ts';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';

const execute = promisify(execFile);
const linux = join(import.meta.dirname, '..', '..', 'resources', 'linux');

/** Copies the units into a folder, and returns it. Their programs are in the checkout. */
const installUnits = async (): Promise<string> => {
  const units = temporaryFolder();
  const files = readdirSync(linux, { recursive: true, encoding: 'utf8' });
  for (const path of files.filter((each) => /\.(service|path)$/.test(each))) {
    const text = readFileSync(join(linux, path), 'utf8')
      .replaceAll('/usr/lib/signage-player/', `${linux}/`)
      .replaceAll('/usr/lib/signage-player-headless/', `${linux}/headless/`);
    writeFileSync(join(units, basename(path)), text);
  }
  // The unit wants it; it need not be installed here.
  writeFileSync(join(units, 'seatd.service'), '[Service]\nExecStart=/bin/true\n');
  return units;
};

/** What systemd finds wrong with the units; empty: nothing. */
const verify = async (units: string): Promise<string> => {
  const files = readdirSync(units).map((name) => join(units, name));
  const options = { env: { ...process.env, SYSTEMD_UNIT_PATH: `${units}:` } };
  const { stdout, stderr } = await execute('systemd-analyze', ['verify', '--man=no', ...files], options).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  return `${stdout}${stderr}`.trim();
};

it.each(['signage-player.service', 'headless/signage-player-headless.service'])(
  '%s goes on where the kernel ends one of its programs for want of memory, and starts again where it ends itself',
  (unit) => {
    const text = readFileSync(join(linux, unit), 'utf8');
    expect(text).toMatch(/^OOMPolicy=continue$/m);
    expect(text).toMatch(/^Restart=always$/m);
  },
);

it('lets the group of the kiosk use both kinds of CEC: that of the kernel, and the serial port of an adapter', () => {
  const groups = readFileSync(join(linux, 'sysusers.conf'), 'utf8').match(/(?<=^m signage ).+$/gm);
  const rules = readFileSync(join(linux, '70-signage-player.rules'), 'utf8').split('\n');
  for (const device of [
    'SUBSYSTEM=="cec"',
    'SUBSYSTEM=="tty", ATTRS{idVendor}=="2548", ATTRS{idProduct}=="1001|1002"',
  ]) {
    expect(rules).toContain(`${device}, GROUP="video", MODE="0660"`);
  }
  expect(groups).toContain('video');
});

describe.skipIf(findProgram('systemd-analyze') === undefined && !isCi)(
  'the units of the packages',
  { timeout: 60_000 },
  () => {
    it('are accepted by systemd without a word', async () => {
      expect(await verify(await installUnits())).toBe('');
    });

    it('are refused by systemd where a setting is misspelt or a program is missing', async () => {
      const units = await installUnits();
      appendFileSync(join(units, 'signage-player-rescue.service'), '[Service]\nRestrat=always\n');
      const path = join(units, 'signage-player-update.service');
      writeFileSync(path, readFileSync(path, 'utf8').replace('/update-player', '/missing-player'));
      const complaints = await verify(units);
      expect(complaints).toContain('Restrat');
      expect(complaints).toContain('missing-player');
    });
  },
);
