/** Each rule of `.scripts/house.ts` finds the violation that is planted for it, and the house has none. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sourcesOf, violationsIn } from '../../.scripts/house.ts';

const root = join(import.meta.dirname, '..', '..');
const lines = (count: number): string => 'one line\n'.repeat(count);

it.each([
  ['service/media/library.ts', lines(500), 0],
  ['service/media/library.ts', lines(501), 1],
  ['service/index.ts', lines(120), 0],
  ['service/index.ts', lines(121), 1],
  ['main/index.ts', lines(121), 1],
  ['renderer/player/player.ts', lines(121), 1],
])('a file that is too long is found: %s', (path, text, count) => {
  expect(violationsIn([{ path, text }])).toHaveLength(count);
});

it.each([
  ['service/streams/ffmpeg.ts', "spawn('ffmpeg', { env: process.env })", 1],
  ['service/streams/ffmpeg.ts', 'const path = process?.env.PATH;', 1],
  ['service/streams/ffmpeg.ts', "import { env } from 'node:process';", 1],
  ['service/streams/ffmpeg.ts', "spawn('ffmpeg', { env: childEnvironment })", 0],
  ['main/kiosk.ts', 'if (process.env.DISPLAY) start();', 1],
  ['main/paths.ts', 'const { APPDIR } = process.env;', 0],
  ['service/platform/options/index.ts', 'const env = process.env;', 0],
])('a second reader of the environment is found: %s with %s', (path, text, count) => {
  expect(violationsIn([{ path, text }])).toHaveLength(count);
});

it.each([
  ["peers.call(peer, { path: '/api/peers/time' })", 1],
  [`fetch(\`\${peer.url}/updates/\`)`, 1],
  [`const media = \`\${url}/media/\${name}\`;`, 1],
  ["'GET /api/peers/time': (ctx) => {}", 0],
  ["target.startsWith('/api/peers/')", 0],
  [`log(\`The box at \${url} is away.\`)`, 0],
])('the URL of a peer is found outside of peers/: %s', (text, count) => {
  expect(violationsIn([{ path: 'service/clock/sync.ts', text }])).toHaveLength(count);
  expect(violationsIn([{ path: 'service/peers/call.ts', text }])).toEqual([]);
});

it.each([
  ['const all = {\n  ...{ a, b },\n  c,\n};', 1],
  ['open({ ...context, ...{ a, b }, c });', 1],
  ['const all = { ...(a && { a }), ...rest };', 0],
  ["const label = 'rest...{';", 0],
])('the spread of an object that is written in place is found: %s', (text, count) => {
  expect(violationsIn([{ path: 'main/kiosk.ts', text }])).toHaveLength(count);
});

it('the house keeps its rules, and the check reads all of it', () => {
  const sources = sourcesOf(root);
  expect(sources.length).toBeGreaterThan(500);
  expect(violationsIn(sources)).toEqual([]);
});

it('npm run check runs every checker of these rules', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const steps = (scripts['check'] ?? '').split(' && ').map((step) => step.replace('npm run ', ''));
  expect(steps).toEqual(Object.keys(scripts).filter((name) => name.startsWith('check:')));
});
