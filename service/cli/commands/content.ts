/** `content`: what the site plays. */
import { Argument, type Command } from 'commander';
import type { ContentCheck, ContentVersions, EditedContent, PublishedContent } from '../../contract/console/content.ts';
import { versionHash } from '../arguments.ts';
import type { Client } from '../client.ts';
import { compare, formatDocument, readDocument, writeDocument } from '../document.ts';
import { CliError } from '../exit.ts';
import { inWords, issueLines, leftOut, report, settle } from '../publishing.ts';
import type { Session } from '../session.ts';
import { bytes, moment, plural, shortHash, visible } from '../text.ts';

const base = '/console/api/content';
const fileArgument = (): Argument => new Argument('<file>', 'a content.json; - for standard input');

const nameOf = (file: string): string => (file === '-' ? 'standard input' : file);

export const registerContent = (program: Command, session: Session): void => {
  const { out, client, stdin, checkCanAsk, confirm } = session;
  const group = program.command('content').description('what the site plays');

  const check = async (box: Client, text: string): Promise<ContentCheck> =>
    (await box.ask<ContentCheck>({ method: 'POST', path: `${base}/check`, body: text })).body;

  /** @throws CliError `refused` if the document can't be published */
  const checkOk = (file: string, { ok, errors }: ContentCheck): void => {
    if (!ok) throw new CliError('refused', `${visible(nameOf(file))} has ${plural(errors.length, 'error')}.`);
  };

  /**
   * Publishes a document.
   * @param sha256 the version that it takes the place of; as its body proves it, not the ETag, which a host in between may change
   * @throws CliError `refused` if an edit of the same moment on another box has replaced it
   */
  const publish = async (box: Client, sha256: string, body: string): Promise<PublishedContent> => {
    const headers = { 'If-Match': `"${sha256}"` };
    const answer = await box.ask<PublishedContent>({ method: 'PUT', path: base, body, headers });
    return settle(session, box, answer.body);
  };

  group
    .command('check')
    .description('validate a document without publishing it')
    .addArgument(fileArgument())
    .action(async (file: string) => {
      const { text } = await readDocument(file, stdin);
      const result = await check(await client(), text);
      out.answer(result, ({ ok, errors, warnings }) => {
        for (const line of [...issueLines('error', errors), ...issueLines('warning', warnings)]) out.line(line);
        if (ok) out.say(`${nameOf(file)} can be published, with ${plural(warnings.length, 'warning')}.`);
      });
      checkOk(file, result);
    });

  group
    .command('diff')
    .description('compare a document with what plays')
    .addArgument(fileArgument())
    .action(async (file: string) => {
      const { value } = await readDocument(file, stdin);
      const box = await client();
      const { sha256, content } = (await box.ask<EditedContent>({ path: base })).body;
      const name = `${box.base.host} ${shortHash(sha256)}`;
      const difference = await compare({ name, value: content }, { name: nameOf(file), value });
      out.answer({ sha256, ...difference }, ({ patch, equal }) => {
        out.patch(patch);
        const other = patch === '' ? `The two differ in ${leftOut} alone.` : `${inWords(difference)}.`;
        out.say(equal ? `${nameOf(file)} is what plays.` : other);
      });
    });

  group
    .command('push')
    .description('publish a document at the whole site')
    .addArgument(fileArgument())
    .option('--yes', 'do not ask')
    .action(async (file: string, { yes }: { yes?: true }) => {
      checkCanAsk(yes);
      const { text, value } = await readDocument(file, stdin);
      const box = await client();
      const { body: played } = await box.ask<EditedContent>({ path: base });
      const result = await check(box, text);
      if (!result.ok) {
        out.answer(result, ({ errors }) => {
          for (const line of issueLines('error', errors)) out.line(line);
        });
      }
      checkOk(file, result);
      const name = `${box.base.host} ${shortHash(played.sha256)}`;
      const difference = await compare({ name, value: played.content }, { name: nameOf(file), value });
      if (difference.equal) {
        const { sha256, changedAt } = played;
        return out.answer({ sha256, changedAt, warnings: result.warnings }, report(session));
      }
      if (yes === undefined) {
        for (const line of issueLines('warning', result.warnings)) out.say(line);
        await confirm(`Publish ${nameOf(file)} (${inWords(difference)})?`, yes);
      }
      out.answer(await publish(box, played.sha256, text), report(session));
    });

  group
    .command('pull')
    .description('get the document that plays')
    .addArgument(new Argument('[file]', 'where to write it; - or nothing: standard output'))
    .action(async (file: string | undefined) => {
      const { body } = await (await client()).ask<EditedContent>({ path: base });
      if (file === undefined || file === '-') return out.answer(body, ({ content }) => out.json(content));
      await writeDocument(file, formatDocument(body.content));
      if (out.isJson()) out.json(body);
      out.say(`${file} is version ${shortHash(body.sha256)} of ${moment(body.changedAt)}.`);
    });

  const fetchVersions = async (box: Client): Promise<ContentVersions> =>
    (await box.ask<ContentVersions>({ path: `${base}/versions` })).body;

  group
    .command('versions')
    .description('list what played before, newest first')
    .action(async () =>
      out.answer(await fetchVersions(await client()), ({ versions }) =>
        out.table(
          ['VERSION', 'CHANGED', 'BY', 'SIZE', 'BOX', 'REPLACED BY'],
          versions.map(({ sha256, changedAt, operator, bytes: size, nodeId, replaced_by }) => [
            shortHash(sha256),
            moment(changedAt),
            operator ?? '-',
            bytes(size),
            nodeId,
            replaced_by === null ? '-' : shortHash(replaced_by),
          ]),
        ),
      ),
    );

  /** The whole hash of the one version that begins so. @throws CliError `notFound`, `usage` if there are several */
  const wholeHash = async (box: Client, start: string): Promise<string> => {
    if (start.length === 64) return start;
    const found = (await fetchVersions(box)).versions.filter(({ sha256 }) => sha256.startsWith(start));
    const [first, ...others] = new Set(found.map(({ sha256 }) => sha256));
    if (first === undefined)
      throw new CliError('notFound', `No version begins with ${start}. See: signage content versions`);
    if (others.length > 0) throw new CliError('usage', `Several versions begin with ${start}: type more of it.`);
    return first;
  };

  group
    .command('revert')
    .description('publish an earlier version again')
    .addArgument(new Argument('<sha256>', 'the version, or the beginning of its name').argParser(versionHash))
    .option('--yes', 'do not ask')
    .action(async (start: string, { yes }: { yes?: true }) => {
      checkCanAsk(yes);
      const box = await client();
      const sha256 = await wholeHash(box, start);
      await confirm(`Publish version ${shortHash(sha256)} again?`, yes);
      const { body: document } = await box.ask({ path: `${base}/versions/${sha256}` });
      const { body: played } = await box.ask<EditedContent>({ path: base });
      out.answer(await publish(box, played.sha256, JSON.stringify(document)), report(session));
    });
};
