/** The network of an image's configuration: NetworkManager's program is a stand-in that writes down what it is asked. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';

const script = join(import.meta.dirname, '..', '..', 'resources/image/root/usr/lib/signage/network');

/**
 * @param up what the program says of a connection that is started, and its exit code
 * @param lateness how often it says so, before it says what is in `last`: absent, the connection starts after all
 * @param patience s
 * @param refused a part of what is asked of NetworkManager's program, which it refuses
 * @param units what systemd says of those that use the radio
 * @param connections each with its type and whether it is active
 * @param states of the devices
 */
const makeBox = (
  network: unknown,
  {
    up = ['', 0] as [string, number],
    lateness = Number.POSITIVE_INFINITY,
    last = ['', 0] as [string, number],
    patience = 120,
    devices = 'enp1s0:ethernet\\nwlp2s0:wifi',
    refused = 'nothing',
    units = 'inactive',
    connections = 'signage:802-11-wireless:no',
    states = 'ethernet:unavailable\\nwifi:disconnected',
  } = {},
) => {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const calls = join(folder, 'calls');
  const told = join(folder, 'signage-network.json');
  const say = ([text, code]: [string, number]): string => `echo '${text}' >&2; exit ${code}`;
  const isLate = `[ "$(tr '\\0' ' ' <'${calls}' | grep -c 'up id signage-next')" -le ${lateness} ]`;
  const answer = Number.isFinite(lateness) ? `if ${isLate}; then ${say(up)}; fi; ${say(last)}` : say(up);
  const programs = {
    sleep: 'true',
    runuser: '[ "$1 $2 $3" = "-u signage --" ] || exit 1; AS_PLAYER=1; export AS_PLAYER; shift 3; exec "$@"',
    // What the player may have linked to elsewhere is read as the player.
    cat: `case "$*" in *config.json*) [ -n "$AS_PLAYER" ] || exit 1 ;; esac; exec ${findProgram('cat')} "$@"`,
    iw: `printf '%s\\0' iw "$@" >>'${calls}'; printf '\\n' >>'${calls}'`,
    systemctl: `[ "$1" != is-active ] || echo '${units}'`,
    nmcli: `case "$*" in *DEVICE,TYPE*) printf '${devices}\\n'; exit 0 ;;
        *NAME,TYPE,ACTIVE*) printf '${connections}\\n'; exit 0 ;; *TYPE,STATE*) printf '${states}\\n'; exit 0 ;; esac
      printf '%s\\0' "$@" >>'${calls}'; printf '\\n' >>'${calls}'
      case "$*" in *'${refused}'*) echo 'Error: refused' >&2; exit 10 ;;
        *'up id signage-next'*) ${answer} ;; *connection.uuid*) echo 1234 ;; esac`,
    'nm-online': 'true',
  };
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ kiosk: { network } }));
  return {
    run: (...words: string[]) => {
      const own = { PLAYER: folder, STATE: folder, OWN: folder, HOSTNAME_FILE: join(folder, 'hostname') };
      const env = { PATH: `${bin}:${process.env.PATH}`, PATIENCE: String(patience), ...own };
      execFileSync(script, words, { stdio: 'pipe', env });
    },
    calls: (): string[][] =>
      existsSync(calls)
        ? readFileSync(calls, 'utf8')
            .split('\0\n')
            .filter((line) => line !== '')
            .map((line) => line.split('\0'))
        : [],
    told: (): unknown => (existsSync(told) ? JSON.parse(readFileSync(told, 'utf8')) : null),
    write: (name: string, text: string) => writeFileSync(join(folder, name), text),
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
  };
};

const wifi = { ssid: `O'Neill "$(reboot)" ;&`, password: `p'a"s$(s)word;`, country: 'DE' };

