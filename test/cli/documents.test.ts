/** The commands of the README and the guides, as they are written, at a box that was just installed. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { joinScreen } from '../support/page.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { program } from './support.ts';

const root = join(import.meta.dirname, '..', '..');
const guides = readdirSync(join(root, 'resources', 'guide')).filter((name) => name.endsWith('.md'));
const blocksOf = (path: string): string[] =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);

/** The lines with `signage`; fleets have a hub, and tests of their own. */
const commands = ['README.md', ...guides.map((name) => join('resources', 'guide', name))]
  .flatMap(blocksOf)
  .filter((block) => /^(signage|sed) /m.test(block))
  .flatMap((block) => block.trimEnd().split('\n'))
  .filter((line) => /^(signage (?!fleet\b)|sed )/.test(line));

/** What ends otherwise at one box without displays; by the beginning of the command. */
const endings: Readonly<Record<string, number>> = {
  // Multicast DNS: this box does not advertise itself.
  'signage discover': 69,
  'signage screenshot': 1,
  // `timeout` ends it.
  'signage log "$SIGNAGE_BOX" --follow': 124,
};

test('every command of the README and the guides works at a box that was just installed', {
  timeout: 120_000,
}, async () => {
  expect(commands.length).toBeGreaterThan(25);
  const box = await startTestService();
  await joinScreen(box, 'demo', { deviceId: 'hall' });
  const home = temporaryFolder();
  mkdirSync(join(home, 'bin'));
  symlinkSync(program, join(home, 'bin', 'signage'));
  const picture = ['-f', 'lavfi', '-i', 'color=green:size=64x36', '-frames:v', '1', join(home, 'courtyard.jpg')];
  execFileSync('ffmpeg', ['-v', 'error', ...picture]);
  const env = { HOME: home, PATH: `${join(home, 'bin')}:${process.env.PATH}`, SIGNAGE_BOX: box.url };
  for (const command of commands) {
    const child = spawn('timeout', ['10', 'bash', '-c', `set -o pipefail; ${command}`], { cwd: home, env });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += String(chunk);
      });
    }
    const [code] = await once(child, 'close');
    const [, expected = 0] = Object.entries(endings).find(([start]) => command.startsWith(start)) ?? [];
    expect.soft({ command, code, ...(code !== expected && { text }) }).toEqual({ command, code: expected });
  }
});

test('the addresses of the guides are those of the API', async () => {
  const box = await startTestService();
  const text = ['README.md', ...guides.map((name) => join('resources', 'guide', name))]
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
  const addresses = [...new Set([...text.matchAll(/`GET (\/[^`{}<>]*[^`{}<>A-Z])`/g)].map(([, path = '']) => path))];
  expect(addresses).toContain('/console/api/audit');
  for (const path of addresses) {
    const { status } = await fetch(box.url + path);
    expect.soft([path, status < 400]).toEqual([path, true]);
  }
});
