/** `plays` and `audit`: what happened. */
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { type auditAnswer, maxAuditRecords } from '../../contract/console/site.ts';
import { degradedHeader } from '../../contract/headers.ts';
import { createSafeCsv } from '../../domain/spreadsheet.ts';
import { moment as momentArgument, operatorName } from '../arguments.ts';
import { CliError } from '../exit.ts';
import type { Output } from '../output.ts';
import type { Session } from '../session.ts';
import { moment, safeJson, safeJsonText, shortHash, visible } from '../text.ts';

type Audit = z.infer<typeof auditAnswer>;

/** @throws InvalidArgumentError */
const recordCount = (value: string): number => {
  const count = /^\d{1,4}$/.test(value) ? Number(value) : 0;
  if (count < 1 || count > maxAuditRecords) throw new InvalidArgumentError(`It must be 1 to ${maxAuditRecords}.`);
  return count;
};

/** The query of a path; what is absent is left out. */
const queryOf = (values: Record<string, string | number | undefined>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  const text = String(query);
  return text === '' ? '' : `?${text}`;
};

const MAX_CHANGE = 60;

/** A state in a few words: the version of a document, the command that was sent, or the fields. */
const stateInWords = (state: unknown): string => {
  if (state === null || typeof state !== 'object') return state == null ? '-' : String(state);
  const { sha256, ...fields } = state as Record<string, unknown>;
  const parts = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : safeJson(value, 0)}`,
  );
  return [...(typeof sha256 === 'string' ? [shortHash(sha256)] : []), ...parts].join(' ');
};

/** What a record says of a change: what it was, where there is one, and what it is. */
const changeOf = ({ before, after }: Audit['records'][number]): string => {
  const words = before == null ? stateInWords(after) : `${stateInWords(before)} -> ${stateInWords(after)}`;
  return words.length > MAX_CHANGE ? `${words.slice(0, MAX_CHANGE)}…` : words;
};

/** Changes a text as it passes. */
const changing = (change: (piece: string) => string): Transform => {
  const decoder = new StringDecoder('utf8');
  return new Transform({
    transform: (chunk: Buffer, _, done) => {
      try {
        done(null, change(decoder.write(chunk)));
      } catch (error) {
        done(error as Error);
      }
    },
  });
};

/**
 * What is printed of a list of plays that comes in pieces: a spreadsheet carries out nothing that is in it, nor does a terminal.
 * @returns what stands in the place of each piece; @throws Error if it is no such list
 */
export const safePlays = (
  { stdout, hasData, noteData, useStream }: Output,
  format: string,
): ((piece: string) => string) => {
  useStream();
  const isTerminal = stdout.isTTY === true;
  const safe = format === 'json' ? safeJsonText : createSafeCsv(isTerminal ? visible : (character) => character);
  const isBegun = format === 'json' ? /^\s*\[/ : /^["\w]/;
  return (piece) => {
    if (!hasData() && !isBegun.test(piece)) throw new Error('it is no list of plays');
    noteData();
    return isTerminal ? safe(piece).replaceAll('\r', '') : safe(piece);
  };
};

export const registerRecords = (program: Command, { out, client, degrade }: Session): void => {
  /** Copies a body to standard output as it arrives. */
  const copy = async (body: IncomingMessage, format: string): Promise<void> => {
    try {
      await pipeline([body, changing(safePlays(out, format)), out.stdout], { end: false });
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
    .action(async ({ from, to, format }: { from?: string; to?: string; format: string }) => {
      const asked = out.isJson() ? 'json' : format;
      const query = queryOf({ format: asked, from, to });
      const type = asked === 'json' ? 'application/json' : 'text/csv';
      const { body, headers } = await (await client()).open({ path: `/console/api/plays${query}`, type });
      await copy(body, asked);
      degrade(headers[degradedHeader] === 'true');
    });

  program
    .command('audit')
    .description('who changed what, newest first')
    .option('--from <time>', 'from this date or time on', momentArgument)
    .option('--to <time>', 'up to this date or time', momentArgument)
    .option('--who <name>', 'what this operator changed', operatorName)
    .option('--limit <n>', `at most this many records, up to ${maxAuditRecords}`, recordCount)
    .action(async ({ from, to, who, limit }: { from?: string; to?: string; who?: string; limit?: number }) => {
      const query = queryOf({ from, to, operator: who, limit });
      const { body } = await (await client()).ask<Audit>({ path: `/console/api/audit${query}` });
      // The box adds those of the same millisecond as the last one.
      const records = body.records.slice(0, limit);
      out.answer({ ...body, records }, () =>
        out.table(
          ['WHEN', 'WHO', 'ADDRESS', 'WHAT', 'TARGET', 'CHANGE', 'RESULT'],
          records.map((each) => [
            moment(each.at),
            each.operator ?? '-',
            each.address ?? '-',
            each.action,
            each.target ?? '-',
            changeOf(each),
            each.result,
          ]),
        ),
      );
      degrade(body.degraded);
    });
};
