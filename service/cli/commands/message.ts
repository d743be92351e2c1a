/** `message`: the saved messages of the content, shown as takeovers. */
import { Argument, type Command } from 'commander';
import { mostTakeoverTitle } from '../../contract/console/takeover-levels.ts';
import type { ContentFile } from '../../contract/content.ts';
import { messagePrefix } from '../../contract/messages.ts';
import { cutText } from '../../contract/terms.ts';
import { didYouMean } from '../../domain/wording.ts';
import { messageId } from '../arguments.ts';
import { CliError } from '../exit.ts';
import type { Session } from '../session.ts';
import { takeoverTimes } from '../takeover-times.ts';
import { fetchSite, siteAhead, spellTarget, type Target, targets } from '../targets.ts';

type Message = ContentFile['messages'][number];

const idArgument = (): Argument => new Argument('<id>', 'id of the message').argParser(messageId);

export const registerMessage = (program: Command, { out, client, confirm }: Session): void => {
  const group = program.command('message').description('saved messages of the content, shown as takeovers');
  const fetchMessages = async (): Promise<Message[]> => {
    const box = await client();
    const { body } = await box.ask<{ content: { messages?: Message[] } }>({ path: '/console/api/content' });
    return body.content.messages ?? [];
  };

  group
    .command('list')
    .description('list the saved messages')
    .action(async () => {
      out.answer({ messages: await fetchMessages() }, ({ messages }) =>
        out.table(
          ['ID', 'TITLE', 'LEVEL', 'MINUTES'],
          messages.map(({ id, title, media_url, level, minutes }) => [
            id,
            title ?? media_url ?? '-',
            level,
            minutes === null ? 'until ended' : String(minutes),
          ]),
        ),
      );
    });

  group
    .command('start')
    .description('show a saved message; if it is on, it starts again')
    .addArgument(idArgument())
    .option('--target <target>', 'slug of a screen, tag:NAME or all (default: all); several times for several', targets)
    .option('--yes', 'do not ask')
    .action(async (id: string, { target = [{ kind: 'all' }], yes }: { target?: Target[]; yes?: true }) => {
      const messages = await fetchMessages();
      const message = messages.find((each) => each.id === id);
      if (message === undefined) {
        const ids = messages.map((each) => each.id);
        throw new CliError(
          'notFound',
          `There is no message ${id}${didYouMean(id, ids) || '. See: signage message list'}`,
        );
      }
      const { body: more, level, media_url, minutes } = message;
      const title = message.title && cutText(message.title, mostTakeoverTitle);
      const spelled = target.map(spellTarget);
      const box = await client();
      const ahead = minutes === null ? 0 : siteAhead(box, (await fetchSite(box)).body);
      await confirm(`Show "${title ?? media_url}" on ${spelled.join(', ')}?`, yes);
      const times = minutes === null ? { until: null } : takeoverTimes(box.now() + ahead, minutes * 60_000);
      const { body } = await box.ask({
        method: 'PUT',
        path: `/console/api/takeovers/${messagePrefix}${id}`,
        body: JSON.stringify({ targets: spelled, level, title, body: more, media_url, ...times }),
      });
      out.answer(body, () => out.say(`${id} is on. To end it: signage message end ${id}`));
    });

  group
    .command('end')
    .description('end a saved message')
    .addArgument(idArgument())
    .option('--yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: true }) => {
      const box = await client();
      await confirm(`End the message ${id}?`, yes);
      await box.ask({ method: 'DELETE', path: `/console/api/takeovers/${messagePrefix}${id}` });
      out.say(`${id} is over.`);
    });
};
