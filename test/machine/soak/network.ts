/** A phone sets the network of a box without a cable: the kernel gives the machine radios for the box, the phone and the house. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { closeContexts, launchBrowser } from '../../support/browser.ts';
import { freePort } from '../../support/ports.ts';
import { GB, machineOf } from '../image.ts';
import { codeOn, type Machine, patience } from '../machine.ts';
import { work } from '../tree.ts';

const house = { ssid: `O'Neill "$(reboot)" ;&`, password: `p'a"s$(reboot)w;` };
/** The card by which this computer reaches the phone; NetworkManager leaves it alone. */
const cable = '52:54:00:00:00:77';

/** Three radios, of which NetworkManager has one. */
const prepare = `mkdir -p /run/NetworkManager/conf.d /run/netns /run/test
printf '[keyfile]\\nunmanaged-devices=mac:${cable};interface-name:wlan1;interface-name:wlan2\\n' >/run/NetworkManager/conf.d/test.conf
modprobe mac80211_hwsim radios=3
`;
/** Somebody who runs what the test says: lines in base64. */
const obey = `stty -F /dev/ttyS1 raw -echo
exec 3<>/dev/ttyS1
while read -r line <&3; do
  out=$(base64 -d <<<"$line" | bash 2>&1); code=$?
  echo "$code $(base64 -w0 <<<"$out")" >&3
done
`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const script = (text: string): string => `/bin/bash -c 'echo ${base64(text)} | base64 -d >/run/$0; exec bash /run/$0'`;
const unit = `[Unit]
Before=NetworkManager.service
DefaultDependencies=no
[Service]
ExecStartPre=${script(prepare).replaceAll('$', '$$$$')} test-prepare
ExecStart=${script(obey).replaceAll('$', '$$$$')} test-obey
`;
const credential = (name: string, text: string): string[] => [
  '-smbios',
  `type=11,value=io.systemd.credential.binary:${name}=${base64(text)}`,
];
const dropIn = '[Unit]\nWants=signage-test.service\nAfter=signage-test.service\n';

let machine: Machine;
let page: Page;
/** Runs a command as root. @returns its output @throws Error if it fails */
let inside: (command: string) => Promise<string>;

/** What phones make of a code, by the convention of ZXing. */
const readWifi = (code: string): { ssid: string; password: string } => {
  const [, ssid = '', password = ''] = /^WIFI:T:WPA;S:((?:\\.|[^;])*);P:((?:\\.|[^;])*);;$/.exec(code) ?? [];
  const plain = (text: string): string => text.replace(/\\(.)/g, '$1');
  return { ssid: plain(ssid), password: plain(password) };
};
const shownWifi = async (not = ''): Promise<{ ssid: string; password: string }> => {
  const find = async () => readWifi(codeOn(await machine.picture('wifi')) ?? '').password;
  await expect.poll(async () => ((await find()) === not ? '' : find()), patience).toMatch(/^[a-z2-9]{12}$/);
  return readWifi(codeOn(await machine.picture('wifi')) ?? '');
};

const enter = (name: string): string => `nsenter --net=/run/netns/${name}`;
/** Writes a file of any content. */
const put = (path: string, text: string): Promise<string> => inside(`echo ${base64(text)} | base64 -d >${path}`);
const hex = (text: string): string => Buffer.from(text).toString('hex');

/** The router of the house opens its Wi-Fi, in place of the one before. */
const openHouse = async (password: string): Promise<void> => {
  await put(
    '/run/test/house.conf',
    `network={\nmode=2\nfrequency=2437\nssid=${hex(house.ssid)}\nkey_mgmt=WPA-PSK\nproto=RSN\npairwise=CCMP\npsk="${password}"\n}\n`,
  );
  await inside('kill $(cat /run/test/house.pid) 2>/dev/null; sleep 1; true');
  await inside(`${enter('house')} wpa_supplicant -B -P /run/test/house.pid -i wlan2 -c /run/test/house.conf`);
};

