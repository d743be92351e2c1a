/** Actions on the machine of a kiosk: what is seen on its displays, and what root is told. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createOperate } from '../../main/operate.ts';
import type { ActionAnswer } from '../../service/contract/console/actions.ts';
import { describeBrowser } from '../support/browser.ts';
import { layersOf } from '../support/electron/ask.ts';
import { itDouble, patience, startKiosk, type TestKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';
import { temporaryFolder } from '../support/service.ts';

const slides = [{ id: 'hello', kind: 'text', title: 'Good morning' }];
const order = async (kiosk: TestKiosk, body: object): Promise<Response> => {
  const url = await kiosk.url();
  const { nodeId } = (await (await fetch(`${url}/healthz`)).json()) as { nodeId: string };
  return fetch(`${url}/console/api/boxes/${nodeId}/actions`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'x-signage-local': readFileSync(join(kiosk.dataDir, 'local-token'), 'utf8'),
    },
    body: JSON.stringify(body),
  });
};
const act = async (kiosk: TestKiosk, body: object): Promise<ActionAnswer> =>
  (await (await order(kiosk, body)).json()) as ActionAnswer;

describeBrowser('actions on a kiosk', { timeout: 120_000 }, () => {
  itDouble('each display says which one it is, is switched by hand, and what there is not is told', async () => {
    const displays = [1, 2].map((display) => ({ display, screen: 'lobby' }));
    const kiosk = await startKiosk({
      content: lobby(slides),
      config: { kiosk: { displays } },
      displays: [
        [960, 540],
        [960, 540],
      ],
    });
    const layers = async () => (await layersOf(kiosk.evaluate)).map((of) => of.map((url) => url.replace(/\?.*/, '')));
    const page = '/screen/lobby';
    const label = 'kiosk://pages/identify.html';
    await expect.poll(layers, patience).toEqual([[page], [page]]);
    expect(await act(kiosk, { action: 'identify', display: 'Display B' })).toMatchObject({ result: 'done', state: 1 });
    expect(await layers()).toEqual([[page], [page, label]]);
    expect(await act(kiosk, { action: 'identify' })).toMatchObject({ result: 'done', state: 2 });
    const shown = await kiosk.page(/identify\.html\?.*number=1/);
    const { host } = new URL(await kiosk.url());
    expect(await shown.locator('.identify p').allTextContents()).toEqual(['1', hostname(), host]);
    const gone = await order(kiosk, { action: 'identify', display: 'HDMI-9' });
    expect([gone.status, await gone.json()]).toMatchObject([400, { error: { field: 'display' } }]);
    const off = await act(kiosk, { action: 'display-off', display: 1 });
    expect(off).toMatchObject({ result: 'not_supported', state: null });
    await expect.poll(async () => (await layers()).map((of) => of.includes('black')), patience).toEqual([true, false]);
    await act(kiosk, { action: 'display-on' });
    await expect.poll(async () => (await layers()).flat().includes('black'), patience).toBe(false);
    expect(await act(kiosk, { action: 'reset', value: hostname() })).toMatchObject({ result: 'not_supported' });
    // It goes by itself.
    await expect.poll(layers, { ...patience, timeout: 20_000 }).toEqual([[page], [page]]);
  });
});

/** The orders of a machine with systemd, and root, which takes them or not. */
const machine = (takes: boolean, isOnTrial = false, displays: readonly { id: number; label: string }[] = []) => {
  const dataDir = temporaryFolder();
  const orders: string[] = [];
  const path = join(dataDir, 'updates', 'order');
  const look = (): void => {
    if (!takes || !existsSync(path)) return;
    orders.push(readFileSync(path, 'utf8'));
    rmSync(path);
  };
  const looking = setInterval(look, 5);
  onTestFinished(() => clearInterval(looking));
  const operate = createOperate(
    {
      log: pino({ level: 'silent' }),
      windows: {
        list: () =>
          displays.map((display, index) => ({
            assignment: { display, number: index + 1, deviceId: `device-${index + 1}`, rotation: 0 },
          })) as never,
      },
      appliance: { switchTo: () => null, isOnTrial: () => isOnTrial },
      showLabel: async () => undefined,
      execute: () => Promise.reject(new Error('not here')),
      state: () => undefined,
      folders: () => [join(dataDir, 'uploads'), '/srv/media'],
    },
    { dataDir, isWatched: true },
  );
  return {
    orders,
    path,
    operate: (body: Parameters<typeof operate>[0]) => operate(body, { name: 'box', address: null }),
  };
};

test('root is told what to do, and the answer says whether it took the order', async () => {
  const { orders, operate } = machine(true);
  expect(await operate({ action: 'reboot' })).toMatchObject({ result: 'done', state: 'rebooting' });
  expect(await operate({ action: 'power-off' })).toMatchObject({ result: 'done' });
  expect(await operate({ action: 'reset', value: 'box' })).toMatchObject({ result: 'done' });
  expect(orders).toEqual(['reboot\n', 'power-off\n', 'reset\n/srv/media\n']);
});

test('an order that root does not take is withdrawn, and none is given while an update is on trial', async () => {
  const { path, operate } = machine(false);
  expect(await operate({ action: 'reboot' })).toMatchObject({ result: 'unknown' });
  expect(existsSync(path)).toBe(false);
  expect(await machine(true, true).operate({ action: 'reboot' })).toEqual({ refusal: 'update_in_trial' });
});

test('a display without a label is called as /healthz calls it', async () => {
  const { operate } = machine(true, false, [
    { id: 7, label: '' },
    { id: 8, label: 'DELL U2720Q' },
  ]);
  for (const display of ['Display 7', 'DELL U2720Q', 1]) {
    expect(await operate({ action: 'identify', display })).toMatchObject({ result: 'done', state: 1 });
  }
  for (const display of ['', 'Display 8']) {
    expect(await operate({ action: 'identify', display })).toMatchObject({
      refusal: 'invalid_field',
      message: expect.stringContaining('it has 1 (Display 7), 2 (DELL U2720Q).'),
    });
  }
});
