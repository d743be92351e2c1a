/** `screenshot`: what displays show. */
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import type { Command } from 'commander';
import { text } from '../arguments.ts';
import type { Client } from '../client.ts';
import { writeWhole } from '../destination.ts';
import { CliError, codeOf } from '../exit.ts';
import { inParallel } from '../parallel.ts';
import type { Session } from '../session.ts';
import { fetchSite, type PageOptions, pagesOf, spellTarget, type Target, targetArgument } from '../targets.ts';
import { visible } from '../text.ts';

type Page = ReturnType<typeof pagesOf>[number];

interface Options extends PageOptions {
  output?: string;
}

/** A page of a target, and its picture or why there is none. */
interface Shot {
  screenSlug: string;
  connectionId: string;
  label: string;
  picture: { file: string; capturedAt: string } | CliError;
}

/** Concurrent screenshots. */
const AT_ONCE = 4;
/** Largest picture: the longer side has at most 1280 pixels. */
const MAX_BYTES = 5 * 1024 ** 2;
/** A web server may show it. */
const MODE = 0o666;

/** The names, each once: the second `hall.jpg` becomes `hall-2.jpg`, where that is no other's. */
const numberedNames = (names: readonly string[]): string[] => {
  const given = new Set<string>();
  return names.map((name) => {
    const extension = extname(name);
    let own = name;
    for (let count = 2; given.has(own) || (own !== name && names.includes(own)); count += 1) {
      own = `${name.slice(0, name.length - extension.length)}-${count}${extension}`;
    }
    given.add(own);
    return own;
  });
};

/** Only the answer that names the box that is away: if the asked box does not answer, there is nothing to go on with. */
const isAway = (error: CliError): boolean => codeOf(error.answer) === 'box_away';

/** Writes the picture of a page. @param isNamed whether the operator has named the file, which may replace one */
const capture = async (box: Client, page: Page, file: string, isNamed: boolean): Promise<Shot> => {
  const { id, label } = page.connection;
  const path = `/console/api/connections/${encodeURIComponent(id)}/screenshot`;
  const { capturedAtHeader } = await import('../../contract/console/site.ts');
  const shot = { screenSlug: page.slug, connectionId: id, label };
  try {
    const { headers, body } = await box.bytes({ path, maxBytes: MAX_BYTES, type: 'image/jpeg' });
    if (!isNamed && existsSync(file)) {
      throw new CliError('usage', `${visible(file)} is there already: name another with -o.`);
    }
    await writeWhole(file, ({ write }) => write(body), MODE);
    return { ...shot, picture: { file, capturedAt: String(headers[capturedAtHeader] ?? '') } };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (!['refused', 'notFound'].includes(error.exit) && !isAway(error)) throw error;
    return { ...shot, picture: error };
  }
};

export const registerScreenshot = (program: Command, { out, client, degrade }: Session): void => {
  program
    .command('screenshot')
    .description('take screenshots of kiosk displays')
    .addArgument(targetArgument())
    .option(
      '-o, --output <file>',
      'the file to write (default: SLUG.jpg; of several: SLUG-2.jpg, ...); - for standard output',
      text,
    )
    .option('--connection <id>', 'only this connection', text)
    .option('--client <id>', 'only the newest connection of this client', text)
    .action(async (target: Target, options: Options) => {
      const box = await client();
      const { body: site } = await fetchSite(box);
      const pages = pagesOf(site, target, options);
      if (pages.length === 0) throw new CliError('notFound', `No such page shows ${spellTarget(target)}.`);
      const isPiped = options.output === '-';
      if (isPiped && pages.length > 1) {
        throw new CliError('usage', `${pages.length} pages show ${spellTarget(target)}: name one with --connection.`);
      }
      const names = numberedNames(pages.map(({ slug }) => options.output ?? `${slug}.jpg`));
      const isNamed = options.output !== undefined;
      const shots = await inParallel([...pages.entries()], AT_ONCE, ([index, page]) =>
        capture(box, page, names[index] ?? '', isNamed),
      );
      const written = shots.flatMap(({ picture, label: _, ...shot }) =>
        picture instanceof CliError ? [] : [{ ...shot, ...picture }],
      );
      const failed = shots.flatMap(({ picture, label }) =>
        picture instanceof CliError ? [{ label, error: picture }] : [],
      );
      if (written.length === 0 && failed[0] !== undefined) throw failed[0].error;
      // Where the picture went to standard output, nothing may follow it.
      if (!isPiped) {
        out.answer(written, () => {
          for (const { file } of written) out.line(visible(file));
        });
      }
      for (const { label, error } of failed) out.warn(`${visible(label)}: ${error.message}`);
      degrade(site.degraded || failed.some(({ error }) => isAway(error)));
    });
};
