/** The answer that a server of the bench is to give: the bytes and headers of the service, in a file. */
import { readFileSync } from 'node:fs';

export interface Answer {
  headers: Record<string, string>;
  body: Buffer;
}

/** Headers that a server adds by itself. */
const own = new Set(['date', 'connection', 'keep-alive', 'content-length']);

export const writtenAnswer = ({ headers, body }: { headers: Headers; body: string }): string =>
  JSON.stringify({ headers: Object.fromEntries([...headers].filter(([name]) => !own.has(name))), body });

/** Reads the file that the first argument of the process names. */
export const readAnswer = (): Answer => {
  const { headers, body } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Answer & { body: string };
  return { headers, body: Buffer.from(body) };
};
