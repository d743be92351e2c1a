/** `media`: the files that slides show. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Argument, type Command } from 'commander';
import stringWidth from 'fast-string-width';
import type { MediaConfig, MediaList, UploadResult } from '../../contract/media.ts';
import type { Client } from '../client.ts';
import { cannot } from '../destination.ts';
import { CliError, codeOf } from '../exit.ts';
import type { Sink } from '../output.ts';
import { inParallel } from '../parallel.ts';
import type { Session } from '../session.ts';
import { listOf } from '../targets.ts';
import { bytes, moment, plural, visible } from '../text.ts';

/** Columns of the bar for work under way, which is only on a terminal. */
const WIDTH = 24;
/** Between two repaints, ms. */
const PAUSE_MS = 100;

interface Progress {
  /** @param count bytes that were sent since the last call */
  advance(count: number): void;
  /** The current operation. */
  label(text: string): void;
  /** Removes the bar. */
  end(): void;
}

/** @param total bytes in all */
const startProgress = (sink: Sink, total: number): Progress => {
  if (sink.isTTY !== true) return { advance: () => undefined, label: () => undefined, end: () => undefined };
  let done = 0;
  let text = '';
  let paintedAt = Number.NEGATIVE_INFINITY;
  const paint = (): void => {
    if (done < total && performance.now() - paintedAt < PAUSE_MS) return;
    paintedAt = performance.now();
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.round(share * WIDTH);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.floor(share * 100)}% of ${bytes(total)} `;
    const room = (sink.columns || 80) - stringWidth(bar) - 1;
    sink.write(`\r${bar}${stringWidth(text) <= room ? text : ''}\x1b[K`);
  };
  return {
    advance: (count) => {
      done += count;
      paint();
    },
    label: (next) => {
      text = next;
      paint();
    },
    end: () => void sink.write('\r\x1b[K'),
  };
};

/** Concurrent uploads. */
const AT_ONCE = 3;

interface LocalFile {
  path: string;
  name: string;
  size: number;
}

type Listed = MediaList['media'][number];

/** The result for a file: the answer of the box, or the existing file. */
type PutResult = UploadResult & { skipped: boolean };

const pathOf = (name: string): string => `/api/media/${encodeURIComponent(name)}`;

/** The name of a medium in its normal form. @throws CliError `usage` if no medium can have it */
export const checkedName = async (name: string): Promise<string> => {
  const { mediaName } = await import('../../domain/media-names.ts');
  try {
    return mediaName(name);
  } catch (error) {
    throw new CliError('usage', `${visible(name)}: ${(error as Error).message}`);
  }
};

/** @throws CliError `usage` if a file is missing, is no file, or has a name that no medium can have */
const localFiles = async (paths: readonly string[]): Promise<LocalFile[]> => {
  const files = await Promise.all(
    paths.map(async (path) => {
      const stats = await stat(path).catch(({ code }: NodeJS.ErrnoException) => {
        const why = code === 'ENOENT' ? 'There is no such file.' : `The file cannot be read (${code}).`;
        throw new CliError('usage', `${visible(path)}: ${why}`);
      });
      if (!stats.isFile()) throw new CliError('usage', `${visible(path)} is not a file.`);
      return { path, name: await checkedName(basename(path)), size: stats.size };
    }),
  );
  const names = files.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new CliError('usage', `Two of the files are called ${visible(twice)}.`);
  return files;
};

/** @throws CliError `usage` if it cannot be read */
const hashOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch (error) {
    throw cannot(path, error as NodeJS.ErrnoException, 'read');
  }
  return hash.digest('hex');
};

/**
 * The files that the box serves, by name. Their hashes are proven, as those in the headers of a file are not. A box without a
 * console has no list: each file is sent then.
 */
export const served = async (client: Client): Promise<ReadonlyMap<string, Listed>> => {
  try {
    const { media } = (await client.ask<MediaList>({ path: '/console/api/media' })).body;
    return new Map(media.map((each) => [each.filename, each]));
  } catch (error) {
    if (error instanceof CliError && codeOf(error.answer) === 'not_found') return new Map();
    throw error;
  }
};

/** What names a file, such as `2 slides (welcome-1, welcome-2) and 1 draft (Summer)`; empty: nothing does. */
const usesOf = ({ used_by, in_drafts = [] }: Pick<Listed, 'used_by' | 'in_drafts'>): string =>
  [
    { noun: 'slide', names: used_by },
    { noun: 'draft', names: in_drafts },
  ]
    .flatMap(({ noun, names }) => (names.length === 0 ? [] : [`${plural(names.length, noun)} (${listOf(names)})`]))
    .join(' and ');

const counted = (stream: Readable, progress: Progress): Readable =>
  stream.on('data', (chunk: Buffer) => progress.advance(chunk.length));

const putFile = async (
  client: Client,
  { path, name, size }: LocalFile,
  known: UploadResult | undefined,
  progress: Progress,
): Promise<PutResult> => {
  const sha256 = await hashOf(path);
  if (known?.sha256 === sha256) {
    progress.advance(size);
    const { filename, url, media_type } = known;
    return { filename, size, sha256, url, media_type, skipped: true };
  }
  progress.label(visible(name));
  const open = (): Readable => counted(createReadStream(path), progress);
  const { body } = await client.ask<UploadResult>({
    method: 'PUT',
    path: pathOf(name),
    upload: { size, sha256, open },
  });
  if (body.sha256 !== sha256) {
    throw new CliError('refused', `${visible(name)} changed while it was being sent. Run the same command again.`);
  }
  return { ...body, skipped: false };
};

type Rendition = Listed['rendition'];

const stateOf = ({ state, progress, reason }: Rendition): string => {
  if (state === 'none') return 'as it is';
  if (state === 'ready') return 'converted';
  if (state === 'converting') return `converting ${Math.floor(progress * 100)}%`;
  return state === 'failed' ? `failed: ${reason}` : 'queued';
};

/** Between looks at files that are being converted, ms. */
const LOOK_MS = 1_000;

/**
 * Waits until displays can show the files.
 * @throws CliError `refused` if one cannot be converted
 */
const waitForRenditions = async (client: Client, names: readonly string[], say: (text: string) => void) => {
  const told = new Map<string, string>();
  for (;;) {
    const { body } = await client.ask<MediaList>({ path: '/console/api/media' });
    const found = new Map(body.media.map((each) => [each.filename, each.rendition]));
    const pending = names.filter((name) => ['queued', 'converting'].includes(found.get(name)?.state ?? 'none'));
    for (const name of names) {
      const rendition = found.get(name);
      if (rendition === undefined || told.get(name) === rendition.state) continue;
      told.set(name, rendition.state);
      if (rendition.state !== 'none') say(`${visible(name)}: ${stateOf(rendition)}`);
    }
    if (pending.length === 0) {
      const failed = names.find((name) => found.get(name)?.state === 'failed');
      if (failed === undefined) return;
      throw new CliError('refused', `${visible(failed)} cannot be shown. ${found.get(failed)?.reason ?? ''}`);
    }
    await delay(LOOK_MS);
  }
};

export const registerMedia = (program: Command, { out, client, checkCanAsk, confirm }: Session): void => {
  const group = program.command('media').description('the files that slides show');

  group
    .command('list')
    .description('list the media of the site')
    .action(async () => {
      const box = await client();
      const { body } = await box.ask<MediaList>({ path: '/console/api/media' });
      const sides = ({ width, height }: Listed): string => (width === null ? '' : `${width}x${height}`);
      const rows = ({ media }: MediaList): string[][] =>
        media.map((each) => [
          each.filename,
          bytes(each.size),
          each.media_type,
          each.codec ?? '',
          sides(each),
          each.duration_seconds === null ? '' : `${Math.round(each.duration_seconds)} s`,
          stateOf(each.rendition),
          moment(each.modified_at),
          each.used_by.length === 0 ? 'not used' : plural(each.used_by.length, 'slide'),
        ]);
      out.answer(body, () => {
        out.table(['NAME', 'SIZE', 'TYPE', 'CODEC', 'PIXELS', 'LENGTH', 'SHOWN', 'CHANGED', 'USED BY'], rows(body));
        out.say(`${bytes(body.used_bytes)} of ${bytes(body.quota_bytes)} used.`);
      });
    });

  group
    .command('put')
    .description('upload files; those that are there already are skipped')
    .addArgument(new Argument('<file...>', 'files on this machine'))
    .option('--wait', 'until displays can show them: some are converted first')
    .action(async (paths: string[], { wait }: { wait?: true }) => {
      const files = await localFiles(paths);
      const box = await client();
      // Wrong credentials are refused here, before a large file is on its way.
      await box.ask<MediaConfig>({ path: '/api/media/config' });
      const known = await served(box);
      const progress = startProgress(
        out.stderr,
        files.reduce((sum, { size }) => sum + size, 0),
      );
      const results: PutResult[] = [];
      const failure = await inParallel(files, AT_ONCE, async (file) => {
        results.push(await putFile(box, file, known.get(file.name), progress));
      }).then(
        () => null,
        (error: unknown) => error,
      );
      progress.end();
      if (failure !== null && results.length === 0) throw failure;
      out.answer(results, () => {
        for (const { filename, skipped } of results) {
          out.line(`${skipped ? 'skipped' : 'uploaded'}  ${visible(filename)}`);
        }
      });
      if (failure === null) {
        const names = results.map(({ filename }) => filename);
        if (wait) await waitForRenditions(box, names, out.say);
        return;
      }
      const left = plural(files.length - results.length, 'file');
      out.say(`${left} left. Run the same command again: what is there already is skipped.`);
      // Standard output has the results already.
      throw failure instanceof CliError ? new CliError(failure.exit, failure.message) : failure;
    });

  group
    .command('rename')
    .description('give a file another name; all that names it follows')
    .addArgument(new Argument('<old>', 'name of the file'))
    .addArgument(new Argument('<new>', 'new name, with the same ending'))
    .action(async (old: string, next: string) => {
      const [from, to] = [await checkedName(old), await checkedName(next)];
      const box = await client();
      const path = `/console/api/media/${encodeURIComponent(from)}/rename`;
      const { body } = await box.ask<UploadResult>({ method: 'POST', path, body: JSON.stringify({ to }) });
      out.answer(body, () => out.say(`${visible(from)} is called ${visible(body.filename)} now.`));
    });

  group
    .command('delete')
    .description('delete a file at the whole site')
    .addArgument(new Argument('<name>', 'name of the file'))
    .option('--yes', 'do not ask')
    .action(async (name: string, { yes }: { yes?: true }) => {
      const checked = await checkedName(name);
      checkCanAsk(yes);
      const box = await client();
      const listed = (await served(box)).get(checked);
      const uses = listed === undefined ? '' : usesOf(listed);
      if (uses !== '') out.warn(visible(`${checked} is used by ${uses}.`));
      await confirm(`Delete ${visible(name)} at the whole site?`, yes);
      await box.ask({ method: 'DELETE', path: pathOf(checked) });
      out.say(`${name} is deleted.`);
    });
};
