/** `screens`, `show`, `onboard` and `devices`: what the site shows, and on what. */
import { setTimeout as delay } from 'node:timers/promises';
import { Argument, type Command, Option } from 'commander';
import type { SiteOverview } from '../../contract/console/site.ts';
import type { OnboardingResult } from '../../contract/onboarding.ts';
import type { ScreenDue } from '../../contract/programmes.ts';
import { canonicalDeviceId } from '../../contract/readable.ts';
import { deviceId, playerName, siteTime, slug } from '../arguments.ts';
import type { Client } from '../client.ts';
import { CliError } from '../exit.ts';
import type { Session } from '../session.ts';
import { fetchSite, screensOf } from '../targets.ts';
import { columns, moment, safeJson, visible } from '../text.ts';

type SiteScreen = SiteOverview['screens'][number];
type Connection = SiteScreen['connections'][number];

/** Polling interval of `--watch`, ms. */
const WATCH_MS = 2_000;

/** Counts of states, most first: `3 playing, 1 away`. */
const statesOf = (devices: SiteScreen['devices']): string => {
  const counts = new Map<string, number>();
  for (const { state } of devices) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
};

const slideOf = ({ currentSlideId, currentSlideTitle }: Connection): string =>
  currentSlideTitle ?? currentSlideId ?? '-';

/** The slides that are on, each once. */
const showing = (connections: readonly Connection[]): string => [...new Set(connections.map(slideOf))].join(', ');

const marksOf = ({ paused, blackout, page }: Connection): string =>
  [paused && 'paused', blackout && 'black', !page.startsWith('/screen/') && page].filter(Boolean).join(', ');

const deviceRow = ({ deviceId: id, clientName, state, lastSeenAt }: SiteScreen['devices'][number]): string[] => [
  clientName ?? '-',
  state,
  moment(lastSeenAt),
  id,
];

const describe = ({ screen, tags, devices, connections }: SiteScreen): string[] => [
  ...columns([
    ['screen', `${screen.name} (${screen.slug})`],
    ['playlist', screen.playlist_id ?? 'none'],
    ['tags', tags.join(', ') || 'none'],
    ['changed', moment(screen.modified_at)],
  ]),
  '',
  ...(devices.length === 0
    ? ['No device is bound to it.']
    : columns([['DEVICE', 'STATE', 'LAST SEEN', 'ID'], ...devices.map(deviceRow)])),
  '',
  ...(connections.length === 0
    ? ['No page shows it.']
    : columns([
        ['PAGE', 'SHOWS', '', 'ADDRESS', 'CONNECTION'],
        ...connections.map((each) => [each.label, slideOf(each), marksOf(each), each.clientIp, each.id]),
      ])),
];

const reasons: Readonly<Record<ScreenDue['reason'], string>> = {
  trigger: 'because a trigger put it above all programmes',
  only: 'because no other programme is due',
  priority: 'because its priority is higher than that of the others that are due',
  target: 'because its target is more specific than that of the others that are due',
  order: 'because it stands after the others that are due',
  default: 'its own playlist, because no programme is due',
  none: 'because no programme is due, and the screen has no playlist of its own',
};

/** What a screen plays at a moment, as lines for a person. */
const describeDue = (slugOfScreen: string, { at, playlist_id, programme_id, reason, slides, next }: ScreenDue) => {
  const what = playlist_id === null ? 'nothing' : `the playlist ${playlist_id}`;
  const by = programme_id === null ? '' : ` by the programme ${programme_id}`;
  const until =
    next === null
      ? 'That does not change within 8 days.'
      : `From ${moment(next.at)} it plays ${next.playlist_id === null ? 'nothing' : `the playlist ${next.playlist_id}`}.`;
  return [
    `${moment(at)}: ${slugOfScreen} plays ${what}${by}, ${reasons[reason]}.`,
    ...(playlist_id === null ? [] : [`Slides: ${slides.join(', ') || 'none'}`]),
    until,
  ];
};

