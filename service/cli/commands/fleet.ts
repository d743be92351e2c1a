/** `fleet`: many sites, over the hub of the fleet. The NATS libraries are loaded when a command needs them. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { duration, moment as momentArgument, siteName, siteNames } from '../arguments.ts';
import { type LocalDocument, readDocument } from '../document.ts';
import { CliError } from '../exit.ts';
import type { Hub, KnownBox, Site } from '../fleet/hub.ts';
import { inParallel } from '../parallel.ts';
import type { Session } from '../session.ts';
import { spellTarget, type Target, targetArgument } from '../targets.ts';
import { moment, plural, shortHash, bytes as spellBytes, visible } from '../text.ts';
import { registerFleetCredentials } from './fleet-credentials.ts';
import { bodyOf, type SendOptions, withCommand } from './send.ts';

/** The largest value that a hub accepts; see the guide. */
const MAX_STORED_BYTES = 1000 * 1024;
/** A box writes its status once a minute. */
const AWAY_MS = 150_000;
const COMMAND_MS = 5_000;
const NOT_ALL = 'Not every site or box has answered in time. See: signage fleet status';
const AT_ONCE = 64;

const percentages = (value: string): number[] => {
  const phases = value.split(',').map(Number);
  const isAscending = phases.every((each, index) => each > (phases[index - 1] ?? 0) && each <= 100);
  if (!isAscending) throw new InvalidArgumentError('It must be ascending percentages such as 1,10,100.');
  return phases;
};

const count = (value: string): number => {
  if (!/^[1-5]$/.test(value)) throw new InvalidArgumentError('It must be 1 to 5.');
  return Number(value);
};

const isAway = ({ seenAt }: KnownBox, now: number): boolean => now - Date.parse(seenAt) > AWAY_MS;

/** The worst of a site. */
const stateOf = ({ boxes }: Site, now: number): string => {
  if (boxes.every((box) => isAway(box, now))) return 'away';
  if (boxes.some(({ status }) => status === 'failing')) return 'failing';
  return boxes.some((box) => box.status !== 'ok' || isAway(box, now)) ? 'degraded' : 'ok';
};

/** The sites, and the hub's time, which dates their reports: the clock of this machine may be wrong. */
const readSites = async (hub: Hub): Promise<{ sites: Site[]; now: number }> => ({
  sites: await hub.sites(),
  now: await hub.now(),
});

interface Packed {
  bytes: Uint8Array;
  sha256: string;
}

/** @throws CliError `refused` */
const pack = async (file: string, { text }: LocalDocument): Promise<Packed> => {
  const bytes = await promisify(gzip)(text, { level: 9 });
  if (bytes.length > MAX_STORED_BYTES) {
    const sizes = `${spellBytes(bytes.length)}, of ${spellBytes(MAX_STORED_BYTES)}`;
    throw new CliError('refused', `${visible(file)} is too large for the hub when it is packed: ${sizes}.`);
  }
  return { bytes, sha256: createHash('sha256').update(text).digest('hex') };
};

