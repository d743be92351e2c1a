/** `send`: commands to players. */
import { Argument, type Command, Option } from 'commander';
import { commandNames } from '../../contract/command-names.ts';
import type { CommandResult } from '../../contract/commands.ts';
import { deviceId, playerName, text } from '../arguments.ts';
import type { Client } from '../client.ts';
import { CliError } from '../exit.ts';
import { inParallel } from '../parallel.ts';
import type { Session } from '../session.ts';
import {
  fetchSite,
  isForOnePage,
  listOf,
  type PageOptions,
  pagesOf,
  screensOf,
  spellTarget,
  type Target,
  targetArgument,
} from '../targets.ts';

export interface SendOptions extends PageOptions {
  url?: string;
  on?: true;
  off?: true;
  name?: string;
  device?: string;
  yes?: true;
}

/** Screens that are commanded concurrently. */
const AT_ONCE = 4;

const usage = (message: string): CliError => new CliError('usage', message);

/** The options of each command that has any: those that it needs, and those that it may have. */
const optionsOf: Readonly<Record<string, { needs: (keyof SendOptions)[]; may: (keyof SendOptions)[] }>> = {
  blackout: { needs: [], may: ['on', 'off'] },
  redirect: { needs: ['url'], may: [] },
  setclientname: { needs: ['name', 'device'], may: [] },
};

/** The body of the request. @throws CliError `usage` */
export const bodyOf = async (command: string, options: SendOptions): Promise<Record<string, unknown>> => {
  const { needs, may } = optionsOf[command] ?? { needs: [], may: [] };
  for (const name of needs) if (options[name] === undefined) throw usage(`${command} needs --${name}.`);
  for (const name of ['url', 'on', 'off', 'name', 'device'] as const) {
    if (options[name] !== undefined && ![...needs, ...may].includes(name))
      throw usage(`${command} takes no --${name}.`);
  }
  const { url, name, device, connection, client } = options;
  const blackout = options.on ?? (options.off && false);
  const all = {
    command,
    url,
    clientName: name,
    deviceId: device,
    blackout,
    connectionId: connection,
    clientId: client,
  };
  const body = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  // Schemas take their time to load.
  const { commandRequest } = await import('../../contract/commands.ts');
  const { redirectTarget } = await import('../../domain/redirect.ts');
  const [issue] = commandRequest.safeParse(body).error?.issues ?? [];
  const isLost = url !== undefined && issue === undefined && redirectTarget(url, () => false) === null;
  if (issue?.path[0] === 'url' || isLost) throw usage('--url must be /screen/SLUG, /media/NAME or an http(s) URL.');
  if (issue !== undefined) throw usage(`${issue.path.join('.')} is not valid: ${issue.message}.`);
  return body;
};

const pages = (count: number): string => (count === 1 ? '1 page' : `${count} pages`);

/** Adds the command and its options to a command line. */
export const withCommand = (line: Command): Command =>
  line
    .addArgument(new Argument('<command>', 'the command to run').choices(commandNames('extended')))
    .option('--url <url>', 'for redirect: /screen/SLUG, /media/NAME or an http(s) URL', text)
    .addOption(new Option('--on', 'for blackout: black, where it would toggle').conflicts('off'))
    .addOption(new Option('--off', 'for blackout: the picture again').conflicts('on'))
    .option('--name <name>', 'for setclientname: the name', playerName)
    .option('--device <id>', 'for setclientname: the device', deviceId)
    .option('--connection <id>', 'only to this connection', text)
    .option('--client <id>', 'only to the newest connection of this client', text);

export const registerSend = (program: Command, { out, client, degrade, checkCanAsk, confirm }: Session): void => {
  /** The screens to send to: those of the target, or those whose page is named. */
  const slugsOf = async (box: Client, target: Target, options: SendOptions): Promise<string[]> => {
    if (target.kind === 'screen') return [target.slug];
    const { body } = await fetchSite(box);
    if (!isForOnePage(options)) return screensOf(body, target).map(({ screen }) => screen.slug);
    return [...new Set(pagesOf(body, target, options).map(({ slug }) => slug))];
  };

  const report = (target: Target, results: readonly CommandResult[]): void => {
    const sent = results.reduce((sum, result) => sum + result.sent, 0);
    if (target.kind !== 'screen' && results.length > 0) {
      out.table(
        ['SCREEN', 'SENT'],
        results.map((result) => [result.screenSlug, String(result.sent)]),
      );
    }
    out.say(`Sent to ${pages(sent)}.`);
  };

  const line = program
    .command('send')
    .description('send a command to the pages of a screen')
    .addArgument(targetArgument())
    .option('--yes', 'do not ask');
  withCommand(line).action(async (target: Target, command: string, options: SendOptions) => {
    const body = JSON.stringify(await bodyOf(command, options));
    const isAsked = target.kind === 'all' && command === 'blackout';
    if (isAsked) checkCanAsk(options.yes);
    const box = await client();
    if (isAsked) await confirm('Send blackout to all screens?', options.yes);
    const failed: { slug: string; error: CliError }[] = [];
    const answers = await inParallel(await slugsOf(box, target, options), AT_ONCE, async (slug) => {
      const path = `/api/screens/${slug}/commands`;
      try {
        return [(await box.ask<CommandResult>({ method: 'POST', path, body })).body];
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        failed.push({ slug, error });
        return [];
      }
    });
    const results = answers.flat();
    const [first] = failed;
    if (first !== undefined && results.length === 0) throw first.error;
    out.answer(target.kind === 'screen' ? results[0] : results, () => report(target, results));
    if (first !== undefined) {
      const { exit, message } = first.error;
      throw new CliError(exit, `${message}\nNot sent to: ${listOf(failed.map(({ slug }) => slug))}.`);
    }
    const isDegraded = results.some(({ degraded }) => degraded);
    degrade(isDegraded);
    // A name is kept for a device that is not there.
    if (results.some(({ sent }) => sent > 0) || isDegraded || command === 'setclientname') return;
    const nobody = isForOnePage(options) ? 'No such page' : 'No page';
    throw new CliError('notFound', `${nobody} shows ${spellTarget(target)}. See: signage screens`);
  });
};
