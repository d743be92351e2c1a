/** The page of text on the console of a box whose compositor does not start: name, address, and what is wrong. */
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Session } from './paths.ts';

export interface TextPage {
  /** The host name of the box. */
  name: string;
  /** The URL of the service in the network; null: there is no service yet, or no network. */
  address: string | null;
  hasConsole: boolean;
  /** One sentence, without its end. */
  fault: string;
}

/** To the first line; the cursor is hidden. */
const START = '\u001B[?25l\u001B[H';
const END_OF_LINE = '\u001B[K\r\n';
const END = '\u001B[J';

/** A sentence in lines of whole words, for a console of 80 columns. */
const linesOf = (sentence: string): string[] =>
  (sentence.replaceAll(/\p{Cc}/gu, ' ').match(/\S{77,}|\S.{0,75}(?!\S)/g) ?? []).map((line) => `  ${line}`);

/** @returns what to write to a terminal; it replaces an earlier page without flicker. Texts of others cannot control it */
export const formatTextPage = ({ name, address, hasConsole, fault }: TextPage): string => {
  const lines = [
    '',
    '  Signage Player',
    '',
    `  Name:     ${name}`,
    `  Address:  ${address ?? 'none yet; connect the network'}`,
    '',
    ...linesOf(`This box shows no picture: ${fault}.`),
    '',
    ...(address === null
      ? []
      : [...linesOf(`Everything else works. Open ${address}${hasConsole ? '/console' : ''} on another device.`), '']),
    '  See: Troubleshooting in the guide.',
  ];
  const clean = lines.map((line) => line.replaceAll(/\p{Cc}/gu, ' '));
  return `${START}${clean.join(END_OF_LINE)}${END_OF_LINE}${END}`;
};

/** Messages of the kernel may lie over the page, and the address may change. */
const REFRESH_MS = 5_000;

/** Shows the page for as long as the app runs, on the terminal of a session that has one. */
export const showTextPage = (
  { log, state }: { log: Pick<Logger, 'warn'>; state(): Pick<TextPage, 'address' | 'hasConsole'> },
  session: Session | null,
): void => {
  const terminal = session?.terminal;
  if (!terminal) return;
  const fault = session.fault ?? 'the compositor does not start';
  let hasWarned = false;
  const show = (): void => {
    writeFile(terminal, formatTextPage({ name: hostname(), ...state(), fault })).catch((error: unknown) => {
      if (!hasWarned) log.warn({ err: error }, 'the page of text cannot be shown on the console');
      hasWarned = true;
    });
  };
  show();
  setInterval(show, REFRESH_MS).unref();
};
