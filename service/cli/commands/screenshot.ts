/** `screenshot`: what displays show. */
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Command } from 'commander';
import { text } from '../arguments.ts';
import type { Client } from '../client.ts';
import { CliError } from '../exit.ts';
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

/** The names, each once: the second `hall.jpg` becomes `hall-2.jpg`. */
const numberedNames = (names: readonly string[]): string[] => {
  const counts = new Map<string, number>();
  return names.map((name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const extension = extname(name);
    return count === 1 ? name : `${name.slice(0, name.length - extension.length)}-${count}${extension}`;
  });
};

/** Writes the picture of a page. @param flag of open(2); `wx`: an existing file stays */
const capture = async (box: Client, page: Page, file: string, flag: 'w' | 'wx'): Promise<Shot> => {
  const { id, label } = page.connection;
  const path = `/console/api/connections/${encodeURIComponent(id)}/screenshot`;
  const { capturedAtHeader } = await import('../../contract/console/site.ts');
  const shot = { screenSlug: page.slug, connectionId: id, label };
  try {
    const { headers, body } = await box.bytes({ path, maxBytes: MAX_BYTES, type: 'image/jpeg' });
    await writeFile(file, body, { flag }).catch(({ code }: NodeJS.ErrnoException) => {
      const why = code === 'EEXIST' ? 'is there already: name another with -o' : `cannot be written (${code})`;
      throw new CliError('usage', `${visible(file)} ${why}.`);
    });
    return { ...shot, picture: { file, capturedAt: String(headers[capturedAtHeader] ?? '') } };
  } catch (error) {
    if (!(error instanceof CliError) || !['refused', 'notFound'].includes(error.exit)) throw error;
    return { ...shot, picture: error };
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
      const names = numberedNames(pages.map(({ slug }) => options.output ?? `${slug}.jpg`));
      const flag = options.output === undefined ? 'wx' : 'w';
      const shots = await inParallel([...pages.entries()], AT_ONCE, ([index, page]) =>
        capture(box, page, names[index] ?? '', flag),
      );
      const written = shots.flatMap(({ picture, label: _, ...shot }) =>
        picture instanceof CliError ? [] : [{ ...shot, ...picture }],
      );
      const failed = shots.flatMap(({ picture, label }) =>
        picture instanceof CliError ? [{ label, error: picture }] : [],
      );
      if (written.length === 0 && failed[0] !== undefined) throw failed[0].error;
      out.answer(written, () => {
        for (const { file } of written) out.line(visible(file));
      });
      for (const { label, error } of failed) out.warn(`${visible(label)}: ${error.message}`);
      degrade(site.degraded);
    });
};
