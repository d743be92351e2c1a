/** `discover`, `boxes`, `health` and `log`: the machines of the site. */
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { type BoxAction, boxActions } from '../../contract/console/action-names.ts';
import type { ActionAnswer } from '../../contract/console/actions.ts';
import type { BoxLog, SiteOverview } from '../../contract/console/site.ts';
import type { Health } from '../../contract/health.ts';
import { parseUrl } from '../../contract/url.ts';
import { text } from '../arguments.ts';
import { CliError } from '../exit.ts';
import { inParallel } from '../parallel.ts';
import type { Session } from '../session.ts';
import { parseBox } from '../settings.ts';
import { fetchSite } from '../targets.ts';
import { moment, plural, safeJson, visible } from '../text.ts';

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

/** How long a box may take to answer for its hardware, ms. */
const HARDWARE_MS = 15_000;

/** @throws InvalidArgumentError if it is none */
const boxAction = (value: string): BoxAction => {
  const found = boxActions.find((action) => action === value);
  if (found === undefined) throw new InvalidArgumentError(`It must be one of ${boxActions.join(', ')}.`);
  return found;
};

/** The value of an order. @throws CliError `usage` */
const orderValue = (action: BoxAction, name: string, value: string | undefined): string | number | undefined => {
  const usage = (text: string): CliError => new CliError('usage', text);
  if (action === 'volume') {
    if (value !== undefined && /^(\d{1,2}|100)$/.test(value)) return Number(value);
    throw usage('The volume is a number from 0 to 100, such as: signage box lobby-box volume 40');
  }
  if (action === 'reset') {
    if (value !== undefined) return value;
    throw usage(`A reset removes everything from the box. Repeat its name: signage box ${visible(name)} reset NAME`);
  }
  if (value !== undefined) throw usage(`${action} has no value.`);
  return undefined;
};

