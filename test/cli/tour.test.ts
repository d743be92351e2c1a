/** The tour of the command line in the README, run as it is written, at a site of a kiosk and a box without displays. */
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { untilTogether } from '../peers/support.ts';
import { describeBrowser } from '../support/browser.ts';
import { itDouble, startKiosk } from '../support/kiosk.ts';
import { middleOf, type Rgb } from '../support/media.ts';
import { colourSlide, colourTemplate, isClose, openPlayer } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { program, secret, signage, signageHere } from './support.ts';

const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');
const section = /^## Command line\n([^]*?)^## /m.exec(readme)?.[1] ?? '';
const [, ...tour] = [...section.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);
const commands = tour.flatMap((block) => block.trimEnd().split('\n'));

/** Fleets have a hub, and tests of their own; so has the completion, in the shells themselves. */
const isElsewhere = (command: string): boolean => /^(fleet|completion|help)\b/.test(command);

/** The commands that `--help` lists, with those of their groups. */
const listedIn = async (group: readonly string[] = []): Promise<string[]> => {
  const { stdout } = await signageHere([...group, '--help'], {});
  const [, list = ''] = /\nCommands:\n((?:.+\n)*)/.exec(stdout) ?? [];
  const names = [...list.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name);
  if (names.length === 0) return [group.join(' ')];
  const wanted = names.map((name) => [...group, name]).filter((path) => !isElsewhere(path.at(-1) ?? ''));
  return (await Promise.all(wanted.map(listedIn))).flat();
};

/** The commands in the table of the README: `devices list\|forget` is two of them. */
const tabled = [...section.matchAll(/^\| (`.*`) \|.*\|$/gm)]
  .flatMap(([, cell = '']) => cell.replaceAll('\\|', '|').match(/`[^`]+`/g) ?? [])
  .flatMap((code) => {
    const [, name = '', rest] = /^`([a-z]+)(?: ([a-z|]+)\b)?/.exec(code) ?? [];
    return rest === undefined ? [name] : rest.split('|').map((each) => `${name} ${each}`);
  });

test('the tour and the table of the README have every command that --help lists, and no others', async () => {
  const listed = (await listedIn()).toSorted();
  expect(listed).toContain('takeover start');
  // A command that does several things has several examples.
  expect([...new Set(tabled)].toSorted()).toEqual(listed);
  const isOf = (command: string, name: string): boolean => `${command} `.startsWith(`signage ${name} `);
  // They need people, drafts of the console, a house's messages or another program, and have tests of their own.
  const apart = /^(ca|drafts|join|keys|login|mcp|me|message|people|protect|secrets|trigger)\b/;
  const toured = listed.filter((name) => !apart.test(name));
  expect(toured.filter((name) => !commands.some((command) => isOf(command, name)))).toEqual([]);
});

const RED: Rgb = [208, 16, 16];
const content = {
  screens: [
    { name: 'Lobby', slug: 'demo', playlist_id: 'welcome', tags: ['public'] },
    { name: 'Bar', slug: 'bar', playlist_id: 'welcome' },
  ],
  playlists: [
    {
      id: 'welcome',
      slides: [
        { ...colourSlide('hello', RED), title: 'Good things' },
        { id: 'yard', kind: 'image', media_url: '/media/courtyard.jpg', duration_seconds: 3_600 },
      ],
    },
  ],
  templates: [colourTemplate],
};

/** The address of this machine in its network; null: it has none. */
const ownAddress =
  Object.values(networkInterfaces())
    .flatMap((infos = []) => infos)
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;

/** Whether a command changes nothing, so that it can be repeated. */
const isReading = (command: string): boolean =>
  /^signage (discover|health|boxes|screens|show|devices list|takeover list|plays|audit|log) ?/.test(command);