export const registerSite = (program: Command, { out, client, degrade, checkCanAsk, confirm }: Session): void => {
  program
    .command('screens')
    .description('list the screens, and what they show')
    .action(async () => {
      const { body } = await fetchSite(await client());
      out.answer(body, ({ screens }) =>
        out.table(
          ['SCREEN', 'NAME', 'TAGS', 'DEVICES', 'PAGES', 'SHOWS'],
          screens.map(({ screen, tags, devices, connections }) => [
            screen.slug,
            screen.name,
            tags.join(', '),
            statesOf(devices) || '-',
            String(connections.length),
            showing(connections) || '-',
          ]),
        ),
      );
      degrade(body.degraded);
    });

  /** The site with this screen alone. */
  const fetchScreen = async (box: Client, slugOfScreen: string): Promise<SiteOverview> => {
    const { body } = await fetchSite(box);
    return { ...body, screens: screensOf(body, { kind: 'screen', slug: slugOfScreen }) };
  };

  /** Repaints on a terminal; elsewhere prints what has changed. Ends with the process. */
  const watch = async (box: Client, slugOfScreen: string): Promise<never> => {
    const isTerminal = out.stdout.isTTY === true && !out.isJson();
    out.useStream();
    let lines: string[] = [];
    for (let isFirst = true; ; isFirst = false) {
      const before = lines;
      let footer = `${moment(new Date(box.now()).toISOString())}. Ends with Ctrl-C.`;
      try {
        const site = await fetchScreen(box, slugOfScreen);
        lines = out.isJson() ? [safeJson(site, 0)] : site.screens.flatMap(describe);
      } catch (error) {
        // A box that restarts is reachable again soon.
        if (isFirst || !(error instanceof CliError) || error.exit !== 'unreachable') throw error;
        footer = error.message;
      }
      if (isTerminal) out.repaint([...lines, '', footer]);
      else if (lines.join('\n') !== before.join('\n')) for (const line of lines) out.line(line);
      await delay(WATCH_MS);
    }
  };

  program
    .command('show')
    .description('show one screen: its devices, and the pages that show it')
    .addArgument(new Argument('<slug>', 'the screen').argParser(slug))
    .addOption(new Option('--watch', 'refresh until interrupted').conflicts('at'))
    .option('--at <time>', 'what it plays then, and why: 11:40, 2026-11-24T11:40, 2026-11-24T11:40:00Z', siteTime)
    .action(async (slugOfScreen: string, { watch: isWatched, at }: { watch?: true; at?: string }) => {
      const box = await client();
      if (at !== undefined) {
        const path = `/console/api/screens/${slugOfScreen}/programme?at=${encodeURIComponent(at)}`;
        const { body } = await box.ask<ScreenDue>({ method: 'GET', path });
        return out.answer(body, (due) => {
          for (const line of describeDue(slugOfScreen, due)) out.line(visible(line));
        });
      }
      if (isWatched) await watch(box, slugOfScreen);
      const site = await fetchScreen(box, slugOfScreen);
      out.answer(site, ({ screens }) => {
        for (const line of screens.flatMap(describe)) out.line(line);
      });
      degrade(site.degraded);
    });

  const devices = program.command('devices').description('the devices that are bound to screens');

  devices
    .command('list')
    .description('list the devices of the site, and those that wait for a screen')
    .action(async () => {
      const { body } = await fetchSite(await client());
      out.answer(body, ({ screens, waiting }) =>
        out.table(
          ['NAME', 'STATE', 'LAST SEEN', 'ID', 'SCREEN'],
          [
            ...screens.flatMap(({ screen, devices: bound }) => bound.map((each) => [...deviceRow(each), screen.slug])),
            ...waiting.map(({ deviceId: id }) => ['-', 'waiting', 'now', id, '-']),
          ],
        ),
      );
      degrade(body.degraded);
    });

  devices
    .command('forget')
    .description('forget the binding of a device, on all boxes')
    .addArgument(new Argument('<id>', 'id of the device').argParser(deviceId))
    .option('--yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: true }) => {
      checkCanAsk(yes);
      const box = await client();
      const { body: site } = await fetchSite(box);
      const known = site.screens.flatMap((each) => each.devices).map((each) => canonicalDeviceId(each.deviceId));
      if (!known.includes(id) && !site.degraded) {
        throw new CliError('notFound', `The site has no device ${visible(id)}. See: signage devices list`);
      }
      await confirm(`Forget the device ${id}?`, yes);
      await box.ask({ method: 'DELETE', path: `/console/api/devices/${encodeURIComponent(id)}` });
      out.say(`${id} is forgotten.`);
    });
};

export const registerOnboard = (program: Command, { out, client }: Session): void => {
  program
    .command('onboard')
    .description('bind a device to a screen')
    .addArgument(new Argument('<device>', 'id that the device shows').argParser(deviceId))
    .addArgument(new Argument('<slug>', 'the screen to show').argParser(slug))
    .requiredOption('--name <name>', 'name of the player, for people', playerName)
    .action(async (device: string, screenSlug: string, { name: clientName }: { name: string }) => {
      const box = await client();
      const body = JSON.stringify({ deviceId: device, clientName, screenSlug });
      const answer = await box.ask<OnboardingResult>({ method: 'POST', path: '/api/onboarding', body });
      out.answer(answer.body, (result) => {
        out.line(visible(result.playerUrl));
        out.say(
          result.queued
            ? `${result.clientName} shows ${result.screenName} as soon as the device is there.`
            : `${result.clientName} shows ${result.screenName} now.`,
        );
      });
    });
};
