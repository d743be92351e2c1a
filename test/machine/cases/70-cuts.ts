/** Some power cuts; `npm run soak:machine -- cuts` has fifty. */
import { expect, it } from 'vitest';
import { cutPower } from '../cuts.ts';
import { playing } from '../machine.ts';

it('loses nothing that it acknowledged in 5 power cuts, and plays after each without a hand', async () => {
  expect(await cutPower(await playing(), 5)).toBeGreaterThan(5);
});
