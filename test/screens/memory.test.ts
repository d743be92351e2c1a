import { expect, test } from 'vitest';
import { attackMemory } from '../bench/memory.ts';
import { walk } from '../support/soak.ts';

test('pages with long texts and clients that do not read cost little memory together', {
  ...walk,
  timeout: 60_000,
}, async () => {
  const grown = await attackMemory({ pages: 150, readers: 40, characters: 250_000, seconds: 5 });
  expect(grown).toBeLessThan(100);
});
