/** Fifty power cuts; `SIGNAGE_MACHINE_CUTS` sets another number, to run them in parts. */
import { expect, it } from 'vitest';
import { cutPower } from '../cuts.ts';
import { playing } from '../machine.ts';

it('loses nothing that it acknowledged in 50 power cuts, and plays after each without a hand', async () => {
  const times = Number(process.env['SIGNAGE_MACHINE_CUTS'] ?? 50);
  expect(await cutPower(await playing(), times)).toBeGreaterThan(times);
});