export const registerFleet = (
  program: Command,
  { out, withHub, stdin, degrade, checkCanAsk, confirm }: Session,
): void => {
  const group = program.command('fleet').description('many sites, over the hub of the fleet');

  /** @throws CliError `notFound` if a site is not known */
  const pick = (known: readonly Site[], names: readonly string[]): Site[] => {
    const missing = names.find((name) => !known.some(({ site }) => site === name));
    if (missing !== undefined) throw new CliError('notFound', `The hub knows no site ${missing}.`);
    return names.length === 0 ? [...known] : known.filter(({ site }) => names.includes(site));
  };

  group
    .command('init')
    .description('create the missing buckets and streams of the hub')
    .option('--replicas <n>', 'servers of a cluster that keep each of them', count, 1)
    .action(async ({ replicas }: { replicas: number }) => {
      const made = await withHub((hub) => hub.init(replicas));
      out.answer({ made }, () => {
        for (const name of made) out.line(name);
        out.say(made.length === 0 ? 'All buckets and streams exist.' : `Made ${made.length}.`);
      });
    });

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
      const { sites: all, now } = await withHub(readSites);
      const sites = pick(all, site === undefined ? [] : [site]);
      const boxes = sites.flatMap((each) =>
        each.boxes.map((box) => ({ ...box, status: isAway(box, now) ? 'away' : box.status })),
      );
      out.answer({ boxes }, () => {
        out.table(
          ['SITE', 'BOX', 'STATUS', 'PAGES', 'VERSION', 'SEEN', 'URL'],
          boxes.map((box) => [
            ...[box.site, box.name, box.status, String(box.connections), box.version],
            ...[moment(box.seenAt), box.url ?? '-'],
          ]),
        );
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
    .addArgument(targetArgument());
  withCommand(send).action(async (name: string, target: Target, command: string, options: SendOptions) => {
    const body = await bodyOf(command, options);
    const answers = await withHub(async (hub) => {
      const names = name === 'all' ? (await hub.sites()).map(({ site }) => site) : [name];
      const [hubNow, read] = [await hub.now(), performance.now()];
      return inParallel(names, AT_ONCE, async (site) => {
        const expiresAt = Math.round(hubNow + performance.now() - read + COMMAND_MS);
        return {
          site,
          answer: (await hub.command(site, spellTarget(target), body, { expiresAt, ms: COMMAND_MS })) as Answer | null,
        };
      });
    });
    const silent = answers.flatMap(({ site, answer }) => (answer === null ? [site] : []));
    const failed = answers.flatMap(({ site, answer }) =>
      answer?.error === undefined ? [] : [{ site, error: answer.error }],
    );
    const sent = answers.reduce((sum, { answer }) => sum + (answer?.sent ?? 0), 0);
    const isDegraded = silent.length > 0 || answers.some(({ answer }) => answer?.degraded === true);
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

  const fileArgument = (): Argument => new Argument('<file>', 'a content.json; - for standard input');

  group
    .command('push')
    .description('make a document the wanted content of sites')
    .addArgument(fileArgument())
    .addArgument(new Argument('[sites...]', 'names of sites').argParser(siteNames))
    .option('--all', 'all sites that the hub has heard of')
    .option('--yes', 'do not ask')
    .action(async (file: string, names: string[], options: { all?: true; yes?: true }) => {
      if (names.length === 0 && options.all !== true) throw new CliError('usage', 'Name the sites, or say --all.');
      checkCanAsk(options.yes);
      const { bytes, sha256 } = await pack(file, await readDocument(file, stdin));
      await withHub(async (hub) => {
        // A site can get its content before its boxes are installed.
        const sites = options.all === true ? (await hub.sites()).map(({ site }) => site) : names;
        await confirm(`Publish to ${plural(sites.length, 'site')}?`, options.yes);
        await hub.want(sites, bytes);
        out.answer({ sha256, sites }, () => {
          out.line(sha256);
          out.say(`${plural(sites.length, 'site')} will play it. See: signage fleet sites`);
        });
      });
    });

  group
    .command('rollout')
    .description('publish to a share of the sites first, and to more only where it plays')
    .addArgument(fileArgument())
    .option('--phases <percentages>', 'shares of the sites', percentages, [1, 10, 100])
    .option('--wait <time>', 'how long a phase may take', duration, 300)
    .option('--yes', 'do not ask')
    .action(async (file: string, options: { phases: number[]; wait: number; yes?: true }) => {
      checkCanAsk(options.yes);
      const { bytes, sha256 } = await pack(file, await readDocument(file, stdin));
      const { isHeld, rollOut } = await import('../fleet/rollout.ts');
      const results = await withHub(async (hub) => {
        const sites = (await hub.sites()).map(({ site }) => site);
        await confirm(`Publish to ${plural(sites.length, 'site')} in phases?`, options.yes);
        const { phases, wait } = options;
        return rollOut(hub, {
          bytes,
          sha256,
          sites,
          phases,
          waitMs: wait * 1_000,
          onPhase: ({ percent, applied, failed, silent }) =>
            out.say(`${percent} %: ${applied.length} play it, ${failed.length} failed, ${silent.length} silent.`),
        });
      });
      const last = results.at(-1);
      const held = last !== undefined && isHeld(last);
      out.answer({ sha256, held, phases: results }, () => out.line(sha256));
      if (held) {
        const why = last.failed.length > 0 ? `it failed at ${last.failed.join(', ')}` : 'no site of the phase took it';
        throw new CliError('refused', `The rollout is held at ${last.percent} %: ${why}. See: signage fleet status`);
      }
      degrade(
        results.some(({ silent }) => silent.length > 0),
        NOT_ALL,
      );
    });

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
          for await (const piece of formats[out.isJson() ? 'json' : format].write(batches())) {
            out.noteData();
            if (!out.stdout.write(piece)) await new Promise((resolve) => out.stdout.once('drain', resolve));
          }
        });
      },
    );

  registerFleetCredentials(group, out);
};

/** The answer of a site to a command. */
interface Answer {
  sent?: number;
  degraded?: boolean;
  error?: { code: string; message: string };
}
