/** `fleet push` and `fleet rollout`: content for sites. */
import { createHash, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { mostStoredBytes } from '../../contract/fleet.ts';
import { didYouMean } from '../../domain/wording.ts';
import { duration, siteNames } from '../arguments.ts';
import { readDocument } from '../document.ts';
import { CliError } from '../exit.ts';
import type { Hub, Packed } from '../fleet/hub.ts';
import type { Outcomes } from '../fleet/rollout.ts';
import type { Session } from '../session.ts';
import { listOf } from '../targets.ts';
import { columns, plural, bytes as spellBytes, visible } from '../text.ts';

/** Of a signal that ends a program: 128 and its number. */
const INTERRUPTED = 130;

const percentages = (value: string): number[] => {
  const phases = value.split(',').map(Number);
  const isAscending = phases.every((each, index) => each > (phases[index - 1] ?? 0) && each <= 100);
  if (!isAscending) throw new InvalidArgumentError('It must be ascending percentages such as 1,10,100.');
  return phases;
};

/** A document that was checked, without its push: the clock of the hub dates that. */
interface Checked {
  bytes: Uint8Array;
  sha256: string;
}

/** @throws CliError `notFound` for a site that is not known */
export const checkNames = (known: readonly string[], names: readonly string[], advice = ''): void => {
  const missing = names.find((name) => !known.includes(name));
  if (missing === undefined) return;
  throw new CliError('notFound', `The hub knows no site ${missing}${didYouMean(missing, known) || '.'}${advice}`);
};

/** @throws CliError `notFound` if no site is left to publish to */
const checkSome = (sites: readonly string[]): void => {
  if (sites.length > 0) return;
  throw new CliError('notFound', 'The hub knows no site to publish to. See: signage fleet sites');
};

/** A sentence for each outcome that some site has. */
const sentencesOf = ({ applied, diverged, failed, silent }: Outcomes): string[] =>
  (
    [
      [applied, 'plays it', 'play it'],
      [diverged, 'took it, and was edited since', 'took it, and were edited since'],
      [failed, 'does not play it', 'do not play it'],
      [silent, 'has not reported in time', 'have not reported in time'],
    ] as const
  ).flatMap(([sites, one, more]) =>
    sites.length === 0 ? [] : [`${plural(sites.length, 'site')} ${sites.length === 1 ? one : more}: ${listOf(sites)}.`],
  );

export const registerFleetContent = (
  group: Command,
  { out, withHub, stdin, degrade, checkCanAsk, confirm }: Session,
): void => {
  /** Reads a document, and checks it by the rules of a box. @throws CliError `usage`, `refused` */
  const readChecked = async (file: string): Promise<Checked> => {
    const { text } = await readDocument(file, stdin);
    const { checkContent } = await import('../../content/validate.ts');
    const reading = checkContent(Buffer.from(text));
    if (!reading.ok) {
      for (const line of columns(reading.issues.map(({ path, message }) => ['error', path || 'the file', message]))) {
        out.say(line);
      }
      throw new CliError(
        'refused',
        `${visible(file)} has ${plural(reading.issues.length, 'error')}. Nothing was sent.`,
      );
    }
    const bytes = await promisify(gzip)(text, { level: 9 });
    if (bytes.length > mostStoredBytes) {
      const sizes = `${spellBytes(bytes.length)}, of ${spellBytes(mostStoredBytes)}`;
      throw new CliError('refused', `${visible(file)} is too large for the hub when it is packed: ${sizes}.`);
    }
    return { bytes, sha256: createHash('sha256').update(text).digest('hex') };
  };

  const pushed = async (hub: Hub, { bytes, sha256 }: Checked): Promise<Packed> => {
    const at = new Date(await hub.now()).toISOString();
    return { bytes, push: { id: randomUUID(), at, sha256 } };
  };

  /** Says at an interrupt which sites have the content. */
  const telling = async <Result>(sites: readonly string[], work: (note: (site: string) => void) => Promise<Result>) => {
    const stored: string[] = [];
    const onInterrupt = (): void => {
      const rest = sites.length - stored.length;
      out.fail(
        `Interrupted. ${plural(stored.length, 'site')} ${stored.length === 1 ? 'has' : 'have'} it${stored.length === 0 ? '' : `: ${stored.join(', ')}`}. ${plural(rest, 'site')} ${rest === 1 ? 'was' : 'were'} not reached.`,
      );
      process.exit(INTERRUPTED);
    };
    process.once('SIGINT', onInterrupt);
    process.once('SIGTERM', onInterrupt);
    try {
      return await work((site) => void stored.push(site));
    } catch (error) {
      if (stored.length > 0)
        out.say(`${plural(stored.length, 'site')} of ${sites.length} have it: ${stored.join(', ')}.`);
      throw error;
    } finally {
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onInterrupt);
    }
  };

  const fileArgument = (): Argument => new Argument('<file>', 'a content.json; - for standard input');

  group
    .command('push')
    .description('make a document the wanted content of sites, and say what they play')
    .addArgument(fileArgument())
    .addArgument(new Argument('[sites...]', 'names of sites').argParser(siteNames))
    .option('--all', 'all sites that the hub has heard of')
    .option('--new', 'the sites may be some of which the hub has not heard yet')
    .addOption(new Option('--wait <time>', 'how long sites may take').argParser(duration).default(20, '20s'))
    .option('--yes', 'do not ask')
    .action(async (file: string, names: string[], options: { all?: true; new?: true; wait: number; yes?: true }) => {
      if (names.length === 0 && options.all !== true) throw new CliError('usage', 'Name the sites, or say --all.');
      if (names.length > 0 && options.all === true) {
        throw new CliError('usage', 'Name the sites, or say --all: not both.');
      }
      checkCanAsk(options.yes);
      const checked = await readChecked(file);
      const { publishTo } = await import('../fleet/rollout.ts');
      await withHub(async (hub) => {
        const known = (await hub.sites()).map(({ site }) => site);
        if (options.new !== true) checkNames(known, names, ' For a site to come, add --new.');
        const sites = options.all === true ? known : [...new Set(names)];
        checkSome(sites);
        await confirm(`Publish to ${plural(sites.length, 'site')}?`, options.yes);
        // Nobody reports for a site to come.
        const awaited = sites.filter((site) => known.includes(site));
        const waitMs = awaited.length === 0 ? 0 : options.wait * 1_000;
        const outcomes = await telling(sites, async (onStored) =>
          publishTo(hub, { packed: await pushed(hub, checked), sites, waitMs, onStored }),
        );
        out.answer({ sha256: checked.sha256, sites, ...outcomes }, () => {
          out.line(checked.sha256);
          for (const sentence of sentencesOf(outcomes)) out.say(sentence);
        });
        const { failed, diverged, silent } = outcomes;
        if (failed.length + diverged.length > 0) {
          const where = listOf([...failed, ...diverged]);
          throw new CliError('refused', `It does not play at ${where}. See: signage fleet status`);
        }
        degrade(
          silent.some((site) => known.includes(site)),
          NOT_ALL,
        );
      });
    });

  group
    .command('rollout')
    .description('publish to a share of the sites first, and to more only where it plays')
    .addArgument(fileArgument())
    .option('--phases <percentages>', 'shares of the sites', percentages, [1, 10, 100])
    .option('--except <site>', 'leave this site out; may be repeated', siteNames, [] as string[])
    .addOption(new Option('--wait <time>', 'how long a phase may take').argParser(duration).default(300, '5m'))
    .option('--yes', 'do not ask')
    .action(async (file: string, options: { phases: number[]; except: string[]; wait: number; yes?: true }) => {
      checkCanAsk(options.yes);
      const checked = await readChecked(file);
      const { isHeld, rollOut } = await import('../fleet/rollout.ts');
      const results = await withHub(async (hub) => {
        const known = (await hub.sites()).map(({ site }) => site);
        checkNames(known, options.except);
        const sites = known.filter((site) => !options.except.includes(site));
        checkSome(sites);
        await confirm(`Publish to ${plural(sites.length, 'site')} in phases?`, options.yes);
        const { phases, wait } = options;
        return telling(sites, async (onStored) =>
          rollOut(hub, {
            packed: await pushed(hub, checked),
            sites,
            phases,
            waitMs: wait * 1_000,
            onStored,
            onPhase: (result) => out.say(`${result.percent} %: ${sentencesOf(result).join(' ')}`),
          }),
        );
      });
      const last = results.at(-1);
      const held = last !== undefined && isHeld(last);
      out.answer({ sha256: checked.sha256, held, phases: results }, () => out.line(checked.sha256));
      if (held) {
        const others = [...last.failed, ...last.diverged];
        const why = others.length > 0 ? `it does not play at ${listOf(others)}` : 'no site of the phase took it';
        throw new CliError('refused', `The rollout is held at ${last.percent} %: ${why}. See: signage fleet status`);
      }
      degrade(
        results.some(({ silent }) => silent.length > 0),
        NOT_ALL,
      );
    });
};

export const NOT_ALL = 'Not every site or box has answered in time. See: signage fleet status';
