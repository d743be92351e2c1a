import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { graphicsOf, openRendering, STEP_MS } from '../../main/crashes.ts';
import { temporaryFolder } from '../support/service.ts';

it('goes without the GPU for a day that it runs, over restarts, and then tries it again', () => {
  const path = join(temporaryFolder(), 'app', 'rendering');
  expect(openRendering(path).isSoftware).toBe(false);
  openRendering(path).disableGpu();
  for (let ms = STEP_MS; ms < 24 * 60 * 60_000; ms += STEP_MS) {
    const rendering = openRendering(path);
    expect([rendering.isSoftware, rendering.step()]).toEqual([true, false]);
  }
  const last = openRendering(path);
  expect([last.isSoftware, last.step()]).toEqual([true, true]);
  expect(openRendering(path).isSoftware).toBe(false);
});

it('says so where it can not be written down', () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(() => openRendering(join(file, 'rendering')).disableGpu()).toThrow();
});

it('goes without for a day at most, whatever the file holds', () => {
  const path = join(temporaryFolder(), 'rendering');
  writeFileSync(path, String(Date.now()));
  openRendering(path).step();
  expect(Number(readFileSync(path, 'utf8')) * STEP_MS).toBeLessThan(24 * 60 * 60_000);
});

it.each(['', 'garbage', '-1', 'NaN', '0.5'])('has the GPU where the file holds %j', (text) => {
  const path = join(temporaryFolder(), 'rendering');
  writeFileSync(path, text);
  expect(openRendering(path).isSoftware).toBe(false);
});

it.each([
  ['hardware', 'enabled', 'hardware', 'unknown'],
  ['software', 'enabled', 'software', 'software'],
  ['hardware', 'disabled_software', 'software', 'software'],
] as const)(
  'where pages are painted in %s and the runtime says %s it names %s',
  (rendering, state, gpu, video_decode) => {
    const status = { gpu_compositing: state, video_decode: 'enabled' };
    expect(graphicsOf(status, rendering)).toEqual({ gpu, gpu_features: status, video_decode });
  },
);

it('goes without where the compositor does, and then says so in both places', () => {
  const path = join(temporaryFolder(), 'rendering');
  const renderers = [undefined, 'gpu', 'pixman', 'none'] as const;
  const ways = renderers.map((renderer) => openRendering(path, renderer).how);
  expect(ways).toEqual(['hardware', 'hardware', 'software', 'software']);
  openRendering(path).disableGpu();
  expect(openRendering(path, 'gpu').how).toBe('software');
});
