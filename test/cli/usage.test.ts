/** What is wrong with a command line is found before anything is sent. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { temporaryFolder } from '../support/service.ts';
import { signage, signageHere } from './support.ts';

/** A box that no request may reach. */
let requests = 0;
const server = createServer((_, response) => {
  requests += 1;
  response.end('{}');
});
let box: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  box = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

test.each([
  [[], 'Usage: signage'],
  [['nosuch'], "unknown command 'nosuch'"],
  [['screns'], 'Did you mean screens?'],
  [['screens', '--nosuch'], "unknown option '--nosuch'"],
  [['screens', 'more'], 'too many arguments'],
  [['media'], 'Usage: signage media'],
  [['send', 'lobby'], "missing required argument 'command'"],
  [['send', 'lobby', 'jump'], 'Allowed choices are refresh'],
  [['send', 'Lobby!', 'next'], 'slug of a screen, tag:NAME or all'],
  [['send', 'tag:', 'next'], 'slug of a screen, tag:NAME or all'],
  [['send', 'lobby', 'redirect'], 'redirect needs --url'],
  [['send', 'lobby', 'redirect', '--url', 'ftp://example.org/'], '--url must be /screen/SLUG'],
  [['send', 'lobby', 'redirect', '--url', '/healthz'], '--url must be /screen/SLUG'],
  [['send', 'lobby', 'next', '--url', '/screen/bar'], 'next takes no --url'],
  [['send', 'lobby', 'blackout', '--on', '--off'], "option '--on' cannot be used with option '--off'"],
  [['send', 'lobby', 'setclientname', '--name', 'Door'], 'setclientname needs --device'],
  [['trigger', 'add', 'Bell'], 'Say what it does: --show, --end, --play or --send'],
  [['trigger', 'add', 'Bell', '--show', 'fire'], 'Say for which screens'],
  [['trigger', 'add', 'Bell', '--show', 'fire', '--target', 'all', '--for', '5m'], '--show takes no --for'],
  [['trigger', 'add', 'Bell', '--end', 'fire', '--target', 'all'], '--end takes no --target'],
  [['trigger', 'add', 'Bell', '--play', 'menu', '--target', 'all', '--for', '5m', '--on'], '--play takes no --on'],
  [['trigger', 'add', 'Bell', '--show', 'fire', '--target', 'all', '--url', '/screen/bar'], '--show takes no --url'],
  [['trigger', 'add', 'Bell', '--send', 'next', '--target', 'all', '--for', '5m'], '--send takes no --for'],
  [['trigger', 'add', 'Bell', '--send', 'next', '--target', 'all', '--off'], 'next takes no --off'],
  [['fleet', 'push', 'content.json', 'Wien', '--all', '--yes'], 'Name the sites, or say --all: not both'],
  [['onboard', 'device-1', 'lobby'], "required option '--name <name>' not specified"],
  [['onboard', 'device/1', 'lobby', '--name', 'Door'], 'a device id'],
  [['onboard', 'device 1', 'lobby', '--name', 'Door'], 'a device id'],
  [['onboard', 'device-1', 'lobby', '--name', 'x'.repeat(65)], '1 to 64 characters'],
  [['media', 'put', '/nosuch.jpg'], 'There is no such file'],
  [['media', 'put', '/'], 'is not a file'],
  [['media', 'delete', '../x'], 'The file name has one of'],
  [['takeover', 'start', 'all', '--title', 'Fire'], 'Say how long: --for 30m'],
  [['takeover', 'start', 'all', '--title', 'Fire', '--for', 'soon', '--yes'], 'a time such as 90s'],
  [['takeover', 'start', 'all', '--title', 'Fire', '--for', '5m', '--level', 'huge'], 'Allowed choices are info'],
  [['takeover', 'start', 'all', '--title', 'Fire', '--for', '5m'], 'add --yes'],
  [['takeover', 'start', 'all', '--for', '5m', '--yes'], 'needs --title or --media'],
  [['takeover', 'start', 'all', '--title', 'Fire', '--for', '5m', '--until-ended'], 'cannot be used with option'],
  [['takeover', 'start', 'all', '--title', 'Fire', '--for', '5m', '--from', '25:00'], 'a time such as 18:00'],
  [
    ['takeover', 'start', 'all', '--title', 'Fire', '--for', '5m', '--from', '2026-02-31T18:00'],
    'a time such as 18:00',
  ],
  [['takeover', 'start', 'all', '--media', 'a/b', '--for', '5m', '--yes'], 'The file name has one of'],
  [['takeover', 'start', 'all', '--media', 'CON', '--for', '5m', '--yes'], 'The file name is reserved'],
  [
    ['takeover', 'start', 'all', '--title', 'x'.repeat(501), '--for', '5m', '--yes'],
    'It must be 500 characters at most',
  ],
  [
    ['takeover', 'start', 'all', '--title', 'Fire', '--body', 'x'.repeat(2_001), '--for', '5m', '--yes'],
    'It must be 2000 characters at most',
  ],
  [['takeover', 'end', 'fire'], 'add --yes'],
  [['content', 'revert', 'abcd'], 'add --yes'],
  [['restore', '-'], 'A backup cannot be read from standard input'],
  [['media', 'delete', 'hall.jpg'], 'add --yes'],
  [['send', 'all', 'blackout', '--on'], 'add --yes'],
  [['audit', '--limit', '0'], 'It must be 1 to 1000'],
  [['audit', '--limit', '1001'], 'It must be 1 to 1000'],
  [['audit', '--who', 'x'.repeat(65)], '1 to 64 characters'],
  [['takeover', 'start', 'all', '--title', 'Fire', '--for', '0s', '--yes'], 'a time such as 90s'],
  [['takeover', 'start', 'all', '--title', 'Fire', '--for', '31d1s', '--yes'], 'It must be 31d at most'],
  [['devices', 'forget', 'device-1'], 'add --yes'],
  [['keys', 'remove', 'zz', '--yes'], 'the id of a key'],
  [['plays', 'export', '--from', '2026-02-31'], 'a date such as 2026-11-22'],
  [['plays', 'export', '--to', '2026-02-28T24:00:00Z'], 'a date such as 2026-11-22'],
  [['screens', '--as', 'x'.repeat(65)], '1 to 64 characters'],
  [['screens', '--box', 'http://box/path'], 'an address such as'],
])('signage %j is a usage error, and nothing is sent', async (args, words) => {
  const { stdout, stderr, code } = await signageHere(args, { SIGNAGE_BOX: box });
  expect({ stdout, code, requests }).toEqual({ stdout: '', code: 2, requests: 0 });
  expect(stderr).toContain(words);
});

