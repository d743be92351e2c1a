/** `drafts`: documents that people are editing, on the boxes of the site. */
import { Argument, type Command } from 'commander';
import type { EditedContent, PublishedContent } from '../../contract/console/content.ts';
import type { Draft, DraftSummary } from '../../contract/console/drafts.ts';
import type { Author } from '../../contract/terms.ts';
import { draftId } from '../arguments.ts';
import type { Client } from '../client.ts';
import { compare, type Difference } from '../document.ts';
import { CliError } from '../exit.ts';
import { inWords, report, settle } from '../publishing.ts';
import type { Session } from '../session.ts';
import { moment, shortHash } from '../text.ts';

const PATH = '/console/api/drafts';

const idArgument = (): Argument => new Argument('<id>', 'id of the draft').argParser(draftId);
const nameOf = (author: Author | null): string => author?.name ?? '-';

/** What of a draft is shown of everybody's. */
const rowOf = ({ id, title, state, updated_at, updated_by, editing }: DraftSummary): string[] => [
  id,
  title,
  state,
  moment(updated_at),
  nameOf(updated_by),
  editing.join(', ') || '-',
];

export const registerDrafts = (program: Command, session: Session): void => {
  const { out, client, confirm } = session;
  const group = program.command('drafts').description('documents that people are editing, on the boxes of the site');

  /** How a draft differs from what plays. Says so where publishing it merges the two. */
  const compareWithPlayed = async (box: Client, { id, base_sha256, content }: Draft): Promise<Difference> => {
    const { body: playing } = await box.ask<EditedContent>({ path: '/console/api/content' });
    if (base_sha256 !== playing.sha256) {
      out.say('The draft was begun from another version than what plays: publishing it merges the two.');
    }
    const name = `${box.base.host} ${shortHash(playing.sha256)}`;
    return compare({ name, value: playing.content }, { name: `draft ${id}`, value: content });
  };

  group
    .command('list')
    .description('list the drafts, newest first')
    .action(async () => {
      const { body } = await (await client()).ask<{ drafts: DraftSummary[] }>({ path: PATH });
      out.answer(body, ({ drafts }) =>
        out.table(['ID', 'TITLE', 'STATE', 'SAVED', 'BY', 'EDITING'], drafts.map(rowOf)),
      );
    });

  group
    .command('show')
    .description('show a draft, and how it differs from what plays')
    .addArgument(idArgument())
    .action(async (id: string) => {
      const box = await client();
      const { body: draft } = await box.ask<Draft>({ path: `${PATH}/${id}` });
      if (out.isJson()) return out.json(draft);
      const { title, state, author, submitted_by, updated_at, updated_by, note, editing } = draft;
      out.fields([
        ['title', title],
        ['state', submitted_by === null ? state : `${state} by ${submitted_by.name}`],
        ['author', nameOf(author)],
        ['saved', `${moment(updated_at)}, ${nameOf(updated_by)}`],
        ['note', note ?? '-'],
        ['editing', editing.join(', ') || '-'],
      ]);
      const difference = await compareWithPlayed(box, draft);
      out.patch(difference.patch);
      out.say(difference.equal ? 'It is what plays.' : `It differs: ${inWords(difference)}.`);
    });

  group
    .command('publish')
    .description('publish a draft at the whole site; it is gone afterwards')
    .addArgument(idArgument())
    .option('--yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: true }) => {
      const box = await client();
      const { body: draft, headers } = await box.ask<Draft>({ path: `${PATH}/${id}` });
      if (headers.etag === undefined) {
        throw new CliError(
          'refused',
          'The box does not say which version of the draft this is, so it is not published.',
        );
      }
      if (yes === undefined) {
        const changes = inWords(await compareWithPlayed(box, draft));
        await confirm(`Publish the draft ${id} (${JSON.stringify(draft.title)}: ${changes})?`, yes);
      }
      const { body } = await box.ask<PublishedContent>({
        method: 'POST',
        path: `${PATH}/${id}/publish`,
        headers: { 'If-Match': headers.etag },
      });
      out.answer(await settle(session, box, body), report(session));
    });
};