/** What each command prints, on standard output and standard error together. */
const printed: Readonly<Record<string, RegExp>> = {
  'signage discover':
    /^ADDRESS +SITE +VERSION +STATUS +NODE\n(?=[^]*:PORT +tour-\S+ +\S+ +ok )(?=[^]*:OTHER +tour-\S+ +\S+ +ok )/,
  'signage health --all':
    /^BOX +STATUS +VERSION +PAGES +NODE\nhttp:\S+:PORT +ok +\S+ +1 connection .*\nhttp:\S+:OTHER +ok .*\n- http:[^]*there is no medium/,
  'signage boxes':
    /^BOX +STATUS +VERSION +ADDRESS +LAST SEEN +NODE\n\S+ +here +\S+ +http:\S+:PORT .*\n\S+ +alive +\S+ +http:\S+:OTHER /,
  'signage screens':
    /^SCREEN +NAME +TAGS +DEVICES +PAGES +SHOWS\ndemo +Lobby +public +1 playing +2 +Good things\nbar +Bar +- +0 +-\n$/,
  'signage show demo':
    /^screen +Lobby \(demo\)\nplaylist +welcome\ntags +public\n[^]*\nDEVICE[^]*playing[^]*\nPAGE +SHOWS(.*\n.*Good things){2}/,
  'signage screenshot demo -o demo.jpg':
    /^demo\.jpg\nWarning: .*: Screenshots are available only for kiosk displays, while they show a screen\.\n$/,
  "signage onboard hall-display demo --name 'Hall, left'":
    /^http:\S+\/screen\/demo\nHall, left shows Lobby as soon as the device is there\.\n$/,
  'signage devices list': /^NAME +STATE +LAST SEEN +ID +SCREEN\n[^]*Hall, left +never +- +hall-display +demo\n/,
  'signage send demo next': /^Sent to 2 pages\.\n$/,
  'signage send tag:public blackout --on': /^SCREEN +SENT\ndemo +2\nSent to 2 pages\.\n$/,
  'signage send all blackout --off --yes': /^SCREEN +SENT\ndemo +2\nbar +0\nSent to 2 pages\.\n$/,
  'signage media put courtyard.jpg': /^uploaded {2}courtyard\.jpg\n$/,
  'signage media list':
    /^NAME +SIZE[^]*courtyard\.jpg +\d+ B +image\/jpeg +jpeg +64x36 [^]*1 slide\n[\d.]+ K?i?B of 64\.0 GiB used\.\n$/,
  'signage media rename courtyard.jpg yard.jpg': /^courtyard\.jpg is called yard\.jpg now\.\n$/,
  'signage content pull content.json': /^content\.json is version [\da-f]{12} of .*\n$/,
  "sed -i 's/Good things/Fine things/' content.json": /^$/,
  'signage content check content.json': /content\.json can be published, with \d warnings?\.\n$/,
  'signage content diff content.json':
    /-\s+"title": "Good things",?\n\+\s+"title": "Fine things",?\n[^]*1 line added, 1 removed\.\n$/,
  'signage content push content.json --yes': /^[\da-f]{64}\n[^]*It plays now\.\n$/,
  'signage content versions': /^VERSION +CHANGED +BY +SIZE +BOX +REPLACED BY\n[\da-f]{12} .* Ada .*\n[\da-f]{12} /,
  'signage content revert "$(signage content versions | awk \'NR == 3 { print $1 }\')" --yes':
    /^[\da-f]{64}\n[^]*It plays now\.\n$/,
  "signage takeover start tag:public --title 'Back at noon' --for 30m --yes":
    /^ID +TITLE +LEVEL +TARGETS +FROM +UNTIL +SHOWN\nback-at-noon-[\da-f]{6} +Back at noon +info +tag:public .*\nTo end it early: signage takeover end back-at-noon-/,
  'signage takeover list': /^ID +TITLE[^]*\nback-at-noon-[\da-f]{6} +Back at noon .* 2 of 3\n$/,
  'signage takeover end "$(signage takeover list | awk \'NR == 2 { print $1 }\')" --yes':
    /^back-at-noon-[\da-f]{6} is over\.\n$/,
  'signage plays export --from 2026-01-01 --format csv': /^play_id,site,node_id,[\w,]+\r\n[^]*,demo,hello,Good things,/,
  'signage audit': /^WHEN +WHO +ADDRESS +WHAT +TARGET +CHANGE +RESULT\n[^]*Ada .*content\.publish/,
  'signage log "$SIGNAGE_BOX"': /info .*content is live/,
  'signage box "$SIGNAGE_BOX" identify': /^\S/,
  'signage devices forget hall-display --yes': /^hall-display is forgotten\.\n$/,
  'signage media delete yard.jpg --yes': /^Warning: yard\.jpg is used by 1 slide \(yard\)\.\nyard\.jpg is deleted\.\n$/,
  'signage backup site.tar': /site\.tar: [\d.]+ [KM]?i?B\n[^]*Keep it like the disk of the box: /,
  'signage restore site.tar': /^Restored: \d media, \d devices?, \d+ versions?, \d settings?\.\n/,
};

