/** Only `service/peers/` knows how a peer is reached: the other modules name an operation. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const service = join(import.meta.dirname, '..', '..', 'service');

/** The command line reaches boxes by itself; headless.ts prints this box's own address. */
const exempt = /^(peers|cli|contract)\/|^headless\.ts$/;

/** Where a source spells a path that peers answer, other than as the name of an operation, or adds a path to an address. */
const spelledIn = (source: string): string[] =>
  source.match(/['"`]\/api\/peers\/(?!')[^'"`]*|\$\{[\w.]*[uU]rl\}\/[^`]*/g) ?? [];

it.each([
  ["peers.call(peer, { path: '/api/peers/time' })", 1],
  [`fetch(\`\${peer.url}/updates/\`)`, 1],
  [`const media = \`\${url}/media/\${name}\`;`, 1],
  ["'GET /api/peers/time': (ctx) => {}", 0],
  ["target.startsWith('/api/peers/')", 0],
  [`log(\`The box at \${url} is away.\`)`, 0],
])('the address of a peer is found where it is spelled: %s', (source, count) => {
  expect(spelledIn(source)).toHaveLength(count);
});

it('no module but peers spells the address of a peer', () => {
  const files = readdirSync(service, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(150);
  const found = files
    .filter((path) => !exempt.test(path))
    .flatMap((path) => spelledIn(readFileSync(join(service, path), 'utf8')).map((each) => `${path}: ${each}`));
  expect(found).toEqual([]);
});