export const registerBox = (program: Command, { out, client, degrade }: Session): void => {
  program
    .command('box')
    .description('act on the machine of a box')
    .addArgument(new Argument('<box>', 'name, node id or address of the box').argParser(text))
    .addArgument(new Argument('<action>', boxActions.join(', ')).argParser(boxAction))
    .addArgument(new Argument('[value]', 'of volume: 0 to 100; of reset: the name of the box').argParser(text))
    .option('--display <display>', 'only this display: its name, number or device id', text)
    .action(async (name: string, action: BoxAction, given: string | undefined, { display }: { display?: string }) => {
      const value = orderValue(action, name, given);
      const asked = await client();
      const { nodeId } = boxNamed((await fetchSite(asked)).body.boxes, name, asked.base);
      if (nodeId === null) throw new CliError('unreachable', `The box ${visible(name)} has never answered.`);
      const number = display !== undefined && /^\d{1,3}$/.test(display) ? Number(display) : display;
      const { body } = await asked.ask<ActionAnswer>({
        method: 'POST',
        path: `/console/api/boxes/${nodeId}/actions`,
        body: JSON.stringify({ action, display: number, value }),
        headMs: HARDWARE_MS,
      });
      out.answer(body, ({ message }) => out.line(visible(message)));
      if (body.result === 'not_supported') throw new CliError('refused', 'The box cannot do this.');
      degrade(body.result === 'unknown', 'The hardware did not confirm it.');
    });
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
      out.useStream();
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

interface FoundBox {
  nodeId: string;
  site: string;
  version: string;
  url: string;
  /** Null: it advertises itself, but does not answer. */
  status: Health['status'] | null;
}

/** How long answers are awaited. */
const BROWSE_MS = 2_500;
const PROBE_MS = 1_500;

export const registerDiscover = (program: Command, { out, clientOf }: Session): void => {
  /** The first of the URLs that answers. */
  const probe = async (urls: readonly string[]): Promise<Pick<FoundBox, 'url' | 'status'>> => {
    const attempts = urls.map(async (url) => {
      const { body } = await clientOf(url).ask<Health>({ path: '/healthz' });
      return { url, status: body.status };
    });
    const late = new Promise<never>((_, reject) => setTimeout(reject, PROBE_MS).unref());
    return Promise.any([...attempts, late]).catch(() => ({ url: urls[0] ?? '', status: null }));
  };

  program
    .command('discover')
    .description('list the boxes in this network (DNS-SD)')
    .action(async () => {
      const { browse } = await import('../discovery.ts');
      const found: Promise<FoundBox>[] = [];
      await browse(({ urls, ...box }) => {
        found.push(probe(urls).then((answer) => ({ ...box, ...answer })));
      }, AbortSignal.timeout(BROWSE_MS));
      const boxes = (await Promise.all(found)).sort((one, other) => (one.nodeId < other.nodeId ? -1 : 1));
      if (boxes.length === 0) throw new CliError('unreachable', 'No box was found in this network.');
      out.answer({ boxes }, () => {
        const rows = boxes.map(({ url, site, version, status, nodeId }) => [
          url,
          site,
          version,
          status ?? 'no answer',
          nodeId,
        ]);
        out.table(['ADDRESS', 'SITE', 'VERSION', 'STATUS', 'NODE'], rows);
      });
    });
};

/** One box; `health` is null if it does not answer. */
interface BoxHealth {
  nodeId: string | null;
  url: string;
  health: Health | null;
}

/** Concurrent requests. */
const AT_ONCE = 64;
/** Most until the answer of a box. */
const HEALTH_MS = 3_000;

/** Whether another box is asked: a name could be that of any host in the network of this machine. */
const isAsked = (url: string): boolean => isIP(parseUrl(url)?.hostname.replace(/^\[|\]$/g, '') ?? '') !== 0;

export const registerHealth = (program: Command, { out, client, clientOf }: Session): void => {
  /** @throws CliError for the worst of the states */
  const judge = (boxes: readonly BoxHealth[]): void => {
    const isAny = (status: Health['status']): boolean => boxes.some(({ health }) => health?.status === status);
    if (isAny('failing')) throw new CliError('refused', 'A box has nothing to show.');
    if (isAny('degraded')) throw new CliError('degraded', 'Something is wrong; the warnings say what.');
    const silent = boxes.filter(({ health }) => health === null).map(({ url }) => url);
    const [asked, others] = [silent.filter(isAsked), silent.filter((url) => !isAsked(url))];
    const sentences = [
      ...(asked.length === 0 ? [] : [`No answer from ${asked.join(', ')}.`]),
      ...(others.length === 0 ? [] : [`Not asked, since a name may lead anywhere: ${others.join(', ')}.`]),
    ];
    if (silent.length > 0) throw new CliError('degraded', sentences.join(' '));
  };

  const warningsOf = ({ warnings, content }: Health): string[] => [
    ...warnings,
    ...content.warnings.map(({ path, message }) => `content: ${path}: ${message}`),
  ];

  const showOne = (origin: string, health: Health): void => {
    out.fields([
      ['status', health.status],
      ['box', `${health.nodeId} (${origin})`],
      ['version', health.version],
      ['site', health.site],
      ['started', health.startedAt],
      ['pages', plural(health.connections, 'connection')],
      ['content', health.content.status],
      ['peers', health.peers.map(({ url, state }) => `${url} ${state}`).join(', ') || 'none'],
    ]);
    for (const warning of warningsOf(health)) out.line(visible(`- ${warning}`));
  };

  /** Prints boxes as they answer. @param urls those that are asked */
  const startTable = (urls: readonly string[]): ((box: BoxHealth) => void) => {
    const width = Math.max(...urls.map((url) => url.length));
    const print = out.growingTable(['BOX', 'STATUS', 'VERSION', 'PAGES', 'NODE'], [width, 9, 8, 14]);
    return ({ url, nodeId, health }) =>
      print([
        url,
        health?.status ?? (isAsked(url) ? 'no answer' : 'not asked'),
        health?.version ?? '-',
        health === null ? '-' : plural(health.connections, 'connection'),
        nodeId ?? '-',
      ]);
  };

  program
    .command('health')
    .description('show the health of the box; with --all, also of the others of the site that have an IP address')
    .option('--all', 'also the other boxes of the site, those with an IP address')
    .action(async ({ all }: { all?: true }) => {
      const box = await client();
      const { body: here } = await box.ask<Health>({ path: '/healthz', timeoutMs: HEALTH_MS });
      const own: BoxHealth = { nodeId: here.nodeId, url: box.base.origin, health: here };
      if (all === undefined) {
        out.answer(here, () => showOne(own.url, here));
        return judge([own]);
      }
      const print = out.isJson() ? () => undefined : startTable([own.url, ...here.peers.map(({ url }) => url)]);
      print(own);
      const others = await inParallel(here.peers, AT_ONCE, async ({ url, nodeId }): Promise<BoxHealth> => {
        const asked = isAsked(url) ? clientOf(url).ask<Health>({ path: '/healthz', timeoutMs: HEALTH_MS }) : null;
        const answer = await asked?.catch(() => null);
        const found = { nodeId, url, health: answer?.body ?? null };
        print(found);
        return found;
      });
      const boxes = [own, ...others];
      out.answer({ boxes }, () => {
        for (const { url, health } of boxes) {
          for (const warning of health === null ? [] : warningsOf(health)) out.line(visible(`- ${url}: ${warning}`));
        }
      });
      judge(boxes);
    });
};
