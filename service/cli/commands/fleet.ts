/** `fleet`: many sites, over the hub of the fleet. The NATS libraries are loaded when a command needs them. */
import { Argument, type Command, Option } from 'commander';
import { moment as momentArgument, siteName } from '../arguments.ts';
import { CliError } from '../exit.ts';
import type { CommandAnswer, Hub, Site } from '../fleet/hub.ts';
import { isAway } from '../fleet/rollout.ts';
import { inParallel } from '../parallel.ts';
import type { Session } from '../session.ts';
import { spellTarget, type Target, targetArgument } from '../targets.ts';
import { moment, plural, shortHash, visible } from '../text.ts';
import { checkNames, NOT_ALL, registerFleetContent } from './fleet-content.ts';
import { registerFleetSetup } from './fleet-setup.ts';
import { safePlays } from './records.ts';
import { bodyOf, type SendOptions, withCommand } from './send.ts';

const COMMAND_MS = 5_000;
const AT_ONCE = 64;

/** A row of a command that a site did not carry out. */
const failureOf = (
  site: string,
  answer: CommandAnswer,
): { site: string; error: { code: string; message: string } }[] => {
  if (answer === 'nonsense') {
    return [{ site, error: { code: 'invalid_answer', message: 'The site answers something that is no answer.' } }];
  }
  if (answer === 'silent' || !('error' in answer)) return [];
  const { code, message } = answer.error;
  return [{ site, error: { code, message: visible(message) } }];
};

/** The worst of a site. */
const stateOf = ({ boxes }: Site, now: number): string => {
  if (boxes.every((box) => isAway(box, now))) return 'away';
  if (boxes.some((box) => box.status === 'failing' && !isAway(box, now))) return 'failing';
  return boxes.some((box) => box.status !== 'ok' || isAway(box, now)) ? 'degraded' : 'ok';
};

/** The sites, and the hub's time, which dates their reports: the clock of this machine may be wrong. */
const readSites = async (hub: Hub): Promise<{ sites: Site[]; now: number }> => ({
  sites: await hub.sites(),
  now: await hub.now(),
});

