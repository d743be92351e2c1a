/** `backup` and `restore`: what a box keeps, as one file. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import type { Restored } from '../../contract/console/backup.ts';
import { confirmHeader, tarType } from '../../contract/console/backup-names.ts';
import { text } from '../arguments.ts';
import { cannot, writeWhole } from '../destination.ts';
import { CliError } from '../exit.ts';
import type { Session } from '../session.ts';
import { bytes, plural, visible } from '../text.ts';

/** @throws InvalidArgumentError for standard input: the file is read twice, for its hash and as it is sent */
const restorable = (value: string): string => {
  if (value === '-') throw new InvalidArgumentError('A backup cannot be read from standard input: name a file.');
  return text(value);
};

/** For so long a box may check and restore a large library on a slow disk before it answers. */
const RESTORE_MS = 600_000;

export const registerBackup = (program: Command, { out, client }: Session): void => {
  program
    .command('backup')
    .description(
      'write content, media, bindings, people, takeovers, drafts, triggers and settings into a file; not plays, audit, logs and secrets',
    )
    .addArgument(
      new Argument('<file>', 'the file to write, a tar; it replaces one of that name; - for standard output').argParser(
        text,
      ),
    )
    .action(async (path: string) => {
      const { size, isFile } = await writeWhole(path, async ({ isFile, write }) => {
        const box = await client();
        const { body } = await box.open({ path: '/console/api/backup', type: tarType });
        let size = 0;
        try {
          for await (const chunk of body as AsyncIterable<Buffer>) {
            await write(chunk);
            size += chunk.length;
          }
        } catch (error) {
          if (error instanceof CliError) throw error;
          const kept = isFile ? ': nothing was written' : '';
          throw new CliError('unreachable', `The backup ended before it was complete${kept}. Try again.`);
        }
        return { size, isFile };
      });
      const line = visible(`${path}: ${bytes(size)}`);
      // Where the tar went to standard output, nothing may follow it.
      if (isFile) out.answer({ file: path, bytes: size }, () => out.line(line));
      else out.say(line);
      out.say('Keep it like the disk of the box: addresses in it are as they were written.');
    });

  program
    .command('restore')
    .description('make a backup what the box plays, as an edit of now')
    .addArgument(new Argument('<file>', 'written by signage backup').argParser(restorable))
    .action(async (path: string) => {
      const hash = createHash('sha256');
      let size = 0;
      try {
        for await (const chunk of createReadStream(path)) {
          hash.update(chunk as Buffer);
          size += (chunk as Buffer).length;
        }
      } catch (error) {
        throw cannot(path, error as NodeJS.ErrnoException, 'read');
      }
      const box = await client();
      const { body } = await box.ask<Restored>({
        method: 'POST',
        path: '/console/api/restore',
        headers: { 'Content-Type': tarType, [confirmHeader]: 'restore' },
        work: {
          silenceMs: RESTORE_MS,
          advice: 'It may still be restoring. See what it plays before you try again: signage content versions',
        },
        upload: { size, sha256: hash.digest('hex'), open: () => createReadStream(path) },
      });
      out.answer(body, ({ media, bindings, versions, settings, left_out, restart_required }) => {
        const parts = [
          `${media} media`,
          plural(bindings, 'device'),
          plural(versions, 'version'),
          plural(settings.length, 'setting'),
        ];
        out.line(`Restored: ${parts.join(', ')}.`);
        for (const sentence of left_out) out.line(visible(`- ${sentence}`));
        if (restart_required) out.line('Restart the player for the settings to count.');
      });
    });
};
