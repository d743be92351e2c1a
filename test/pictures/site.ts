/** Boxes as real services, and a real browser page for each display of the hotel. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { signRequest } from '../../service/auth/sign.ts';
import { startService } from '../../service/index.ts';
import { readOptions } from '../../service/platform/options/index.ts';
import { darkDevice, devices, houseContent, isPortrait, putMedia, root } from './house.ts';

/** Offsets from UTC are those of the winter; an hour more or less is still in the morning. */
const zones = [
  ['Pacific/Auckland', 13],
  ['Asia/Tokyo', 9],
  ['Asia/Bangkok', 7],
  ['Asia/Dubai', 4],
  ['Europe/Vienna', 1],
  ['Atlantic/Azores', -1],
  ['America/New_York', -5],
  ['America/Los_Angeles', -8],
  ['Pacific/Honolulu', -10],
] as const;

/** A time zone in which the pictures show a morning. */
const morningZone = (now: Date): string => {
  const fromTen = (offset: number): number => Math.abs(((now.getUTCHours() + offset - 10 + 36) % 24) - 12);
  return zones.toSorted(([, a], [, b]) => fromTen(a) - fromTen(b))[0]?.[0] ?? 'UTC';
};

export interface Box {
  url: string;
  timeZone: string;
  close(): Promise<void>;
}

interface Setup {
  content: object;
  env?: Record<string, string>;
  capture?: (deviceId: string) => Promise<Uint8Array> | null;
}

/** Starts a box over a data directory of its own. */
export const startBox = async ({ content, env = {}, capture = () => null }: Setup): Promise<Box> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'signage-pictures-'));
  putMedia(dataDir);
  writeFileSync(join(dataDir, 'content.json'), JSON.stringify(content));
  const timeZone = morningZone(new Date());
  const options = readOptions({
    env: {
      PATH: process.env.PATH,
      SIGNAGE_PORT: '0',
      SIGNAGE_DISCOVERY: 'off',
      SIGNAGE_TIME_ZONE: timeZone,
      SIGNAGE_DATA_DIR: dataDir,
      ...env,
    },
  });
  const service = await startService(options, {
    log: pino({ level: 'silent' }),
    rendererDir: join(root, 'dist', 'renderer'),
    resourcesDir: join(root, 'resources'),
    capture,
  });
  return {
    url: service.url,
    timeZone,
    close: async () => {
      await service.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};

/** Of the hotel. */
export const secret = 'the pictures of the hotel';

/** Time in which pages show their first slide, ms. */
const SETTLE_MS = 3_000;

/** Starts the hotel: each display is a page that the console can photograph, but for one that was switched off. */
export const startHouse = async (browser: Browser): Promise<Box> => {
  const displays = new Map<string, Page>();
  const box = await startBox({
    content: houseContent(),
    env: { SIGNAGE_SITE: 'Hillside House', SIGNAGE_SHARED_SECRET: secret },
    capture: (deviceId) => displays.get(deviceId)?.screenshot({ type: 'jpeg', quality: 85 }) ?? null,
  });
  for (const [deviceId, clientName] of Object.entries(devices)) {
    const screenSlug = deviceId.replace(/-\d$/, '');
    const url = `${box.url}/api/onboarding`;
    const body = JSON.stringify({ deviceId, clientName, screenSlug });
    const headers = { 'Content-Type': 'application/json', ...signRequest({ secret, method: 'POST', url, body }) };
    const response = await fetch(url, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(await response.text());
    const viewport = isPortrait(deviceId) ? { width: 720, height: 1280 } : { width: 1280, height: 720 };
    const page = await browser.newPage({ viewport, locale: 'en-GB', timezoneId: box.timeZone });
    await page.goto(`${box.url}/screen/${screenSlug}?deviceId=${deviceId}`);
    displays.set(deviceId, page);
  }
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  await displays.get(darkDevice)?.close();
  displays.delete(darkDevice);
  return box;
};
