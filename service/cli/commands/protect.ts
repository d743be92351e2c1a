/** `protect`: a secret for the site, made on one of its boxes. */
import { text as readText } from 'node:stream/consumers';
import type { Command } from 'commander';
import { maxSecret, type ProtectedSite } from '../../contract/console/protection.ts';
import { CliError } from '../exit.ts';
import type { Session } from '../session.ts';
import { visible } from '../text.ts';

export const registerProtect = (program: Command, { out, stdin, localClient }: Session): void => {
  program
    .command('protect')
    .description('protect the site with a secret; run on the box, which starts again with it')
    .option('--secret-stdin', 'read the secret of the site from standard input: on each further box')
    .action(async ({ secretStdin }: { secretStdin?: true }) => {
      const secret = secretStdin ? (await readText(stdin)).replace(/\r?\n$/, '') : undefined;
      if (secret !== undefined && (secret === '' || secret.length > maxSecret)) {
        throw new CliError('usage', `Standard input must hold the secret: 1 to ${maxSecret} characters.`);
      }
      const body = JSON.stringify(secret === undefined ? {} : { secret });
      const answer = await localClient(false).ask<ProtectedSite>({
        method: 'POST',
        path: '/console/api/protect',
        body,
      });
      const { boxes, restart_required: isOwnRestart } = answer.body;
      out.answer(answer.body, ({ secret: made, config }) => {
        if (secret !== undefined) return out.line('This box has the secret.');
        out.fields([
          ['secret', visible(made)],
          ['config.json for a stick', visible(config)],
        ]);
      });
      out.say(
        isOwnRestart ? 'Restart the player: the secret counts from then on.' : 'The player starts again with it.',
      );
      if (secret !== undefined) return;
      out.say('It is shown this once. Keep it, and put it into ~/.config/signage/secret where you run this program.');
      out.say('With sudo that is /root/.config/signage/secret.');
      for (const { url } of boxes)
        out.say(`Not protected yet: ${visible(url)}. Run there: sudo signage protect --secret-stdin`);
      out.say(
        'Then make the first admin, on a box: sudo signage people add NAME --role admin, and sudo signage people invite NAME',
      );
    });
};