export const registerFleet = (program: Command, session: Session): void => {
  const { out, withHub, degrade, checkCanAsk, confirm } = session;
  const group = program.command('fleet').description('many sites, over the hub of the fleet');

  /** @throws CliError `notFound` if a site is not known */
  const pick = (known: readonly Site[], names: readonly string[]): Site[] => {
    checkNames(
      known.map(({ site }) => site),
      names,
    );
    return names.length === 0 ? [...known] : known.filter(({ site }) => names.includes(site));
  };

  registerFleetSetup(group, session);

  group
    .command('sites')
    .description('the sites, and what they play')
    .action(async () => {
      const { sites, now } = await withHub(readSites);
      const summaries = sites.map((site) => ({
        site: site.site,
        state: stateOf(site, now),
        boxes: site.boxes.length,
        away: site.boxes.filter((box) => isAway(box, now)).length,
        content: site.content,
      }));
      out.answer({ sites: summaries }, () =>
        out.table(
          ['SITE', 'STATUS', 'BOXES', 'CONTENT', 'WANTED', 'CHANGED'],
          summaries.map(({ site, state, boxes, away, content }) => [
            ...[site, state, away === 0 ? String(boxes) : `${boxes} (${away} away)`, content?.state ?? '-'],
            ...[content?.wanted ? shortHash(content.wanted) : '-', moment(content?.changedAt ?? null)],
          ]),
        ),
      );
    });

  group
    .command('status')
    .description('the boxes of all sites or of one, and what is wrong with them')
    .addArgument(new Argument('[site]', 'name of a site').argParser(siteName))
    .action(async (site: string | undefined) => {
      const { all, now, hub } = await withHub(async (each) => {
        const issues = await each.issues();
        const { sites: known, now: at } = await readSites(each);
        return { all: known, now: at, hub: issues };
      });
      const sites = pick(all, site === undefined ? [] : [site]);
      const boxes = sites.flatMap((each) =>
        each.boxes.map((box) => ({ ...box, status: isAway(box, now) ? 'away' : box.status })),
      );
      out.answer({ boxes, hub }, () => {
        out.table(
          ['SITE', 'BOX', 'STATUS', 'PAGES', 'VERSION', 'SEEN', 'URL'],
          boxes.map((box) => [
            ...[box.site, box.name, box.status, String(box.connections), box.version],
            ...[moment(box.seenAt), box.url ?? '-'],
          ]),
        );
        for (const sentence of hub) out.say(sentence);
        for (const { name, site: at, warnings } of boxes)
          for (const each of warnings) out.say(`${at}, ${name}: ${each}`);
        for (const { site: at, content } of sites) {
          for (const { path, message } of content?.errors ?? []) out.say(`${at}, wanted content: ${path} ${message}`);
        }
      });
    });

  const send = group
    .command('send')
    .description('send a command to the pages of a site, or of all')
    .addArgument(new Argument('<site>', 'name of a site, or all').argParser(siteName))
    .addArgument(targetArgument())
    .option('--yes', 'do not ask');
  withCommand(send).action(async (name: string, target: Target, command: string, options: SendOptions) => {
    const body = await bodyOf(command, options);
    if (command === 'blackout' && (name === 'all' || target.kind === 'all')) {
      checkCanAsk(options.yes);
      await confirm(`Send blackout to ${name === 'all' ? 'all sites' : `all screens of ${name}`}?`, options.yes);
    }
    const answers = await withHub(async (hub) => {
      const names = name === 'all' ? (await hub.sites()).map(({ site }) => site) : [name];
      const [hubNow, read] = [await hub.now(), performance.now()];
      return inParallel(names, AT_ONCE, async (site) => {
        const expiresAt = Math.round(hubNow + performance.now() - read + COMMAND_MS);
        return { site, answer: await hub.command(site, spellTarget(target), body, { expiresAt, ms: COMMAND_MS }) };
      });
    });
    const silent = answers.flatMap(({ site, answer }) => (answer === 'silent' ? [site] : []));
    const failed = answers.flatMap(({ site, answer }) => failureOf(site, answer));
    const done = answers.flatMap(({ answer }) => (typeof answer === 'object' && 'sent' in answer ? [answer] : []));
    const sent = done.reduce((sum, answer) => sum + answer.sent, 0);
    const isDegraded = silent.length > 0 || done.some(({ degraded }) => degraded);
    out.answer({ command, sent, degraded: isDegraded, silent, failed }, () => {
      for (const { site, error } of failed) out.say(`${site}: ${error.message}`);
      for (const site of silent) out.say(`${site} is silent.`);
      out.say(`Sent to ${plural(sent, 'page')} of ${plural(answers.length - silent.length, 'site')}.`);
    });
    if (failed.length > 0 && failed.length === answers.length) {
      const isUnknown = failed.every(({ error }) => error.code === 'screen_not_found');
      throw new CliError(isUnknown ? 'notFound' : 'refused', 'No site has carried the command out.');
    }
    degrade(isDegraded || failed.length > 0, NOT_ALL);
  });

  registerFleetContent(group, session);

  group
    .command('plays')
    .description('write the records of plays of all sites or of one, as they came in')
    .option('--site <site>', 'of this site alone', siteName)
    .option('--from <time>', 'from this date (UTC) or time on', momentArgument)
    .option('--to <time>', 'up to this date (UTC) or time', momentArgument)
    .addOption(new Option('--format <format>', 'RFC 4180, or one JSON array').choices(['csv', 'json']).default('csv'))
    .action(
      async ({ site, from, to, format }: { site?: string; from?: string; to?: string; format: 'csv' | 'json' }) => {
        const { formats } = await import('../../domain/play-formats.ts');
        const [first, last] = [Date.parse(from ?? '0001-01-01'), Date.parse(to ?? '9999-12-31')];
        await withHub(async (hub) => {
          const batches = async function* () {
            for await (const batch of hub.plays(site ?? null)) {
              yield batch.filter(({ started_at }) => Date.parse(started_at) >= first && Date.parse(started_at) < last);
            }
          };
          const asked = out.isJson() ? 'json' : format;
          const safe = safePlays(out, asked);
          for await (const piece of formats[asked].write(batches())) {
            if (!out.stdout.write(safe(piece))) await new Promise((resolve) => out.stdout.once('drain', resolve));
          }
        });
      },
    );
};
