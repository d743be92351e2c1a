/** A box on which no display can be opened, or none is connected: the session has the kiosk run without windows. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { enabledFeatures } from '../../main/switches.ts';
import { formatTextPage } from '../../main/text-page.ts';
import { compositorReport } from '../../service/health/index.ts';
import { describeBrowser } from '../support/browser.ts';
import { itDouble, patience, startKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';
import { temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

/** What the session adds. */
const args = ['--ozone-platform=headless', '--disable-gpu'];
const fault = 'this machine has no graphics device with a driver of the kernel';

it('the page of text names box, address and fault, and whatever they hold cannot control the terminal', () => {
  const told = { name: 'hall\u001B[2J', address: 'http://192.168.1.20:8080', hasConsole: true, fault: 'a\u0007b\nc' };
  const page = formatTextPage(told);
  expect(page).toContain('Name:     hall [2J\u001B[K');
  expect(page).toContain('Open http://192.168.1.20:8080/console on');
  expect(formatTextPage({ ...told, hasConsole: false })).toContain('Open http://192.168.1.20:8080 on');
  expect(page).toContain('no picture: a b c.');
  // Cursor off, home; the rest of each line and of the screen.
  expect(
    [...page.matchAll(/\u001B(\[\??\d*[a-zA-Z])/g)].map(([, code]) => code).filter((code) => code !== '[K'),
  ).toEqual(['[?25l', '[H', '[J']);
  expect(formatTextPage({ name: 'hall', address: null, hasConsole: false, fault })).not.toContain('http');
  const sentence = 'the compositor does not start with the graphics driver virtio-pci: it is not ready after 180 s';
  const lines = formatTextPage({ name: 'hall', address: null, hasConsole: false, fault: sentence }).split(
    '\u001B[K\r\n',
  );
  expect(lines).toContain('  driver virtio-pci: it is not ready after 180 s.');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80);
});

it('a box without a display is degraded; one that draws without its GPU says so and is not', () => {
  expect(compositorReport(null)).toEqual({});
  expect(compositorReport({ renderer: 'gpu', reason: null })).toEqual({});
  expect(compositorReport({ renderer: 'none', reason: fault })).toEqual({
    issues: { displays: [`No display can be opened: ${fault}.`] },
  });
  expect(compositorReport({ renderer: 'pixman', reason: fault })).toEqual({
    notes: [`The displays are drawn without the GPU until the next boot: ${fault}.`],
  });
});

it('hardware decoding is asked for beside what the command line asks for', () => {
  expect(enabledFeatures([])).toMatch(/^AcceleratedVideoDecoder,/);
  expect(enabledFeatures(['x', '--enable-features=A', '--enable-features=B,C'])).toMatch(
    /^B,C,AcceleratedVideoDecoder,/,
  );
});

describeBrowser('without a compositor', { timeout: 60_000 }, () => {
  itDouble('the kiosk serves, opens no window, and says why in its health and on the console', async () => {
    const terminal = join(temporaryFolder(), 'tty1');
    const env = { KIOSK_RENDERER: 'none', KIOSK_FAULT: fault, KIOSK_TERMINAL: terminal, SIGNAGE_HOST: '0.0.0.0' };
    const kiosk = await startKiosk({ content: lobby([{ id: 'hello', kind: 'text', title: 'Hello' }]), env, args });
    const health = await (await fetch(`${await kiosk.url()}/healthz`)).json();
    expect(health).toMatchObject({
      status: 'degraded',
      warnings: expect.arrayContaining([`No display can be opened: ${fault}.`]),
      kiosk: { screens: [], rendering: 'software', compositor: { renderer: 'none', reason: fault } },
    });
    const shown = () => readFileSync(terminal, 'utf8').replaceAll(/\u001B\[K\r\n */g, ' ');
    await expect.poll(shown, patience).toContain(fault);
    expect(await kiosk.evaluate(({ BaseWindow }) => BaseWindow.getAllWindows().length)).toBe(0);
    await kiosk.quit();
    expect(await kiosk.ended()).toBe(0);
  });
});

describeBrowser('without a display', { timeout: 60_000 }, () => {
  itDouble(
    'the kiosk serves, opens no window, and neither its health nor the watchdog of the machine minds',
    walk,
    async () => {
      const painted = join(temporaryFolder(), 'painted');
      const env = { KIOSK_RENDERER: 'gpu', KIOSK_PAINTED: painted };
      const kiosk = await startKiosk({ content: lobby([{ id: 'hello', kind: 'text', title: 'Hello' }]), env, args });
      const health = await (await fetch(`${await kiosk.url()}/healthz`)).json();
      expect(health).toMatchObject({
        status: 'ok',
        warnings: [],
        kiosk: { screens: [], compositor: { renderer: 'gpu', reason: null } },
      });
      expect(await kiosk.evaluate(({ BaseWindow }) => BaseWindow.getAllWindows().length)).toBe(0);
      await expect.poll(() => existsSync(painted), patience).toBe(true);
    },
  );
});