/** The phone joins, gets an address, and is what this computer's browser reaches. */
const join_ = async ({ ssid, password }: { ssid: string; password: string }): Promise<void> => {
  const network = `network={\nssid=${hex(ssid)}\npsk="${password}"\n}\n`;
  await put('/run/test/phone.conf', `ctrl_interface=/run/test/phone\n${network}`);
  await inside('kill $(cat /run/test/wpa.pid) 2>/dev/null; sleep 1; true');
  await inside(`${enter('phone')} wpa_supplicant -B -P /run/test/wpa.pid -i wlan1 -c /run/test/phone.conf`);
  await expect
    .poll(() => inside('wpa_cli -p /run/test/phone -i wlan1 status'), patience)
    .toMatch(/wpa_state=COMPLETED/);
  await inside(`${enter('phone')} busybox udhcpc -i wlan1 -n -q -t 10 -s /var/test-lease`);
};

it('opens its own Wi-Fi where it has no link', async () => {
  const [agentPort, phonePort] = [await freePort(), await freePort()];
  const net = `user,id=phone,net=10.0.3.0/24,restrict=on,hostfwd=tcp:127.0.0.1:${phonePort}-10.0.3.15:80`;
  machine = await machineOf({ size: 16 * GB, firmware: 'uefi' }, 'network', [
    ...credential('systemd.extra-unit.signage-test.service', unit),
    ...credential('systemd.unit-dropin.NetworkManager.service', dropIn),
    ...['-serial', `tcp:127.0.0.1:${agentPort},server=on,wait=off`],
    ...['-netdev', net, '-device', `virtio-net-pci,netdev=phone,mac=${cable},romfile=`],
  ]);
  await machine.powerOn();
  await machine.qmp('set_link', { name: 'nic', up: false });

  const agent = createConnection(agentPort, '127.0.0.1');
  await once(agent, 'connect');
  const lines = createInterface({ input: agent });
  inside = async (command) => {
    const answer = once(lines, 'line', { signal: AbortSignal.timeout(600_000) });
    agent.write(`${base64(command)}\n`);
    const [code, output = ''] = String((await answer)[0]).split(' ');
    const text = Buffer.from(output, 'base64').toString();
    if (code !== '0') throw new Error(`${command}: ${text}`);
    return text;
  };
  await shownWifi();

  const hold = (name: string): string => `$(cat /run/test/${name}.holder)`;
  for (const [at, name] of ['phone', 'house'].entries()) {
    await inside(`touch /run/netns/${name} && unshare --net=/run/netns/${name} true
      ${enter(name)} sleep 99999 >/dev/null 2>&1 & echo $! >/run/test/${name}.holder; sleep 2`);
    await inside(`iw phy $(cat /sys/class/net/wlan${at + 1}/phy80211/name) set netns ${hold(name)}`);
    await inside(`${enter(name)} busybox ip link set wlan${at + 1} up`);
  }
  await put(
    '/var/test-lease',
    '#!/bin/sh\n[ "$1" = bound ] || exit 0\nbusybox ip addr flush dev $interface\nbusybox ip addr add $ip/24 dev $interface\necho $dns >/run/test/dns\n',
  );
  await inside(`chmod +x /var/test-lease`);
  await inside(`${enter('house')} busybox ip addr add 192.168.77.1/24 dev wlan2`);
  await openHouse(house.password);
  await inside(
    `${enter('house')} dnsmasq --conf-file=/dev/null --port=0 --interface=wlan2 --dhcp-range=192.168.77.10,192.168.77.50 --dhcp-leasefile=/run/test/leases`,
  );
  // What comes by the cable goes to the form, as from the phone itself.
  await inside(`card=$(grep -l ${cable} /sys/class/net/*/address | cut -d / -f 5)
    busybox ip link set $card netns ${hold('phone')}
    ${enter('phone')} sh -ec "busybox ip addr add 10.0.3.15/24 dev $card; busybox ip link set $card up; echo 1 >/proc/sys/net/ipv4/ip_forward"`);
  await inside(
    `${enter('phone')} nft 'table ip test { chain a { type nat hook prerouting priority -100; ip daddr 10.0.3.15 tcp dport 80 dnat to 10.20.30.1; }; chain b { type nat hook postrouting priority 100; masquerade; }; }'`,
  );

  // Every host of the browser is what the phone reaches.
  const proxy = createServer((asked, answer) => {
    const { method, headers, url = '' } = asked;
    const onward = request({
      host: '127.0.0.1',
      port: phonePort,
      method,
      headers,
      path: url.replace(/^http:\/\/[^/]+/, ''),
    });
    onward.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    onward.on('error', () => answer.writeHead(502).end());
    asked.pipe(onward);
  }).listen(0, '127.0.0.1');
  // Requests beside the page come by a tunnel.
  proxy.on('connect', (_asked, socket: Socket) => {
    const onward = createConnection(phonePort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    for (const end of [socket, onward]) end.on('error', () => void [socket, onward].map((other) => other.destroy()));
  });
  await once(proxy, 'listening');
  const server = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const context = await (await launchBrowser()).newContext({ proxy: { server }, locale: 'en-GB' });
  page = await context.newPage();
  page.setDefaultTimeout(120_000);
});

afterAll(async () => {
  await closeContexts();
  await machine?.cutPower();
});

/** The phone scans the display, opens what it opens, and fills in the form. @returns the password that was shown */
const fill = async (wifi: { ssid: string; password: string }, before: string, said?: RegExp): Promise<string> => {
  const shown = await shownWifi(before);
  await join_(shown);
  await page.goto('http://connectivity.example/generate_204');
  expect(page.url()).toBe('http://10.20.30.1/');
  if (said !== undefined) await page.getByText(said).waitFor();
  const options = await page.getByLabel('Which Wi-Fi').locator('option').allInnerTexts();
  if (options.includes(wifi.ssid)) await page.getByLabel('Which Wi-Fi').selectOption(wifi.ssid);
  else {
    await page.getByLabel('Which Wi-Fi').selectOption('Another one');
    await page.getByLabel('Name of the Wi-Fi').fill(wifi.ssid);
  }
  await page.getByLabel('Password').fill(wifi.password);
  await page.getByLabel('Country').fill('DE');
  await page.screenshot({ path: join(work, 'form.png') });
  await page.getByRole('button', { name: 'Connect' }).click();
  await page.getByText('The player tries it now').waitFor();
  return shown.password;
};

it('answers over its own Wi-Fi with the form and names alone', async () => {
  await join_(await shownWifi());
  expect(await inside('cat /run/test/dns')).toContain('10.20.30.1');
  for (const port of [22, 443, 8080, 8443])
    await expect(inside(`${enter('phone')} timeout 5 bash -c '</dev/tcp/10.20.30.1/${port}'`)).rejects.toThrow();
  expect(await inside(`${enter('phone')} busybox nslookup anything.example 10.20.30.1`)).toContain('10.20.30.1');
  await page.goto('http://10.20.30.1/');
  for (const path of ['/healthz', '/console', '/onboard', '/screen/demo'])
    expect((await page.request.get(`http://10.20.30.1${path}`)).status()).toBe(404);
  const newline = { ssid: 'two\nlines', password: 'long enough' };
  expect((await page.request.post('http://10.20.30.1/wifi', { data: newline })).status()).toBe(400);
});

it('says what was wrong, and opens again with another password', async () => {
  const first = await fill({ ...house, password: 'not the password' }, '');
  const second = await fill(
    { ssid: 'Nowhere', password: house.password },
    first,
    /The password of the Wi-Fi .*O'Neill/,
  );
  await shownWifi(second);
});

it('joins the Wi-Fi of the house, whatever it is called, and shows the code there', async () => {
  await fill(house, '', /There is no Wi-Fi .*Nowhere/);
  await expect
    .poll(async () => codeOn(await machine.picture('house')), patience)
    .toMatch(/^http:\/\/192\.168\.77\.\d+:8080\/onboard/);
  expect(await inside('ls /run/signage-hotspot.json 2>&1 || true')).toContain('No such file');
  expect(await inside('nft list tables')).not.toContain('signage-hotspot');
  // It stays without anybody's help.
  await inside('nmcli connection down id signage || true; nmcli connection up id signage');
  await wait(5_000);
  expect(await inside('nmcli --terse --fields NAME connection show --active')).toContain('signage');
});

it('joins it again by itself after the router has refused it', async () => {
  const refusals = () => inside('journalctl --boot --unit NetworkManager | grep -c no-secrets || true').then(Number);
  const before = await refusals();
  await openHouse('not the password');
  await expect.poll(refusals, patience).toBeGreaterThan(before);
  await openHouse(house.password);
  const active = () => inside('nmcli --terse --fields NAME,STATE connection show --active');
  await expect.poll(active, patience).toContain('signage:activated');
});
