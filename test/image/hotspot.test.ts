/** The box's own Wi-Fi, as root opens it: NetworkManager's program and the firewall's are stand-ins that write down what they are asked. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/service.ts';

const script = join(import.meta.dirname, '..', '..', 'resources/image/root/usr/lib/signage/hotspot');

const makeBox = ({
  devices = 'enp1s0:ethernet:connected\\nwlp1s0:wifi:connected\\nwlp2s0:wifi:disconnected',
  networks = [] as string[],
  up = 0,
  guard = 0,
  active = 'inactive',
} = {}) => {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const calls = join(folder, 'calls');
  writeFileSync(join(folder, 'networks'), networks.map((name) => `${name}\n`).join(''));
  writeFileSync(join(folder, 'hostname'), 'signage-1a2b3c\n');
  const note = `printf '%s\\0' "$0" "$@" | sed -z 's,.*/,,' >>'${calls}'; printf '\\n' >>'${calls}'`;
  const programs = {
    chgrp: 'true',
    systemctl: `case "$*" in is-active*) echo ${active}; exit ;; esac; ${note}`,
    nft: `${note}; case "$*" in *-f*) cat >'${join(folder, 'rules')}'; exit ${guard} ;; esac`,
    nmcli: `case "$*" in *DEVICE,TYPE*) printf '${devices}\\n'; exit 0 ;; *'wifi list'*) cat '${join(folder, 'networks')}'; exit 0 ;; esac
      ${note}; case "$*" in *'connection up'*) [ ${up} = 0 ] || echo 'Error: no such radio' >&2; exit ${up} ;; esac`,
  };
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const told = join(folder, 'signage-hotspot.json');
  return {
    told,
    /** What it says, to whomever. */
    run: (word: string): string => {
      const { status, stdout, stderr } = spawnSync(script, [word], {
        encoding: 'utf8',
        env: {
          PATH: `${bin}:${process.env.PATH}`,
          STATE: folder,
          OWN: folder,
          HOSTNAME_FILE: join(folder, 'hostname'),
          FORWARD: join(folder, 'forward'),
        },
      });
      if (status !== 0) throw new Error(stdout + stderr);
      return stdout + stderr;
    },
    read: () => JSON.parse(readFileSync(told, 'utf8')) as { ssid: string; password: string; networks: string[] },
    rules: () => readFileSync(join(folder, 'rules'), 'utf8'),
    calls: () =>
      readFileSync(calls, 'utf8')
        .split('\0\n')
        .filter(Boolean)
        .map((line) => line.split('\0')),
  };
};
const away = [
  ['nmcli', 'connection', 'delete', 'id', 'signage-hotspot'],
  ['nft', 'delete', 'table', 'inet', 'signage-hotspot'],
];

it('opens with another password each time, which the player alone is told, and goes away', () => {
  const networks = ['House', `O'Neill "$(reboot)" ;&`, 'House', 'x'.repeat(40), ''];
  const { run, read, rules, calls, told } = makeBox({ networks });
  const said = run('open');
  const first = read();
  expect(said).not.toContain(first.password);
  expect(first).toEqual({
    ssid: 'signage-1a2b3c',
    password: expect.stringMatching(/^(?=.*[g-z])[a-z2-9]{12}$/),
    networks: ['House', `O'Neill "$(reboot)" ;&`],
  });
  expect(statSync(told).mode & 0o777).toBe(0o640);
  expect(rules()).toContain('iifname "wlp2s0" tcp dport 80 redirect');
  expect(rules()).toContain('iifname != { "wlp2s0", "lo" } ip daddr 10.20.30.1 drop');
  const [, , guarded, add = [], up] = calls();
  expect(guarded).toEqual(['nft', '-f', '-']);
  expect(add).toEqual(
    expect.arrayContaining(['save', 'no', 'ssid', 'signage-1a2b3c', 'ap', 'wpa-psk', first.password, 'shared']),
  );
  expect(up).toEqual(['nmcli', '--wait', '40', 'connection', 'up', 'id', 'signage-hotspot']);
  run('open');
  expect(read().password).not.toBe(first.password);
  run('join');
  expect(calls().slice(-3)).toEqual([...away, ['systemctl', 'start', '--no-block', 'signage-network.service']]);
  expect(existsSync(told)).toBe(false);
});

it.each<[string, Parameters<typeof makeBox>[0]]>([
  ['while the network is being set', { active: 'activating' }],
  ['without a radio', { devices: 'enp1s0:ethernet:connected\\nwlp2s0:wifi:unavailable' }],
  ['where the radio cannot, which is said without the password,', { up: 4 }],
  ['without its guard', { guard: 1 }],
])('%s it stays closed', (_, options) => {
  const { run, calls, told } = makeBox(options);
  const said = run('open');
  expect(said).toContain(options?.up === 4 ? 'Error: no such radio' : 'hotspot: ');
  const added = calls().find((words) => words.includes('wpa-psk')) ?? [];
  const password = added[added.indexOf('wifi-sec.psk') + 1];
  expect(said).not.toContain(password ?? '\0');
  expect(calls().slice(-2)).toEqual(away);
  expect(existsSync(told)).toBe(false);
});

it('does nothing else', () => {
  expect(() => makeBox().run('reboot')).toThrow(/say what to do/);
});
