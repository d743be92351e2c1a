/** A browser in a fresh profile, before and after the root of the site was installed in it (certutil of libnss3-tools). */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../../service/platform/x509.ts';
import type { TestService } from '../support/service.ts';
import { keptAuthority } from './kept.ts';
import { isWithoutCertutil, launchProfile } from './profile.ts';
import { portOf, rootOf, startBox } from './support.ts';

describe.skipIf(isWithoutCertutil)('a browser', { timeout: 60_000 }, () => {
  let box: TestService;
  let stranger: Browser;
  let trusting: Browser;
  const ends: (() => void | Promise<void>)[] = [];

  beforeAll(async () => {
    const onEnd = (end: () => void | Promise<void>): void => void ends.push(end);
    box = await startBox({ env: { SIGNAGE_HOST: '127.0.0.1' } }, onEnd);
    const root = await rootOf(box);
    [stranger, trusting] = await Promise.all([launchProfile(null, onEnd), launchProfile(root, onEnd)]);
  });
  afterAll(async () => {
    await Promise.all([stranger?.close(), trusting?.close()]);
    for (const end of ends.toReversed()) await end();
  });

  const open = async (browser: Browser, url: string) => {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.goto(url);
    return page;
  };

  test('refuses a box whose root it does not know, and takes it once the root is installed', async () => {
    const url = `https://127.0.0.1:${await portOf(box)}`;
    await expect(open(stranger, url)).rejects.toThrow(/ERR_CERT_AUTHORITY_INVALID/);
    const page = await open(trusting, `${url}/console`);
    expect(await page.evaluate(() => [isSecureContext, location.protocol])).toEqual([true, 'https:']);
    // Pages and sockets work as they do over http.
    await page.goto(`${url}/screen/demo`);
    await page.waitForFunction(() => document.querySelector('[data-slide], .slide') !== null);
    const { count } = (await (await fetch(`${box.url}/api/screens/demo/connections`)).json()) as { count: number };
    expect(count).toBeGreaterThan(0);
  });

  test('refuses what the authority signs for a public name, and what is for the signing of code', async () => {
    const [record] = keptAuthority(box.dataDir);
    if (!record?.signer) throw new Error('the box keeps no authority');
    const { signer } = record;
    const serve = async (request: { names: string[]; usage?: string }): Promise<string> => {
      const life = { notBefore: Date.now() - 86_400_000, notAfter: Date.now() + 86_400_000 };
      const { cert, key } = await makeCertificate({ ...life, commonName: 'x', issuer: signer, ...request });
      const server = createServer({ cert: cert + signer.cert, key }, (_, response) => response.end('ok'));
      await once(server.listen(0, '127.0.0.1'), 'listening');
      onTestFinished(() => void server.close());
      return `https://${request.names[0]}:${(server.address() as AddressInfo).port}/`;
    };
    await open(trusting, await serve({ names: ['lobby.local'] }));
    const foreign = await serve({ names: ['bank.example.com'] });
    await expect(open(trusting, foreign)).rejects.toThrow(
      /ERR_CERT_(AUTHORITY_INVALID|INVALID|NAME_CONSTRAINT_VIOLATION)/,
    );
    const ofCode = await serve({ names: ['lobby.local'], usage: '1.3.6.1.5.5.7.3.3' });
    await expect(open(trusting, ofCode)).rejects.toThrow(/ERR_CERT_/);
  });

  test.each([
    ['en', 'Open this site securely', 'Install Certificate'],
    ['de', 'Diesen Standort sicher öffnen', 'Zertifikat installieren'],
  ])('shows people how to install the root (%s)', async (locale, title, step) => {
    const root = await rootOf(box);
    const context = await stranger.newContext({ locale });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(`${box.url}/trust`);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    const shown = (await page.locator('#fingerprint').textContent()) ?? '';
    expect(shown.replaceAll(/\s/g, '')).toBe(root.fingerprint256);
    expect(await page.locator('details').count()).toBe(6);
    expect(await page.locator('details').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining(step)]),
    );
    const code = page.locator('#code');
    expect(
      await code.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
    ).toBeGreaterThan(0);
    const [link] = await page
      .locator('a')
      .evaluateAll((links) => links.map((each) => (each as HTMLAnchorElement).href));
    expect(link).toBe(`${box.url}/trust/root.crt`);
  });
});
