/** `takeover`: a message that screens show alone, for a time. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { SiteOverview } from '../../contract/console/site.ts';
import {
  mostTakeoverBody,
  mostTakeoverDays,
  mostTakeoverTitle,
  takeoverLevels,
} from '../../contract/console/takeover-levels.ts';
import { duration, startTime, takeoverId, text, textWithin } from '../arguments.ts';
import type { Client } from '../client.ts';
import { CliError } from '../exit.ts';
import type { Session } from '../session.ts';
import { takeoverTimes } from '../takeover-times.ts';
import { fetchSite, screensOf, siteAhead, spellTarget, type Target, targetArgument } from '../targets.ts';
import { moment, plural, visible } from '../text.ts';
import { checkedName, served } from './media.ts';

type Takeover = SiteOverview['takeovers'][number];

interface StartOptions {
  title?: string;
  body?: string;
  media?: string;
  from?: Date;
  /** Seconds. */
  for?: number;
  untilEnded?: true;
  level: string;
  yes?: true;
}

/** @returns seconds */
const takeoverTime = (value: string): number => {
  const seconds = duration(value);
  if (seconds > mostTakeoverDays * 86_400) throw new InvalidArgumentError(`It must be ${mostTakeoverDays}d at most.`);
  return seconds;
};

/** A new id that begins with the words of the title. */
const newId = (title: string): string => {
  const words = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return [words.slice(0, 40), randomBytes(3).toString('hex')].filter((part) => part !== '').join('-');
};

/** How long pages may take to show a file that the box does not list, and how often they are asked for it, ms. */
const SHOW_MS = 3_000;
const LOOK_MS = 500;

/** Whether the box lists the file of a takeover, or a page shows it: it may be on another box alone. */
const isAtSite = async (box: Client, id: string, file: string, waitMs: number): Promise<boolean> => {
  if ((await served(box)).has(file)) return true;
  for (const until = performance.now() + waitMs; ; await pause(LOOK_MS)) {
    const { takeovers } = (await fetchSite(box)).body;
    if (takeovers.some((each) => each.id === id && each.shown > 0)) return true;
    if (performance.now() >= until) return false;
  }
};

export const registerTakeover = (program: Command, session: Session): void => {
  const { out, client, degrade, checkCanAsk, confirm } = session;
  const group = program.command('takeover').description('messages that replace what screens play, for a limited time');

  const show = (takeovers: readonly Takeover[]): void =>
    out.table(
      ['ID', 'TITLE', 'LEVEL', 'TARGETS', 'FROM', 'UNTIL', 'SHOWN'],
      takeovers.map(({ id, title, media_url: url, level, targets, from, until, shown, expected }) => [
        id,
        title ?? url ?? '-',
        level,
        targets.join(', '),
        moment(from),
        moment(until),
        `${shown} of ${expected}`,
      ]),
    );

  const checkFile = async (box: Client, id: string, file: string, waitMs: number): Promise<void> => {
    try {
      const missing = `The box has no ${visible(file)}, and no page shows it. See: signage media list`;
      degrade(!(await isAtSite(box, id, file, waitMs)), missing);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      degrade(
        true,
        `The takeover is there, but the box does not say whether it has ${visible(file)}: ${error.message}`,
      );
    }
  };

  group
    .command('start')
    .description('show a message on screens, in place of what they play')
    .addArgument(targetArgument())
    .option('--title <title>', 'the message', textWithin(mostTakeoverTitle))
    .option('--body <text>', 'more text, below the title', textWithin(mostTakeoverBody))
    .option('--media <name>', 'an image or video of the site instead of the text', text)
    .option('--from <time>', 'when it starts (default: now): 18:00, 2026-11-22T18:00, 2026-11-22T18:00:00Z', startTime)
    .addOption(
      new Option('--for <time>', 'for how long: 90s, 30m, 2h, 1d').argParser(takeoverTime).conflicts('untilEnded'),
    )
    .option('--until-ended', `until it is ended; below the level emergency ${mostTakeoverDays} days at most`)
    .addOption(
      new Option('--level <level>', 'emergency: also outside opening hours').choices(takeoverLevels).default('info'),
    )
    .option('--yes', 'do not ask')
    .action(
      async (target: Target, { title, body: more, media, from, for: given, untilEnded, level, yes }: StartOptions) => {
        const name = title ?? media;
        if (name === undefined) throw new CliError('usage', 'A takeover needs --title or --media.');
        const seconds = untilEnded ? mostTakeoverDays * 86_400 : given;
        if (seconds === undefined) throw new CliError('usage', 'Say how long: --for 30m, or --until-ended.');
        const file = media === undefined ? undefined : await checkedName(media);
        checkCanAsk(yes);
        const box = await client();
        const { body: site } = await fetchSite(box);
        const ahead = siteAhead(box, site);
        const screens = plural(screensOf(site, target).length, 'screen');
        await confirm(`Show "${name}" on ${screens} (${spellTarget(target)})?`, yes);
        // By the time of the site, which ends it: clocks of this machine and of the box may be wrong.
        const now = box.now() + ahead;
        const times =
          untilEnded && level === 'emergency' ? { from, until: null } : takeoverTimes(now, seconds * 1000, from);
        const { body } = await box.ask<Takeover>({
          method: 'PUT',
          path: `/console/api/takeovers/${newId(name)}`,
          body: JSON.stringify({
            targets: [spellTarget(target)],
            level,
            title,
            body: more,
            media_url: file === undefined ? undefined : `/media/${encodeURIComponent(file)}`,
            ...times,
          }),
        });
        out.answer(body, (takeover) => show([takeover]));
        out.say(`To end it early: signage takeover end ${body.id}`);
        const isUpcoming = from !== undefined && from.getTime() > now;
        if (file !== undefined) await checkFile(box, body.id, file, isUpcoming ? 0 : SHOW_MS);
        degrade(site.degraded);
      },
    );

  group
    .command('list')
    .description('list active and upcoming takeovers')
    .action(async () => {
      const { body } = await fetchSite(await client());
      out.answer(body, ({ takeovers }) => show(takeovers));
      degrade(body.degraded);
    });

  group
    .command('end')
    .description('end a takeover')
    .addArgument(new Argument('<id>', 'id of the takeover').argParser(takeoverId))
    .option('--yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: true }) => {
      checkCanAsk(yes);
      const box = await client();
      await confirm(`End the takeover ${id}?`, yes);
      await box.ask({ method: 'DELETE', path: `/console/api/takeovers/${id}` });
      out.say(`${id} is over.`);
    });
};
