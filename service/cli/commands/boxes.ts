/** `boxes` and `log`: the machines of the site. */
import { setTimeout as delay } from 'node:timers/promises';
import { Argument, type Command } from 'commander';
import type { BoxLog, SiteOverview } from '../../contract/console/site.ts';
import { text } from '../arguments.ts';
import { CliError } from '../exit.ts';
import { moment } from '../format.ts';
import type { Session } from '../session.ts';
import { parseBox } from '../settings.ts';
import { fetchSite } from '../site.ts';
import { safeJson, visible } from '../text.ts';

type Box = SiteOverview['boxes'][number];
type Line = BoxLog['lines'][number];

/** Polling interval of `--follow`, ms. */
const FOLLOW_MS = 1_000;
/** Lines per request. */
const LINES = 200;

const levelName = (level: number): string =>
  ({ 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' })[level] ?? String(level);

/** One line for a person: time, level, message, and the other fields as JSON. */
const describe = ({ level, time, msg, ...fields }: Line): string => {
  const more = Object.keys(fields).length === 0 ? '' : ` ${safeJson(fields, 0)}`;
  return visible(`${moment(time)} ${levelName(level).padEnd(5)} ${msg ?? ''}${more}`);
};

/**
 * The box with this node id, name or address.
 * @param asked the address of the box that answered
 * @throws CliError `notFound`, `usage` if several have the name
 */
const boxNamed = (boxes: readonly Box[], name: string, asked: URL): Box => {
  // A box has more addresses than the one that it gives.
  const isAsked = parseBox(name)?.origin === asked.origin;
  const isMatch = ({ nodeId, name: host, url, status }: Box): boolean =>
    [nodeId, host, url, url.replace(/^https?:\/\//, '')].includes(name) || (isAsked && status === 'here');
  const [found, ...others] = boxes.filter(isMatch);
  const known = boxes.map(({ name: host, nodeId }) => `${host} (${nodeId})`).join(', ');
  if (found === undefined)
    throw new CliError('notFound', `The site has no box ${visible(name)}. The boxes: ${visible(known)}.`);
  if (others.length > 0) throw new CliError('usage', `Several boxes are called ${visible(name)}: use the node id.`);
  return found;
};

/** The new lines. Lines have no ids, so the last known one is searched by its text. */
const linesAfter = (known: readonly string[], now: readonly string[]): string[] => {
  for (let overlap = Math.min(known.length, now.length); overlap > 0; overlap -= 1) {
    const tail = known.slice(-overlap);
    if (tail.every((line, index) => line === now[index])) return now.slice(overlap);
  }
  return [...now];
};

export const registerBoxes = (program: Command, { out, client, degrade }: Session): void => {
  program
    .command('boxes')
    .description('list the boxes of the site')
    .action(async () => {
      const { body } = await fetchSite(await client());
      out.answer(body, ({ boxes }) => {
        const rows = boxes.map(({ name, status, version, url, lastSeenAt, nodeId }) => [
          name,
          status,
          version ?? '-',
          url,
          moment(lastSeenAt),
          nodeId ?? '-',
        ]);
        out.table(['BOX', 'STATUS', 'VERSION', 'ADDRESS', 'LAST SEEN', 'NODE'], rows);
        for (const { name, warnings } of boxes) {
          for (const warning of warnings) out.line(visible(`- ${name}: ${warning}`));
        }
      });
      degrade(body.degraded);
    });

  program
    .command('log')
    .description('show the log of a box')
    .addArgument(new Argument('<box>', 'name, node id or address of the box').argParser(text))
    .option('--follow', 'print new lines as they arrive')
    .action(async (name: string, { follow }: { follow?: true }) => {
      const asked = await client();
      const { nodeId } = boxNamed((await fetchSite(asked)).body.boxes, name, asked.base);
      if (nodeId === null) throw new CliError('unreachable', `The box ${visible(name)} has never answered.`);
      const fetchLines = async (): Promise<BoxLog> =>
        (await asked.ask<BoxLog>({ path: `/console/api/boxes/${nodeId}/log?limit=${LINES}` })).body;
      const print = (lines: readonly Line[]): void => {
        for (const line of lines) out.line(out.isJson() ? safeJson(line, 0) : describe(line));
      };
      const first = await fetchLines();
      if (follow === undefined) return out.answer(first, ({ lines }) => print(lines));
      print(first.lines);
      let known = first.lines.map((line) => JSON.stringify(line));
      for (;;) {
        await delay(FOLLOW_MS);
        const { lines } = await fetchLines().catch((error: unknown) => {
          // A box that restarts is reachable again soon.
          if (error instanceof CliError && error.exit === 'unreachable') return { lines: [] };
          throw error;
        });
        if (lines.length === 0) continue;
        const texts = lines.map((line) => JSON.stringify(line));
        const fresh = linesAfter(known, texts);
        print(lines.slice(lines.length - fresh.length));
        known = texts;
      }
    });
};