it('joins a Wi-Fi with names and passwords of any kind, once', () => {
  const { run, calls, told, read } = makeBox({
    wifi,
    address: '192.168.1.20/24',
    gateway: '192.168.1.1',
    dns: ['192.168.1.1', '2001:db8::1'],
    ntp: 'time.example.com',
    hostname: 'lobby',
  });
  run();
  expect(calls()).toEqual([
    ['iw', 'reg', 'set', 'DE'],
    ['connection', 'delete', 'id', 'signage-next'],
    [
      ...['connection', 'add', 'type', 'wifi', 'con-name', 'signage-next', 'ifname', '*', 'autoconnect', 'no'],
      ...['ssid', wifi.ssid, 'wifi-sec.key-mgmt', 'wpa-psk', 'wifi-sec.psk', wifi.password],
      ...['ipv4.method', 'manual', 'ipv4.addresses', '192.168.1.20/24', 'ipv4.gateway', '192.168.1.1'],
      ...['+ipv4.dns', '192.168.1.1', '+ipv6.dns', '2001:db8::1'],
    ],
    ['--get-values', 'connection.uuid', 'connection', 'show', 'id', 'signage'],
    ['--wait', expect.stringMatching(/^1(?:20|19)$/), 'connection', 'up', 'id', 'signage-next'],
    [
      ...['connection', 'modify', 'id', 'signage-next', 'connection.id', 'signage', 'connection.autoconnect', 'yes'],
      ...['connection.autoconnect-priority', '10'],
      // A hidden one is found at the next start, too, however late its router is.
      ...['wifi.hidden', 'yes', 'connection.autoconnect-retries', '0'],
    ],
    ['connection', 'delete', 'uuid', '1234'],
  ]);
  expect(told()).toBeNull();
  expect([read('hostname'), read('systemd/timesyncd.conf.d/signage.conf')]).toEqual([
    'lobby\n',
    '[Time]\nNTP=time.example.com\n',
  ]);
  const before = calls().length;
  run();
  // The country alone: it holds until the machine is switched off.
  expect(calls().length).toBe(before + 1);
});

const failures = [
  ['Error: Connection activation failed: Secrets were required, but not provided.', 'password', wifi.ssid],
  ['Error: Connection activation failed: The Wi-Fi network could not be found.', 'missing', wifi.ssid],
  ['Error: Timeout expired (120 seconds)', 'link', wifi.ssid],
] as const;
// Each is some starts of the script.
it.each(isSoak ? failures : failures.slice(0, 1))('goes back to what worked: %s', (message, reason, subject) => {
  const { run, calls, told } = makeBox({ wifi }, { up: [message, 4], patience: 0 });
  run();
  expect(told()).toEqual({ reason, subject });
  expect(calls().slice(-2)).toEqual([
    ['connection', 'delete', 'id', 'signage-next'],
    ['connection', 'up', 'id', 'signage'],
  ]);
  // At the next start it is tried once more.
  const before = calls().length;
  run();
  expect(calls().length).toBe(before * 2);
});

it('names the reason of the attempt before, where the time is over within one', () => {
  const up: [string, number] = ['Error: Connection activation failed: The Wi-Fi network could not be found.', 4];
  const { run, told } = makeBox({ wifi }, { up, lateness: 1, last: ['Error: Timeout expired (3 seconds)', 3] });
  run();
  expect(told()).toEqual({ reason: 'missing', subject: wifi.ssid });
});

it.each([
  'The Wi-Fi network could not be found.',
  'IP configuration could not be reserved (no available address, timeout, etc.)',
])('waits for a network that comes later, as of a router that was switched on with the box: %s', (reason) => {
  const up: [string, number] = [`Error: Connection activation failed: ${reason}`, 4];
  const { run, calls, told } = makeBox({ wifi }, { up, lateness: 2 });
  run();
  expect(told()).toBeNull();
  expect(calls().filter((words) => words.includes('up'))).toHaveLength(3);
});

it('takes a password for wrong only where it is refused three times', () => {
  const up: [string, number] = ['Error: Connection activation failed: Secrets were required, but not provided.', 4];
  const disturbed = makeBox({ wifi }, { up, lateness: 2 });
  disturbed.run();
  expect(disturbed.told()).toBeNull();
  const wrong = makeBox({ wifi }, { up });
  wrong.run();
  expect(wrong.told()).toEqual({ reason: 'password', subject: wifi.ssid });
  expect(wrong.calls().filter((words) => words.includes('signage-next') && words.includes('up'))).toHaveLength(3);
});

it('connects a Wi-Fi again that NetworkManager has given up', () => {
  const { run, calls, write } = makeBox({ wifi }, { refused: 'up id signage' });
  run('rejoin');
  expect(calls()).toEqual([]);
  write('network', 'as the configuration says');
  run('rejoin');
  expect(calls()).toEqual([['--wait', '40', 'connection', 'up', 'id', 'signage']]);
});

