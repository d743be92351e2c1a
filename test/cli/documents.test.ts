/** The commands of the README and the guides, as they are written, at a box that was just installed. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { joinScreen } from '../support/page.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';
import { program } from './support.ts';

const root = join(import.meta.dirname, '..', '..');
const guides = readdirSync(join(root, 'resources', 'guide')).filter((name) => name.endsWith('.md'));
const blocksOf = (path: string): string[] =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);

const documents = ['README.md', ...guides.map((name) => join('resources', 'guide', name))];
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
/** All commands: the lines of blocks, without comments, and commands in the text that leave nothing open. */
const all = documents.flatMap((path) => [
  ...blocksOf(path)
    .flatMap((block) => block.replaceAll('\\\n', ' ').trimEnd().split('\n'))
    .map((line) => line.replace(/(?:^|\s+)#.*$/, ''))
    .filter(Boolean),
  ...[...textOf(path).matchAll(/`((?:signage|curl|echo|npx) [^`]*)`/g)]
    .map(([, command = '']) => command)
    .filter((command) => !/[A-Z]{2}|[|[\]…]/.test(command.replace(/\$\(.*\)/, ''))),
]);

/** What is no command at a box: it installs one or this checkout, is a hub's, a broker's or a site's with people or HTTPS, or sets a variable that the tests set. */
const elsewhere = [
  /^(sudo |npm |npx signage$)/,
  /^(signage fleet|nats-server|systemctl|podman|openssl|mosquitto_\w+|install|chown|chmod|apt|cp|ln|export SIGNAGE_FLEET_\w+)\b/,
  /^(export SIGNAGE_BOX|SIGNAGE_\w+)=/,
  /^signage (people|keys|join)\b/,
  // Files of a hub, and of the system.
  / \/(?:etc|usr)\//,
  // Names of commands in a sentence, and what one says.
  /^signage (onboard|needs Node.*)$/,
];
/** Commands that test/cli/tour.test.ts runs one by one, and judges: here only where there is time. */
const section = /^## Command line\n([^]*?)^## /m.exec(textOf('README.md'))?.[1] ?? '';
const [, ...tour] = [...section.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);
const toured = new Set(tour.flatMap((block) => block.trimEnd().split('\n')));

/** In the order of the documents, each once; an upload that a later command needs comes first. */
const commands = [...new Set(all)]
  .filter((command) => isSoak || !toured.has(command))
  .filter((command) => !elsewhere.some((pattern) => pattern.test(command)))
  .toSorted((a, b) => Number(b.startsWith('curl -T')) - Number(a.startsWith('curl -T')));

/** Whether it changes nothing outside of the folder of the test. */
const isHarmless = (command: string): boolean => /^(?:(?:signage|curl|sed|echo) |mkdir -p ~\/)/.test(command);

/** What ends otherwise at one box without displays; by the beginning of the command. */
const endings: Readonly<Record<string, number>> = {
  // Multicast DNS: this box does not advertise itself.
  'signage discover': 69,
  'signage screenshot': 1,
  // Without a secret there is no authority.
  'curl -o root.crt': 22,
  'signage --box https': 69,
  'signage ca': 3,
  'curl -X POST https': 60,
  // Messages and playlists of a house, and a trigger that one of these answers has named.
  'signage trigger add': 1,
  'signage trigger try': 3,
  'signage trigger delete': 3,
  // There is no such file.
  'signage secrets set': 1,
  // It has no secret.
  'signage login': 1,
  // Its page does not confirm it.
  'signage box "': 5,
  // `timeout` ends it.
  'signage log "$SIGNAGE_BOX" --follow': 124,
};

test("what is run is every command of the documents but those that are named as another place's", () => {
  expect(commands).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^curl -H .*commands$/),
      expect.stringMatching(/^curl http\S+connections$/),
      expect.stringMatching(/^curl -T /),
      expect.stringMatching(/^mkdir -p .*secret$/),
      expect.stringMatching(/^echo "whsec_/),
    ]),
  );
});

test('every command of the README and the guides works at a box that was just installed', {
  timeout: 120_000,
}, async () => {
  expect(commands.length).toBeGreaterThan(25);
  const box = await startTestService({ isDemoShipped: true });
  await joinScreen(box, 'demo', { deviceId: 'hall' });
  const home = temporaryFolder();
  mkdirSync(join(home, 'bin'));
  symlinkSync(program, join(home, 'bin', 'signage'));
  const picture = ['-f', 'lavfi', '-i', 'color=green:size=64x36', '-frames:v', '1', join(home, 'courtyard.jpg')];
  execFileSync('ffmpeg', ['-v', 'error', ...picture]);
  const env = {
    HOME: home,
    PATH: `${join(home, 'bin')}:${process.env.PATH}`,
    SIGNAGE_BOX: box.url,
    SIGNAGE_DATA_DIR: box.dataDir,
  };
  expect(commands.filter((command) => !isHarmless(command))).toEqual([]);
  for (const command of commands) {
    const here = command.replaceAll('http://127.0.0.1:8080', box.url).replace(/^curl /, 'curl --fail --silent ');
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn('timeout', ['10', 'bash', '-c', `set -o pipefail; ${here}`], {
      cwd: home,
      env,
      stdio: [...stdio],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += String(chunk);
      });
    }
    const [code] = await once(child, 'close');
    const [, expected = 0] = Object.entries(endings).find(([start]) => command.startsWith(start)) ?? [];
    // Other boxes in this network may.
    if (command === 'signage discover' && code === 0) continue;
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
