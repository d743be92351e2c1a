/** `takeover`: a message that screens show alone, for a time. */
import { randomBytes } from 'node:crypto';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { SiteOverview } from '../../contract/console/site.ts';
import { mostTakeoverDays, takeoverLevels } from '../../contract/console/takeover-levels.ts';
import { duration, takeoverId, text } from '../arguments.ts';
import { moment, plural } from '../format.ts';
import type { Session } from '../session.ts';
import { fetchSite } from '../site.ts';
import { screensOf, spellTarget, type Target, targetArgument } from '../targets.ts';

type Takeover = SiteOverview['takeovers'][number];

interface StartOptions {
  title: string;
  /** Seconds. */
  for: number;
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

  group
    .command('start')
    .description('show a message on screens, in place of what they play')
    .addArgument(targetArgument())
    .requiredOption('--title <title>', 'the message', text)
    .requiredOption('--for <time>', 'for how long: 90s, 30m, 2h, 1d', takeoverTime)
    .addOption(
      new Option('--level <level>', 'emergency: also outside opening hours').choices(takeoverLevels).default('info'),
    )
    .option('--yes', 'do not ask')
    .action(async (target: Target, { title, for: seconds, level, yes }: StartOptions) => {
      checkCanAsk(yes);
      const box = await client();
      const { body: site } = await fetchSite(box);
      const screens = plural(screensOf(site, target).length, 'screen');
      await confirm(`Show "${title}" on ${screens} (${spellTarget(target)})?`, yes);
      // By the clock of the box, which ends it: this machine's may be wrong.
      const until = new Date(box.now() + seconds * 1000).toISOString();
      const { body } = await box.ask<Takeover>({
        method: 'PUT',
        path: `/console/api/takeovers/${newId(title)}`,
        body: JSON.stringify({ targets: [spellTarget(target)], level, title, until }),
      });
      out.answer(body, (takeover) => show([takeover]));
      out.say(`To end it early: signage takeover end ${body.id}`);
      degrade(site.degraded);
    });

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
    .action(async (id: string) => {
      await (await client()).ask({ method: 'DELETE', path: `/console/api/takeovers/${id}` });
      out.say(`${id} is over.`);
    });
};
