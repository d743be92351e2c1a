/** The box's own Wi-Fi: when it opens and closes, what its code says, and the form that a phone fills in. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import {
  decideHotspot,
  firstHotspot,
  type HotspotOrder,
  type HotspotSeen,
  hotspotTimes,
  wifiCode,
} from '../../main/hotspot/decide.ts';
import { openForm, type Wifi } from '../../main/hotspot/form.ts';
import { hotspotAddress } from '../../service/domain/lan-address.ts';
import type { NetworkFault } from '../../service/public.ts';
import { itBrowser, launchBrowser } from '../support/browser.ts';

const root = join(import.meta.dirname, '..', '..');

/** Lets the time go on in seconds. Root does what it is asked, unless it `fails`. */
const makeBox = ({ mayOpen = true, link = false, fails = false } = {}) => {
  let state = firstHotspot(0);
  const seen: HotspotSeen = { now: 0, link, isOpen: false, mayOpen, fault: null };
  const orders: (string | number)[][] = [];
  const look = (wish: HotspotOrder | null = null): void => {
    const next = decideHotspot(state, seen, wish);
    state = next.state;
    if (next.order === null) return;
    orders.push([seen.now / 1000, next.order]);
    seen.isOpen = next.order === 'open' && !fails;
  };
  return {
    seen,
    orders,
    look,
    pass: (seconds: number): void => {
      for (let left = seconds; left > 0; left -= 1) {
        seen.now += 1000;
        look();
      }
    },
    phase: () => state.phase,
  };
};

it('opens after a minute without a link, for 15 minutes, and once more after another minute', () => {
  const box = makeBox();
  box.pass(59);
  expect(box.orders).toEqual([]);
  box.pass(1080);
  expect(box.orders).toEqual([
    [60, 'open'],
    [961, 'close'],
    [1021, 'open'],
  ]);
});

it('does not open by itself with a link, where it was ever bound, or has no radio', () => {
  for (const box of [makeBox({ link: true }), makeBox({ mayOpen: false })]) {
    box.pass(3600);
    expect(box.orders).toEqual([]);
  }
  const flapping = makeBox();
  for (let times = 0; times < 20; times += 1) {
    flapping.pass(50);
    flapping.seen.link = true;
    flapping.pass(1);
    flapping.seen.link = false;
  }
  expect(flapping.orders).toEqual([]);
});

it('closes with the first link, but not with one that was there before', () => {
  const box = makeBox();
  box.pass(100);
  box.seen.link = true;
  box.pass(1000);
  expect(box.orders).toEqual([
    [60, 'open'],
    [101, 'close'],
  ]);
  const cabled = makeBox({ link: true, mayOpen: false });
  cabled.look('open');
  cabled.pass(1000);
  expect(cabled.orders).toEqual([
    [0, 'open'],
    [901, 'close'],
  ]);
  cabled.look('open');
  cabled.pass(5);
  cabled.look('close');
  expect(cabled.orders.slice(2)).toEqual([
    [1000, 'open'],
    [1005, 'close'],
  ]);
});

it('opens again where joining failed, with the first fault that is new, and not where it worked', () => {
  const box = makeBox({ mayOpen: false });
  box.seen.fault = 'of before';
  box.look('open');
  box.pass(5);
  box.look('join');
  box.pass(60);
  expect(box.orders).toEqual([
    [0, 'open'],
    [5, 'join'],
  ]);
  box.seen.fault = 'password';
  box.pass(5);
  box.look('join');
  box.pass(30);
  box.seen.link = true;
  box.seen.fault = null;
  box.pass(1000);
  expect(box.orders.slice(2)).toEqual([
    [66, 'open'],
    [70, 'join'],
  ]);
  expect(box.phase()).toBe('closed');
  // Root says nothing at all.
  box.seen.link = false;
  box.look('open');
  box.pass(5);
  box.look('join');
  const at = box.seen.now / 1000;
  box.pass(300);
  expect(box.orders.at(-1)).toEqual([at + hotspotTimes.joining / 1000, 'open']);
});

it('takes back what root does not open, or has opened for an earlier start, and a form nobody has opened', () => {
  const box = makeBox({ fails: true });
  box.look('join');
  box.pass(200);
  expect(box.orders).toEqual([
    [60, 'open'],
    [120, 'close'],
    [180, 'open'],
  ]);
  const late = makeBox({ mayOpen: false });
  late.seen.isOpen = true;
  late.pass(20);
  expect(late.orders).toEqual([[15, 'close']]);
});

