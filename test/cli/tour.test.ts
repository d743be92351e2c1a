/** The tour of the command line in the README, run as it is written. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/service.ts';
import { joinSite, program, secret, shareSite } from './support.ts';

const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');
const section = readme.slice(readme.indexOf('## Command line'), readme.indexOf('## Settings'));
const [, tour = ''] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
const commands = tour.trimEnd().split('\n');

const site = shareSite({
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome', tags: ['public'] },
    { name: 'Bar', slug: 'bar', playlist_id: 'welcome' },
  ],
  playlists: [
    {
      id: 'welcome',
      slides: [
        { id: 'hello', kind: 'text', title: 'Good morning', duration_seconds: 8 },
        { id: 'yard', kind: 'image', media_url: '/media/courtyard.jpg' },
      ],
    },
  ],
});

/** What each command prints, on standard output and standard error together. */
const expected: readonly RegExp[] = [
  /^BOX +STATUS +VERSION +PAGES +NODE\nhttp:\S+ +ok .*\nhttp:\S+ +ok .*\n- http:[^]*there is no medium/,
  /^SCREEN +NAME +TAGS +DEVICES +PAGES +SHOWS\nlobby +Lobby +public +- +2 +Good morning\nbar +Bar/,
  /^screen +Lobby \(lobby\)\nplaylist +welcome\ntags +public\n[^]*PAGE +SHOWS[^]*Good morning/,
  /^http:\S+\/screen\/lobby\nHall, left shows Lobby as soon as the device is there\.\n$/,
  /^NAME +STATE +LAST SEEN +ID +SCREEN\nHall, left +\w+ +\S+ +hall-display +lobby\n$/,
  /^Sent to 2 pages\.\n$/,
  /^SCREEN +SENT\nlobby +2\nSent to 2 pages\.\n$/,
  /^SCREEN +SENT\nlobby +2\nbar +0\nSent to 2 pages\.\n$/,
  /^uploaded {2}courtyard\.jpg\n$/,
  /^NAME +SIZE[^]*courtyard\.jpg +\d+ B [^]*1 slide\n[\d.]+ K?i?B of 64\.0 GiB used\.\n$/,
  /^content\.json is version [\da-f]{12} of .*\n$/,
  /^$/,
  /content\.json can be published, with \d warnings?\.\n$/,
  /-\s+"title": "Good morning",?\n\+\s+"title": "Good evening",?\n[^]*1 line added, 1 removed\.\n$/,
  /^[\da-f]{64}\n[^]*It plays now\.\n$/,
  /^VERSION +CHANGED +BY +SIZE +BOX\n[\da-f]{12} .* Ada .*\n[\da-f]{12} /,
  /^WHEN +WHO +FROM +WHAT +TARGET +RESULT\n[^]*Ada [^]*content\.publish/,
  /^play_id,site,node_id,[\w,]+\r\n/,
  /info .*content is live/,
  /^hall-display is forgotten\.\n$/,
  /^courtyard\.jpg is deleted\.\n$/,
];

test('every command of the tour prints what it should, at two boxes with a secret', { timeout: 90_000 }, async () => {
  const { one, other } = site();
  const home = temporaryFolder();
  mkdirSync(join(home, 'bin'));
  symlinkSync(program, join(home, 'bin', 'signage'));
  writeFileSync(join(home, 'courtyard.jpg'), 'not really a picture');
  for (const [index, box] of [one, other].entries()) {
    const page = await joinSite(box, 'lobby', { clientId: `client-${index}` });
    const slide = { currentSlide: 0, currentSlideId: 'hello', currentSlideTitle: 'Good morning' };
    page.send({ type: 'state', page: '/screen/lobby', viewport: null, paused: false, blackout: false, ...slide });
  }
  const env = {
    HOME: home,
    PATH: `${join(home, 'bin')}:${process.env.PATH}`,
    SIGNAGE_BOX: one.url,
    SIGNAGE_SHARED_SECRET: secret,
    SIGNAGE_OPERATOR: 'Ada',
  };
  expect(commands).toHaveLength(expected.length);
  for (const [index, command] of commands.entries()) {
    const child = spawn('bash', ['-c', `${command} 2>&1`], { cwd: home, env });
    let printed = '';
    child.stdout.on('data', (text) => {
      printed += String(text);
    });
    const [code] = await once(child, 'close');
    expect.soft(printed, command).toMatch(expected[index] ?? '');
    expect.soft(code, command).toBe(0);
  }
});
