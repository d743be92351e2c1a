/** The page of text on the console of a box whose compositor does not start: name, address, and what is wrong. */
import { writeFile } from 'node:fs/promises';
import type { Logger } from 'pino';

export interface TextPage {
  /** The host name of the box. */
  name: string;
  /** The URL of the service in the network; null: there is no service yet, or no network. */
  address: string | null;
  /** One sentence, without its end. */
  fault: string;
}

/** To the first line; the cursor is hidden. */
const START = '\u001B[?25l\u001B[H';
const END_OF_LINE = '\u001B[K\r\n';
const END = '\u001B[J';

/** @returns what to write to a terminal; it replaces an earlier page without flicker. Texts of others cannot control it */
export const formatTextPage = ({ name, address, fault }: TextPage): string => {
  const lines = [
    '',
    '  Signage Player',
    '',
    `  Name:     ${name}`,
    `  Address:  ${address ?? 'none yet; connect the network'}`,
    '',
    `  This box shows no picture: ${fault}.`,
    '',
    ...(address === null ? [] : [`  Everything else works. Open ${address}/console on another device.`, '']),
    '  See: Troubleshooting in the guide.',
  ];
  const clean = lines.map((line) => line.replaceAll(/\p{Cc}/gu, ' '));
  return `${START}${clean.join(END_OF_LINE)}${END_OF_LINE}${END}`;
};

/** Messages of the kernel may lie over the page, and the address may change. */
const REFRESH_MS = 5_000;

/** Shows the page on a terminal for as long as the app runs. @param terminal its path */
export const showTextPage = (
  { log, read }: { log: Pick<Logger, 'warn'>; read(): TextPage },
  terminal: string,
): void => {
  let hasWarned = false;
  const show = (): void => {
    writeFile(terminal, formatTextPage(read())).catch((error: unknown) => {
      if (!hasWarned) log.warn({ err: error }, 'the page of text cannot be shown on the console');
      hasWarned = true;
    });
  };
  show();
  setInterval(show, REFRESH_MS).unref();
};
