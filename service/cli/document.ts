/** Documents of the content: from files, and how two of them differ. */
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { mostContentBytes } from '../contract/console/content.ts';
import { redacted } from '../domain/redacted.ts';
import { writeWhole } from './destination.ts';
import { CliError } from './exit.ts';
import { safeJson, visible } from './text.ts';

export interface LocalDocument {
  /** The text that is sent: that of the file, or its compact form where that alone is within the limit. */
  text: string;
  value: unknown;
}

/**
 * @param path of the file; `-`: standard input, whenever it comes
 * @throws CliError `usage` if it can't be read; `refused` if it is not JSON
 */
export const readDocument = async (path: string, stdin: Readable): Promise<LocalDocument> => {
  let text: string;
  try {
    text = (path === '-' ? await textOf(stdin) : await readFile(path, 'utf8')).replace(/^\ufeff/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'There is no such file.' : `The file cannot be read (${code}).`;
    throw new CliError('usage', `${visible(path)}: ${why}`);
  }
  try {
    const value: unknown = JSON.parse(text);
    return { text: Buffer.byteLength(text) > mostContentBytes ? JSON.stringify(value) : text, value };
  } catch (error) {
    throw new CliError('refused', `${visible(path)} is not JSON: ${visible((error as Error).message)}.`);
  }
};

export const formatDocument = (value: unknown): string => `${safeJson(value)}\n`;

/** Only its owner reads the file: addresses have passwords. @throws CliError `usage` */
export const writeDocument = (path: string, text: string): Promise<void> =>
  writeWhole(path, ({ write }) => write(text));

export interface Difference {
  added: number;
  removed: number;
  /** The unified diff; empty if only redacted parts differ, or nothing. */
  patch: string;
  /** Whether the two are the same, with what is left out of their addresses. */
  equal: boolean;
}

/** Two documents with little in common are not compared line by line for longer than this, ms. */
const PATIENCE_MS = 3_000;

/**
 * How a document differs from the one that plays, line by line, in the same format. The addresses of both are without user,
 * password, query and fragment: a difference is looked at by others, and kept in logs.
 */
export const compare = async (
  played: { name: string; value: unknown },
  local: { name: string; value: unknown },
): Promise<Difference> => {
  const { formatPatch, structuredPatch } = await import('diff');
  const equal = formatDocument(played.value) === formatDocument(local.value);
  const [before, after] = [formatDocument(redacted(played.value)), formatDocument(redacted(local.value))];
  if (before === after) return { added: 0, removed: 0, patch: '', equal };
  const options = { context: 3, timeout: PATIENCE_MS };
  const patch = structuredPatch(played.name, local.name, before, after, undefined, undefined, options);
  const lines = patch?.hunks.flatMap((hunk) => hunk.lines) ?? [];
  const counted = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  const count = (text: string): number => text.split('\n').length - 1;
  return patch === undefined
    ? {
        added: count(after),
        removed: count(before),
        patch: 'The two have too little in common to be compared.\n',
        equal,
      }
    : { added: counted('+'), removed: counted('-'), patch: formatPatch(patch), equal };
};
