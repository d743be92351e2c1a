import { expect } from 'vitest';
import { patience, type TestKiosk } from '../support/kiosk.ts';

/** The part of /healthz that is about the displays. */
export const healthOf = async (kiosk: TestKiosk) => (await (await fetch(`${await kiosk.url()}/healthz`)).json()).kiosk;
/** Waits until the screens are so. */
export const plays = (kiosk: TestKiosk, screens: object[]) =>
  expect.poll(() => healthOf(kiosk), patience).toMatchObject({ screens });
