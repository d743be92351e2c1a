/** `screenshot`: what displays show. */
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Command } from 'commander';
import type { SiteOverview } from '../../contract/console/site.ts';
import { text } from '../arguments.ts';
import { type Client, readAll } from '../client.ts';
import { CliError } from '../exit.ts';
import { inParallel } from '../parallel.ts';
import type { Session } from '../session.ts';
import { fetchSite, type PageOptions, pagesOf, spellTarget, type Target, targetArgument } from '../targets.ts';
import { visible } from '../text.ts';

type Connection = SiteOverview['screens'][number]['connections'][number];

interface Options extends PageOptions {
  output?: string;
}

/** A page of a target, and its picture or why there is none. */
interface Shot {
  screenSlug: string;
  connectionId: string;
  label: string;
  picture: { bytes: Buffer; capturedAt: string } | CliError;
}

/** Concurrent screenshots. */
const AT_ONCE = 4;

/** The names, each once: the second `hall.jpg` becomes `hall-2.jpg`. */
const numberedNames = (names: readonly string[]): string[] =>
  names.map((name, index) => {
    const before = names.slice(0, index).filter((each) => each === name).length;
    const extension = extname(name);
    return before === 0 ? name : `${name.slice(0, name.length - extension.length)}-${before + 1}${extension}`;
  });

const capture = async (box: Client, screenSlug: string, { id, label }: Connection): Promise<Shot> => {
  const path = `/console/api/connections/${encodeURIComponent(id)}/screenshot`;
  const { capturedAtHeader } = await import('../../contract/console/site.ts');
  try {
    const { headers, body } = await box.open({ path });
    const picture = { bytes: await readAll(box.base, body), capturedAt: String(headers[capturedAtHeader] ?? '') };
    return { screenSlug, connectionId: id, label, picture };
  } catch (error) {
    if (!(error instanceof CliError) || error.exit === 'notAuthorised' || error.exit === 'unreachable') throw error;
    return { screenSlug, connectionId: id, label, picture: error };
  }
};

export const registerScreenshot = (program: Command, { out, client, degrade }: Session): void => {
  program
    .command('screenshot')
    .description('take screenshots of kiosk displays')
    .addArgument(targetArgument())
    .option('-o, --output <file>', 'the file to write (default: SLUG.jpg; of several: SLUG-2.jpg, ...)', text)
    .option('--connection <id>', 'only this connection', text)
    .option('--client <id>', 'only the newest connection of this client', text)
    .action(async (target: Target, options: Options) => {
      const box = await client();
      const { body: site } = await fetchSite(box);
      const pages = pagesOf(site, target, options);
      if (pages.length === 0) throw new CliError('notFound', `No such page shows ${spellTarget(target)}.`);
      const shots = await inParallel(pages, AT_ONCE, ({ slug, connection }) => capture(box, slug, connection));
      const taken = shots.flatMap(({ picture, ...shot }) =>
        picture instanceof CliError ? [] : [{ ...shot, ...picture }],
      );
      const failed = shots.flatMap(({ picture, label }) =>
        picture instanceof CliError ? [{ label, error: picture }] : [],
      );
      if (taken.length === 0 && failed[0] !== undefined) throw failed[0].error;
      const names = numberedNames(taken.map(({ screenSlug }) => options.output ?? `${screenSlug}.jpg`));
      const written = taken.map(({ bytes: _, label: __, ...shot }, index) => ({ ...shot, file: names[index] ?? '' }));
      for (const [index, { file }] of written.entries()) {
        await writeFile(file, taken[index]?.bytes ?? '').catch(({ code }: NodeJS.ErrnoException) => {
          throw new CliError('usage', `${visible(file)} cannot be written (${code}).`);
        });
      }
      out.answer(written, () => {
        for (const { file } of written) out.line(visible(file));
      });
      for (const { label, error } of failed) out.warn(`${visible(label)}: ${error.message}`);
      degrade(site.degraded);
    });
};
