/** What a site without a fleet loads. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const dist = join(import.meta.dirname, '..', '..', 'dist');

/** The files that a bundle loads at once, itself included: not those that it imports on demand. */
const loadedBy = (path: string, known = new Set<string>()): Set<string> => {
  if (known.has(path)) return known;
  known.add(path);
  for (const [, file = ''] of readFileSync(path, 'utf8').matchAll(/^(?:import|export)\b[^;'"]*["'](\.[^"']+)["']/gm)) {
    loadedBy(join(path, '..', file), known);
  }
  return known;
};

const hasNats = (path: string): boolean => readFileSync(path, 'utf8').includes('node_modules/@nats-io/');

test.each(['service/headless.js', 'main/index.js'])('%s loads nothing of NATS without a fleet', (entry) => {
  const all = readdirSync(join(dist, 'shared')).filter((name) => name.endsWith('.js'));
  const withNats = all.map((name) => join(dist, 'shared', name)).filter(hasNats);
  expect(withNats.length).toBeGreaterThan(0);
  const loaded = loadedBy(join(dist, entry));
  expect(loaded.size).toBeGreaterThan(1);
  expect([...loaded].filter(hasNats)).toEqual([]);
});
