/** Completion in the shells themselves. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { shells, splitLine } from '../../service/cli/shells.ts';
import { lobby } from '../content/samples.ts';
import { listenOn } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';
import { program, secret, shareSite, signage } from './support.ts';
import { hasTerminal, openTerminal } from './terminal.ts';

const site = shareSite({
  ...lobby,
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome', tags: ['ground', 'public'] },
    { name: 'Bar', slug: 'bar', playlist_id: 'welcome', tags: ['public'] },
  ],
});

/** The surroundings of a shell in which `signage` is on the PATH. */
const shellEnv = (): NodeJS.ProcessEnv => {
  const HOME = temporaryFolder();
  mkdirSync(join(HOME, 'bin'));
  symlinkSync(program, join(HOME, 'bin', 'signage'));
  writeFileSync(join(HOME, 'film.mp4'), '');
  const PATH = `${join(HOME, 'bin')}:${process.env.PATH}`;
  // A shell that is killed writes its history, perhaps while the folder is being removed.
  return { HOME, PATH, HISTFILE: '/dev/null', SIGNAGE_BOX: site().one.url, SIGNAGE_SHARED_SECRET: secret };
};

test.each(Object.entries(shells))(
  'the build has the completion of %s for the package, as the command prints it',
  async (name) => {
    const file = join(import.meta.dirname, '../../dist/cli/completions', `signage.${name}`);
    const { stdout } = await signage(['completion', name]);
    expect(stdout).toBe(readFileSync(file, 'utf8'));
  },
);

test.each([
  ['', ['']],
  ['signage', ['signage']],
  ['signage  show ', ['signage', 'show', '']],
  ["signage onboard x y --name 'Front do", ['signage', 'onboard', 'x', 'y', '--name', 'Front do']],
  ['signage send "a b" c\\ d', ['signage', 'send', 'a b', 'c d']],
])('the line %j has the words %j', (line, words) => {
  expect(splitLine(line)).toEqual(words);
});

test('a site that does not answer completes nothing, within a second', async () => {
  const SIGNAGE_BOX = await listenOn(createServer(() => undefined));
  const startedAt = performance.now();
  const ended = await signage(['complete', 'bash', 'signage show '], { env: { SIGNAGE_BOX } });
  expect(ended).toEqual({ stdout: '', stderr: '', code: 0 });
  expect(performance.now() - startedAt).toBeLessThan(3_000);
});

const has = (shell: string): boolean => findProgram(shell) !== undefined || process.env.CI === 'true';

describe.skipIf(!has('bash') || !hasTerminal)('in bash (needs bash and script)', () => {
  test('commands, screens, tags and files are completed', async () => {
    const shell = openTerminal('bash --norc --noprofile -i', { ...shellEnv(), PS1: 'READY> ' });
    await shell.until('READY>');
    shell.type('cd; source <(signage completion bash)\n');
    await shell.until('READY>');
    shell.type('signage takeo\t');
    await shell.until('signage takeover ');
    shell.type('\x15signage show lo\t');
    await shell.until('signage show lobby ');
    // What stands before a colon is a word of its own to readline.
    shell.type('\x15signage send tag:gr\t');
    await shell.until('signage send tag:ground ');
    shell.type('bl\t');
    await shell.until('blackout ');
    shell.type('\x15signage media put fi\t');
    await shell.until('signage media put film.mp4 ');
    shell.type('\x15signage show \t\t');
    const offered = await shell.until(/bar.*lobby/s);
    expect(offered).not.toContain('film.mp4');
  });
});

describe.skipIf(!has('zsh') || !hasTerminal)('in zsh (needs zsh and script)', () => {
  test('commands, screens, tags and files are completed', async () => {
    const env = shellEnv();
    writeFileSync(join(env['HOME'] ?? '', '.zshrc'), "PS1='READY> '; autoload -U compinit; compinit -u\n");
    const shell = openTerminal('zsh -d -i', env);
    await shell.until('READY>');
    shell.type('cd; source <(signage completion zsh)\n');
    await shell.until('READY>');
    shell.type('signage takeo\t');
    await shell.until('takeover ');
    shell.type('\x15signage show lo\t');
    await shell.until('lobby ');
    shell.type('\x15signage send tag:gr\t');
    await shell.until('ground ');
    shell.type('\x15signage media put fi\t');
    await shell.until('film.mp4 ');
    shell.type('\x15signage media \t');
    await shell.until('upload files; those that are there already are skipped');
  });
});

describe.skipIf(!has('fish'))('in fish (needs fish)', () => {
  test('commands, screens, tags and files are completed', async () => {
    const env = shellEnv();
    const completed = async (line: string): Promise<string[]> => {
      const script = `cd; signage completion fish | source; complete -C '${line}'`;
      const { stdout } = await promisify(execFile)('fish', ['--no-config', '-c', script], { env });
      return stdout.trimEnd().split('\n');
    };
    expect(await completed('signage takeo')).toEqual([
      'takeover\tmessages that replace what screens play, for a limited time',
    ]);
    // Names of the site are left out where the box does not tell them in time.
    await expect.poll(() => completed('signage show '), patience).toEqual(['bar', 'lobby']);
    await expect.poll(() => completed('signage send tag:'), patience).toEqual(['tag:ground', 'tag:public']);
    expect(await completed('signage send lobby blackout --o')).toEqual([
      '--off\tfor blackout: the picture again',
      '--on\tfor blackout: black, where it would toggle',
    ]);
    expect(await completed('signage media put fi')).toEqual(['film.mp4']);
  });
});
