/** Fifty power cuts; `SIGNAGE_MACHINE_CUTS` sets another number, to run them in parts. */
import { expect, it } from 'vitest';
import { cutPower } from '../cuts.ts';
import { playing } from '../machine.ts';

const times = Number(process.env['SIGNAGE_MACHINE_CUTS'] ?? 50);
/** ms: an hour to build a machine without KVM, and five minutes per cut, which takes two on an idle host. */
const timeout = 3_600_000 + times * 300_000;

it(`loses nothing that it acknowledged in ${times} power cuts, and plays after each without a hand`, {
  timeout,
}, async () => {
  expect(await cutPower(await playing(), times)).toBeGreaterThan(times);
});