it.each([
  ['it is connected', { connections: 'signage:802-11-wireless:yes' }],
  ['the box is set to a cable', { connections: 'signage:802-3-ethernet:no' }],
  ['its radio is in use', { states: 'wifi:connected' }],
  ['the network is being set', { units: 'activating\ninactive' }],
  ['the Wi-Fi of the box itself is being opened', { units: 'inactive\nactive' }],
])('leaves the Wi-Fi alone where %s', (_, machine) => {
  const { run, calls, write } = makeBox({ wifi }, machine);
  write('network', 'as the configuration says');
  run('rejoin');
  expect(calls()).toEqual([]);
});

it('says that NetworkManager does not take it, and starts nothing', () => {
  const { run, calls, told } = makeBox({ wifi }, { refused: 'connection add' });
  run();
  expect(told()).toEqual({ reason: 'value', subject: 'network' });
  expect(calls().filter((words) => words.includes('up') || words.includes('modify'))).toEqual([]);
});

it('says so where the network works and cannot be kept, and keeps the one before', () => {
  const { run, calls, told } = makeBox({ wifi }, { refused: 'connection modify' });
  run();
  expect(told()).toEqual({ reason: 'link', subject: wifi.ssid });
  expect(calls().flat()).not.toContain('uuid');
});

it('takes what the device finds by itself where there was no network before', () => {
  const { run, calls } = makeBox({ wifi }, { refused: 'up id signage' });
  run();
  expect(calls().slice(-2)).toEqual([
    ['connection', 'up', 'id', 'signage'],
    ['device', 'connect', 'wlp2s0'],
  ]);
});

it('joins the first network of a box, which has none to remove', () => {
  const { run, calls, told } = makeBox({ wifi }, { refused: 'connection.uuid' });
  run();
  expect(told()).toBeNull();
  expect(calls().at(-1)).toContain('connection.autoconnect');
});

it('says that there is no such device', () => {
  const { run, told } = makeBox({ wifi }, { devices: 'enp1s0:ethernet' });
  run();
  expect(told()).toEqual({ reason: 'device', subject: 'Wi-Fi' });
});

it('sets the cable where no Wi-Fi is named, and leaves all as it is where nothing is said', () => {
  const cable = makeBox({ address: 'fd00::20/64', gateway: 'fd00::1' });
  cable.run();
  expect(cable.calls()[1]).toEqual([
    ...['connection', 'add', 'type', 'ethernet', 'con-name', 'signage-next', 'ifname', '*', 'autoconnect', 'no'],
    ...['ipv6.method', 'manual', 'ipv6.addresses', 'fd00::20/64', 'ipv6.gateway', 'fd00::1'],
  ]);
  expect(cable.calls().flat()).not.toContain('wifi.hidden');
  const none = makeBox(undefined);
  none.run();
  expect([none.calls(), none.told()]).toEqual([[], null]);
});

// The player checks them, too; root believes nobody.
const bad: [string, unknown][] = [
  ['wifi.ssid', { wifi: { ssid: 'two\nlines' } }],
  ['wifi.ssid', { wifi: { ssid: 'ü'.repeat(17) } }],
  ['wifi.password', { wifi: { ssid: 'x', password: 'short' } }],
  ['wifi.country', { wifi: { ssid: 'x', country: 'de' } }],
  ['address', { address: '192.168.1.20' }],
  ['gateway', { gateway: '$(reboot)' }],
  ['dns', { dns: ['192.168.1.1', 'x y'] }],
  ['ntp', { ntp: 'x\nNTP=y' }],
  ['hostname', { hostname: '-x' }],
];
it.each(isSoak ? bad : bad.filter((_, index) => index % 2 === 0))(
  'refuses a bad %s, and asks nobody',
  (subject, network) => {
    const { run, calls, told } = makeBox(network);
    run();
    expect(told()).toEqual({ reason: 'value', subject });
    expect(calls()).toEqual([]);
  },
);

it('forgets the network where the configuration names none any more, and only then', () => {
  const { run, calls, write } = makeBox({ wifi });
  run();
  const before = calls().length;
  write('config.json', '{ "kiosk": {');
  run();
  expect(calls().length).toBe(before);
  write('config.json', '{ "kiosk": {} }');
  run();
  run();
  expect(calls().slice(before)).toEqual([['connection', 'delete', 'id', 'signage']]);
});
