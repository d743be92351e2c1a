/** `backup` and `restore`: everything that a box keeps, as one file. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Argument, type Command } from 'commander';
import type { Restored } from '../../contract/console/backup.ts';
import { confirmHeader, tarType } from '../../contract/console/backup-names.ts';
import { text } from '../arguments.ts';
import { CliError } from '../exit.ts';
import type { Session } from '../session.ts';
import { bytes, plural, visible } from '../text.ts';

const cannot = (path: string, { code }: NodeJS.ErrnoException, verb: string): CliError =>
  new CliError('usage', `${visible(path)} cannot be ${verb} (${code}).`);

export const registerBackup = (program: Command, { out, client }: Session): void => {
  program
    .command('backup')
    .description('write everything that the box keeps into a file')
    .addArgument(new Argument('<file>', 'the file to write, a tar; it replaces one of that name').argParser(text))
    .action(async (path: string) => {
      const box = await client();
      const { body } = await box.open({ path: '/console/api/backup', type: tarType });
      const part = `${path}.part`;
      const file = createWriteStream(part, { mode: 0o600 });
      try {
        await pipeline(body, file);
        await rename(part, path);
      } catch (error) {
        await rm(part, { force: true });
        if (body.complete) throw cannot(path, error as NodeJS.ErrnoException, 'written');
        throw new CliError('unreachable', 'The backup ended before it was complete: nothing was written. Try again.');
      }
      const { size } = await stat(path);
      out.answer({ file: path, bytes: size }, () => out.line(visible(`${path}: ${bytes(size)}`)));
      out.say('Keep it like the disk of the box: addresses in it are as they were written.');
    });

  program
    .command('restore')
    .description('make a backup what the box plays, as an edit of now')
    .addArgument(new Argument('<file>', 'written by signage backup').argParser(text))
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
