/** `trigger`: addresses with which other systems start something. */
import { Argument, type Command, Option } from 'commander';
import { commandNames } from '../../contract/command-names.ts';
import type { NewTrigger, Trigger, TriggerEffect, TriggerTrial } from '../../contract/console/triggers.ts';
import { duration, messageId, text, triggerId } from '../arguments.ts';
import { CliError } from '../exit.ts';
import type { Session } from '../session.ts';
import { spellTarget, type Target, targets } from '../targets.ts';
import { moment, plural } from '../text.ts';
import { bodyOf, type SendOptions } from './send.ts';

interface AddOptions extends Pick<SendOptions, 'url' | 'on' | 'off'> {
  show?: string;
  end?: string;
  play?: string;
  /** Seconds. */
  for?: number;
  send?: string;
  target?: Target[];
}

/** The further options of each effect. */
const further = {
  show: ['target'],
  end: [],
  play: ['target', 'for'],
  send: ['target', 'url', 'on', 'off'],
} as const satisfies Record<string, (keyof AddOptions)[]>;
const effects = Object.keys(further) as (keyof typeof further)[];

/** @throws CliError `usage` */
const effectOf = async (options: AddOptions): Promise<TriggerEffect> => {
  const usage = (text: string): CliError => new CliError('usage', text);
  const effect = effects.find((name) => options[name] !== undefined);
  if (effect === undefined) throw usage('Say what it does: --show, --end, --play or --send.');
  for (const name of ['for', 'target', 'url', 'on', 'off'] as const) {
    const isTaken = (further[effect] as readonly string[]).includes(name);
    if (options[name] !== undefined && !isTaken) throw usage(`--${effect} takes no --${name}.`);
  }
  const { show, end, play, for: seconds, send = '', target = [], url, on, off } = options;
  if (end !== undefined) return { end: { message_id: end } };
  const spelled = target.map(spellTarget);
  if (spelled.length === 0) throw usage('Say for which screens: --target all, a slug or tag:NAME.');
  if (show !== undefined) return { takeover: { message_id: show, targets: spelled } };
  if (play !== undefined) {
    if (seconds === undefined) throw usage('Say how long it plays: --for 30m.');
    return { playlist: { targets: spelled, playlist_id: play, minutes: seconds / 60 } };
  }
  const given = { ...(url !== undefined && { url }), ...(on && { on }), ...(off && { off }) };
  return { command: { ...(await bodyOf(send, given)), command: send, targets: spelled } };
};

const does = ({ takeover, end, playlist, command }: TriggerEffect): string => {
  if (takeover !== undefined) return `shows ${takeover.message_id} on ${takeover.targets.join(', ')}`;
  if (end !== undefined) return `ends ${end.message_id}`;
  if (playlist !== undefined)
    return `plays ${playlist.playlist_id} on ${playlist.targets.join(', ')} for ${playlist.minutes} min`;
  return `sends ${command?.command} to ${command?.targets.join(', ')}`;
};

const idArgument = (): Argument => new Argument('<id>', 'id of the trigger').argParser(triggerId);

export const registerTrigger = (program: Command, { out, client, confirm }: Session): void => {
  const group = program.command('trigger').description('addresses with which other systems start something');
  const path = '/console/api/triggers';

  group
    .command('list')
    .description('list the triggers, without their tokens')
    .action(async () => {
      const { body } = await (await client()).ask<{ triggers: Trigger[] }>({ path });
      out.answer(body, ({ triggers }) =>
        out.table(
          ['ID', 'NAME', 'DOES', 'MADE', 'FIRED', ''],
          triggers.map(({ id, name, effect, created_at, fired_at, issue }) => [
            id,
            name,
            does(effect),
            moment(created_at),
            fired_at === null ? '-' : moment(fired_at),
            issue ?? '',
          ]),
        ),
      );
    });

  const others = (name: (typeof effects)[number]): string[] => effects.filter((each) => each !== name);
  group
    .command('add')
    .description('make a trigger; its address is printed once')
    .addArgument(new Argument('<name>', 'what fires it, for people').argParser(text))
    .addOption(new Option('--show <message>', 'shows a saved message').argParser(messageId).conflicts(others('show')))
    .addOption(new Option('--end <message>', 'ends a saved message').argParser(messageId).conflicts(others('end')))
    .addOption(
      new Option('--play <playlist>', 'plays a playlist above all programmes')
        .argParser(text)
        .conflicts(others('play')),
    )
    .option('--for <time>', 'how long the playlist plays: 90s, 30m, 2h, 1d', duration)
    .addOption(
      new Option('--send <command>', 'sends a command')
        .choices(commandNames('extended').filter((name) => name !== 'setclientname'))
        .conflicts(others('send')),
    )
    .option('--url <url>', 'with --send redirect')
    .addOption(new Option('--on', 'with --send blackout').conflicts('off'))
    .addOption(new Option('--off', 'with --send blackout').conflicts('on'))
    .option('--target <target>', 'slug of a screen, tag:NAME or all; several times for several', targets)
    .action(async (name: string, options: AddOptions) => {
      const effect = await effectOf(options);
      const box = await client();
      const { body } = await box.ask<NewTrigger>({ method: 'POST', path, body: JSON.stringify({ name, effect }) });
      out.answer(body, ({ url }) => out.line(url));
      out.say(
        `A POST to this address fires it. It is not shown again. To revoke it: signage trigger delete ${body.id}`,
      );
      if (body.url.startsWith('http:')) out.say('Every host on the way can read this address: it is not https.');
    });

  group
    .command('try')
    .description('check what a trigger would do, without showing anything')
    .addArgument(idArgument())
    .action(async (id: string) => {
      const { body } = await (await client()).ask<TriggerTrial>({ method: 'POST', path: `${path}/${id}/try` });
      out.answer(body, ({ screens, displays }) => {
        if (body.ok)
          out.line(`It would work, on ${plural(displays, 'display')} of ${plural(screens.length, 'screen')}.`);
      });
      if (!body.ok) throw new CliError('refused', `It would not work: ${body.issue}`);
    });

  group
    .command('delete')
    .description('revoke a trigger, for ever')
    .addArgument(idArgument())
    .option('--yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: true }) => {
      const box = await client();
      await confirm(`Revoke the trigger ${id}?`, yes);
      await box.ask({ method: 'DELETE', path: `${path}/${id}` });
      out.say(`${id} is revoked.`);
    });
};