it('has a code in which names and passwords may hold anything', () => {
  expect(wifiCode({ ssid: 'signage-1a2b3c', password: 'abcdefgh2345' })).toBe(
    'WIFI:T:WPA;S:signage-1a2b3c;P:abcdefgh2345;;',
  );
  expect(wifiCode({ ssid: 'a;b,c"d:e\\f', password: ';' })).toBe('WIFI:T:WPA;S:a\\;b\\,c\\"d\\:e\\\\f;P:\\;;;');
});

it('has one address everywhere', () => {
  const overlay = join(root, 'resources', 'image', 'root');
  expect(readFileSync(join(overlay, 'usr/lib/signage/hotspot'), 'utf8')).toContain(`address=${hotspotAddress}\n`);
  const names = readFileSync(join(overlay, 'etc/NetworkManager/dnsmasq-shared.d/signage.conf'), 'utf8');
  expect(names).toContain(`address=/#/${hotspotAddress}\n`);
});

const openTestForm = async (fault: NetworkFault | null = null) => {
  const networks = ['House', `O'Neill "$(reboot)"`];
  const kept: Wifi[] = [];
  let joins = 0;
  const server = openForm(
    {
      log: pino({ level: 'silent' }),
      shown: () => ({ networks, fault }),
      onVisitor: () => {},
      keep: async (wifi) => void kept.push(wifi),
      join: () => {
        joins += 1;
      },
    },
    { pagesDir: join(root, 'dist', 'main', 'pages'), address: '127.0.0.1', port: 0 },
  );
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, kept, joins: () => joins };
};

it('leads phones to the form, and answers with nothing else', async () => {
  const { url, kept } = await openTestForm();
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${url}${path}`, { redirect: 'manual', ...init });
    return [answer.status, answer.headers.get('location')];
  };
  const elsewhere = url.replace('127.0.0.1', 'localhost');
  const probe = await fetch(`${elsewhere}/generate_204`, { redirect: 'manual' });
  expect([probe.status, probe.headers.get('location')]).toEqual([302, `${url}/`]);
  for (const path of ['/maintenance.html', '/maintenance.js', '/healthz', '/%2e%2e/index.js', '/network', '/a/b.js'])
    expect(await ask(path)).toEqual([404, null]);
  expect(await ask('/', { method: 'PUT' })).toEqual([405, null]);
  const json = { 'Content-Type': 'application/json' };
  const post = async (body: string, headers: Record<string, string> = json) => {
    const answer = await fetch(`${url}/wifi`, { method: 'POST', body, headers });
    return [answer.status, await answer.json()];
  };
  expect(await post('{"ssid":"x"}', { 'Content-Type': 'text/plain' })).toEqual([415, {}]);
  for (const [wifi, field] of [
    [{ ssid: 'two\nlines' }, 'ssid'],
    [{ ssid: '' }, 'ssid'],
    [{}, 'ssid'],
    [[], 'ssid'],
    [{ ssid: 'x', password: 'short' }, 'password'],
    [{ ssid: 'x', password: 'ü'.repeat(10) }, 'password'],
    [{ ssid: 'x', country: 'Germany' }, 'country'],
    [{ ssid: 'x', password: 'y'.repeat(4_000) }, 'ssid'],
  ] as const)
    expect(await post(JSON.stringify(wifi))).toEqual([400, { field }]);
  expect(await post('{')).toEqual([400, { field: 'ssid' }]);
  expect(kept).toEqual([]);
});

itBrowser('takes a Wi-Fi from a list or by its name, and says what is wrong', { timeout: 60_000 }, async () => {
  const { url, kept, joins } = await openTestForm({ reason: 'password', subject: 'House' });
  const context = await (await launchBrowser()).newContext({ locale: 'de-AT', viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(url);
  await page.getByText('Der letzte Versuch: Das Passwort').waitFor();
  expect(await page.getByLabel('Land').inputValue()).toBe('AT');
  await page.getByLabel('Welches WLAN').selectOption(`O'Neill "$(reboot)"`);
  await page.getByLabel('Passwort').fill('kurz');
  await page.getByRole('button', { name: 'Verbinden' }).click();
  await page.getByText('Ein Passwort hat 8 bis 63 Zeichen').waitFor();
  await page.getByLabel('Passwort').fill(`p'a"s$(s)word;`);
  await page.getByLabel('Welches WLAN').selectOption('Ein anderes');
  await page.getByLabel('Name des WLANs').fill(`<b>"$(reboot)"`);
  await page.getByRole('button', { name: 'Verbinden' }).click();
  await page.getByRole('heading', { name: 'Der Player versucht es jetzt' }).waitFor();
  expect(kept).toEqual([{ ssid: `<b>"$(reboot)"`, password: `p'a"s$(s)word;`, country: 'AT' }]);
  await expect.poll(joins, { timeout: 5_000 }).toBe(1);
  expect(errors).toEqual([]);
  await context.close();
});
