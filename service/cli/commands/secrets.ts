/** `secrets`: headers that kiosks add to requests of web slides. */
import { text as textOf } from 'node:stream/consumers';
import { Argument, type Command } from 'commander';
import type { Secret } from '../../contract/console/secrets.ts';
import { secretName, text } from '../arguments.ts';
import { CliError } from '../exit.ts';
import type { Session } from '../session.ts';
import { moment, visible } from '../text.ts';

const path = '/console/api/secrets';

export const registerSecrets = (
  program: Command,
  { out, client, stdin, askHidden, checkSecure, confirm }: Session,
): void => {
  const group = program.command('secrets').description('headers that kiosks add to requests of web slides');
  const nameArgument = (): Argument => new Argument('<name>', 'name of the secret').argParser(secretName);

  group
    .command('list')
    .description('list the secrets and where they go, without their values')
    .action(async () => {
      const { body } = await (await client()).ask<{ secrets: Secret[] }>({ path });
      out.answer(body, ({ secrets }) =>
        out.table(
          ['NAME', 'ORIGINS', 'SET'],
          secrets.map(({ name, origins, updated_at }) => [name, origins.map(visible).join(', '), moment(updated_at)]),
        ),
      );
    });

  group
    .command('set')
    .description('set a secret; its value is asked for, or read from standard input')
    .addArgument(nameArgument())
    .option(
      '--origin <url>',
      'an origin that gets it; several times for several',
      (value: string, before: string[] = []) => [...before, text(value)],
    )
    .option('--header <name>', 'the header', text, 'Authorization')
    .action(async (name: string, { origin = [], header }: { origin?: string[]; header: string }) => {
      if (origin.length === 0) throw new CliError('usage', 'Say who gets it: --origin https://dash.example.com');
      const box = await client();
      checkSecure(box.base);
      const given = stdin.isTTY === true ? await askHidden(`${header}: `) : await textOf(stdin);
      const value = given.trim();
      if (value === '') throw new CliError('usage', 'There is no value: type it, or write it to standard input.');
      const body = JSON.stringify({ origins: origin, headers: { [header]: value } });
      const answer = await box.ask<Secret>({ method: 'PUT', path: `${path}/${name}`, body });
      out.answer(answer.body, () => out.line(`${name} goes to ${origin.map(visible).join(', ')}.`));
    });

  group
    .command('delete')
    .description('delete a secret; slides that name it are skipped')
    .addArgument(nameArgument())
    .option('--yes', 'do not ask')
    .action(async (name: string, { yes }: { yes?: true }) => {
      const box = await client();
      await confirm(`Delete the secret ${name}?`, yes);
      await box.ask({ method: 'DELETE', path: `${path}/${name}` });
      out.say(`${name} is deleted.`);
    });
};