test('the expectations are those of the commands of the tour', () => {
  expect(commands).toEqual(Object.keys(printed));
});

describeBrowser('the tour', { timeout: 180_000 }, () => {
  itDouble('prints what it should at two boxes with a secret, and the displays do what they are told', async () => {
    const env = {
      SIGNAGE_SHARED_SECRET: secret,
      // Of its own: another run on this machine would be found too.
      SIGNAGE_SITE: `tour-${randomUUID()}`,
      SIGNAGE_DISCOVERY: 'on',
      ...(ownAddress !== null && { SIGNAGE_HOST: '0.0.0.0' }),
    };
    const config = { kiosk: { displays: [{ display: 1, screen: 'demo' }] } };
    const kiosk = await startKiosk({ content, config, env });
    const [, port = ''] = /:(\d+)$/.exec(await kiosk.url()) ?? [];
    const url = `http://${ownAddress ?? '127.0.0.1'}:${port}`;
    const other = await startTestService({ content, env: { ...env, SIGNAGE_PEERS: url } });
    await untilTogether([{ get: (path) => fetch(url + path) }, other]);
    const display = await kiosk.page(/\/screen\/demo/);
    const browser = await openPlayer(other, 'demo');

    const home = temporaryFolder();
    mkdirSync(join(home, 'bin'));
    symlinkSync(program, join(home, 'bin', 'signage'));
    execFileSync('ffmpeg', [
      '-v',
      'error',
      '-f',
      'lavfi',
      '-i',
      'color=green:size=64x36',
      '-frames:v',
      '1',
      join(home, 'courtyard.jpg'),
    ]);
    const shell = async (command: string): Promise<{ text: string; code: number }> => {
      const child = spawn('bash', ['-c', `${command} 2>&1`], {
        cwd: home,
        env: {
          HOME: home,
          PATH: `${join(home, 'bin')}:${process.env.PATH}`,
          SIGNAGE_BOX: url,
          SIGNAGE_SHARED_SECRET: secret,
          SIGNAGE_OPERATOR: 'Ada',
        },
      });
      let text = '';
      child.stdout.on('data', (chunk) => {
        text += String(chunk);
      });
      const [code] = await once(child, 'close');
      return { text, code };
    };
    const addressed = (pattern: RegExp): RegExp =>
      new RegExp(pattern.source.replaceAll('PORT', port).replaceAll('OTHER', new URL(other.url).port));
    /** What the displays do once a command has been carried out. */
    const effects: Readonly<Record<string, () => Promise<void>>> = {
      'signage screenshot': async () => {
        const colour = middleOf(readFileSync(join(home, 'demo.jpg')));
        expect(isClose(colour, RED), String(colour)).toBe(true);
      },
      'signage takeover start': async () => {
        for (const page of [display, browser]) await page.getByText('Back at noon').waitFor();
      },
      'signage takeover end': async () => {
        for (const page of [display, browser]) await page.getByText('Back at noon').waitFor({ state: 'detached' });
      },
    };
    for (const [command, pattern] of Object.entries(printed)) {
      // Multicast DNS needs a network.
      if (command === 'signage discover' && ownAddress === null) continue;
      const expected = addressed(pattern);
      let ended = await shell(command);
      // What displays report takes a moment.
      for (let again = 0; again < 20 && isReading(command) && !expected.test(ended.text); again += 1) {
        ended = await shell(command);
      }
      expect.soft(ended.text, command).toMatch(expected);
      expect.soft(ended.code, command).toBe(0);
      for (const [start, check] of Object.entries(effects)) if (command.startsWith(start)) await check();
    }
  });

  test.skipIf(ownAddress === null)('without a named box the first that knows the secret is asked', async () => {
    const env = { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_DISCOVERY: 'on', SIGNAGE_SITE: 'unnamed' };
    const secrets = { own: 'a secret of this test alone', others: 'a secret of somebody else' };
    await startTestService({ content, env: { ...env, SIGNAGE_SHARED_SECRET: secrets.others } });
    await startTestService({ content, env: { ...env, SIGNAGE_SHARED_SECRET: secrets.own } });
    const { stdout, stderr, code } = await signage(['screens'], { env: { SIGNAGE_SHARED_SECRET: secrets.own } });
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toMatch(/^demo +Lobby /m);
  });
});
