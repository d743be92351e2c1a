import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRendering } from '../../main/rendering.ts';
import { temporaryFolder } from '../support/service.ts';

const noon = Date.UTC(2026, 5, 1, 12);
const hour = 60 * 60_000;

it('goes without the GPU for a day, over restarts, and then tries it again', () => {
  const path = join(temporaryFolder(), 'app', 'rendering');
  const at = (now: number) => openRendering(path, () => now);
  expect(at(noon).softwareMs).toBeNull();
  at(noon).giveUpGpu();
  expect(at(noon).softwareMs).toBe(24 * hour);
  expect(at(noon + 23 * hour).softwareMs).toBe(hour);
  expect(at(noon + 24 * hour).softwareMs).toBeNull();
  // A clock that was set back a year.
  expect(at(noon - 365 * 24 * hour).softwareMs).toBe(24 * hour);
  at(noon).tryGpu();
  expect(at(noon).softwareMs).toBeNull();
});

it.each(['', 'garbage', '-1', 'NaN'])('has the GPU where the file holds %j', (text) => {
  const path = join(temporaryFolder(), 'rendering');
  writeFileSync(path, text);
  expect(openRendering(path).softwareMs).toBeNull();
});
