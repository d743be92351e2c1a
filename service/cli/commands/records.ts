/** `plays` and `audit`: what happened. */
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { auditAnswer } from '../../contract/console/site.ts';
import { degradedHeader } from '../../contract/headers.ts';
import { moment as momentArgument } from '../arguments.ts';
import { CliError } from '../exit.ts';
import { moment } from '../format.ts';
import type { Session } from '../session.ts';
import { visibleLines } from '../text.ts';

interface ExportOptions {
  from?: string;
  to?: string;
  format: string;
}

/** Makes control characters of a text visible as it passes. */
const makeVisible = (): Transform => {
  const decoder = new StringDecoder('utf8');
  return new Transform({
    transform: (chunk: Buffer, _, done) => done(null, visibleLines(decoder.write(chunk).replaceAll('\r', ''))),
  });
};

export const registerRecords = (program: Command, { out, client, degrade }: Session): void => {
  /** Copies a body to standard output as it arrives; a terminal is shown its control characters. */
  const copy = async (body: IncomingMessage): Promise<void> => {
    const steps = out.stdout.isTTY === true ? [body, makeVisible()] : [body];
    try {
      await pipeline([...steps, out.stdout], { end: false });
    } catch (error) {
      throw new CliError('unreachable', `The export ends too early: ${(error as Error).message}.`);
    }
  };

  program
    .command('plays')
    .description('what was shown, when and for how long')
    .command('export')
    .description('write the records of plays, oldest first')
    .option('--from <time>', 'from this date or time on', momentArgument)
    .option('--to <time>', 'up to this date or time', momentArgument)
    .addOption(new Option('--format <format>', 'RFC 4180, or one JSON array').choices(['csv', 'json']).default('csv'))
    .action(async ({ from, to, format }: ExportOptions) => {
      const query = new URLSearchParams({
        format: out.isJson() ? 'json' : format,
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      });
      const { body, headers } = await (await client()).open({ path: `/console/api/plays?${query}` });
      await copy(body);
      degrade(headers[degradedHeader] === 'true');
    });

  program
    .command('audit')
    .description('who changed what, newest first')
    .action(async () => {
      const { body } = await (await client()).ask<z.infer<typeof auditAnswer>>({ path: '/console/api/audit' });
      out.answer(body, ({ records }) =>
        out.table(
          ['WHEN', 'WHO', 'FROM', 'WHAT', 'TARGET', 'RESULT'],
          records.map(({ at, operator, address, action, target, result }) => [
            moment(at),
            operator ?? '-',
            address ?? '-',
            action,
            target ?? '-',
            result,
          ]),
        ),
      );
      degrade(body.degraded);
    });
};