test('the version is that of the package, and help is no error', async () => {
  expect(await signage(['--version'])).toEqual({ stdout: `${packageJson.version}\n`, stderr: '', code: 0 });
  const { stdout, code } = await signage(['help', 'send']);
  expect(stdout).toContain('Usage: signage send [options] <target> <command>');
  expect(code).toBe(0);
});

test('the help has examples, all of which are commands, and says where the guide is', async () => {
  const { stdout: whole } = await signageHere(['--help'], { SIGNAGE_BOX: box });
  expect(whole).toContain('/guide/operating.md');
  const names = [...whole.matchAll(/^ {2}(\w+) .*$/gm)].map(([, name]) => name ?? '');
  const helps = await Promise.all(names.map((name) => signageHere(['help', name], { SIGNAGE_BOX: box })));
  const examples = [whole, ...helps.map(({ stdout }) => stdout)].flatMap((text) =>
    [...text.matchAll(/^ {2}(?:source <\()?signage ([^>)\n]*)/gm)].map(([, line]) => line?.trim() ?? ''),
  );
  expect(examples.length).toBeGreaterThan(25);
  for (const example of examples) {
    const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    // Of a command line that is right, the help is asked.
    const { stderr, code } = await signageHere([...words, '--help'], { SIGNAGE_BOX: box });
    expect([example, stderr, code]).toEqual([example, '', 0]);
  }
});

const configHome = (mode: number): string => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'signage'));
  writeFileSync(join(folder, 'signage', 'secret'), 'a secret of the whole site\n');
  chmodSync(join(folder, 'signage', 'secret'), mode);
  return folder;
};

test('a secret that others may read, and variables that make no sense, are errors of the configuration', async () => {
  const XDG_CONFIG_HOME = configHome(0o640);
  const lax = await signage(['screens'], { env: { SIGNAGE_BOX: box, XDG_CONFIG_HOME } });
  expect(lax).toMatchObject({ stdout: '', code: 78 });
  expect(lax.stderr).toContain(`Run: chmod 600 '${join(XDG_CONFIG_HOME, 'signage', 'secret')}'`);
  for (const env of [{ SIGNAGE_BOX: 'ftp://box' }, { SIGNAGE_BOX: box, SIGNAGE_OPERATOR: 'x'.repeat(65) }]) {
    const { stderr, code } = await signage(['screens'], { env });
    expect(code).toBe(78);
    expect(stderr).toContain(Object.keys(env).at(-1));
  }
  expect(requests).toBe(0);
});
