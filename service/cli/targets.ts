/** Targets: `all`, a slug, or `tag:NAME`. */
import { Argument, InvalidArgumentError } from 'commander';
import type { SiteOverview } from '../contract/console/site.ts';
import { didYouMean } from '../domain/wording.ts';
import type { Answer, Client } from './client.ts';
import { CliError } from './exit.ts';

export const fetchSite = (client: Client): Promise<Answer<SiteOverview>> =>
  client.ask<SiteOverview>({ path: '/console/api/site' });

/** By how much the time of the site, by which takeovers begin and end, is ahead of the clock of the box that tells it now, ms. */
export const siteAhead = (client: Client, { now }: SiteOverview): number =>
  now === undefined ? 0 : Date.parse(now) - client.now();

export type Target = { kind: 'all' } | { kind: 'tag'; name: string } | { kind: 'screen'; slug: string };

/** Parser of an argument: @throws InvalidArgumentError */
const parseTarget = (value: string): Target => {
  if (value === 'all') return { kind: 'all' };
  if (/^tag:\S.*$/.test(value)) return { kind: 'tag', name: value.slice('tag:'.length) };
  if (/^[a-z0-9-]{1,64}$/.test(value)) return { kind: 'screen', slug: value };
  throw new InvalidArgumentError('It must be the slug of a screen, tag:NAME or all.');
};

/** Of an option that takes several. */
export const targets = (value: string, before: readonly Target[] = []): Target[] => [...before, parseTarget(value)];

export const targetArgument = (): Argument =>
  new Argument('<target>', 'slug of a screen, tag:NAME or all').argParser(parseTarget);

/** As typed by the operator. */
export const spellTarget = (target: Target): string => {
  if (target.kind === 'tag') return `tag:${target.name}`;
  return target.kind === 'all' ? 'all' : target.slug;
};

export const listOf = (names: readonly string[]): string =>
  names.slice(0, 20).join(', ') + (names.length > 20 ? ', …' : '');

/** The screens of a target. @throws CliError `notFound` if there is none */
export const screensOf = ({ screens }: Pick<SiteOverview, 'screens'>, target: Target): SiteOverview['screens'] => {
  const found = screens.filter(
    ({ screen, tags }) =>
      target.kind === 'all' || (target.kind === 'tag' ? tags.includes(target.name) : screen.slug === target.slug),
  );
  if (found.length > 0) return found;
  const slugs = screens.map(({ screen }) => screen.slug);
  if (target.kind === 'tag') {
    const tags = [...new Set(screens.flatMap((each) => each.tags))].sort();
    const known = tags.length === 0 ? 'No screen has tags.' : `The tags: ${listOf(tags)}.`;
    throw new CliError(
      'notFound',
      `No screen has the tag ${target.name}${didYouMean(target.name, tags) || '.'} ${known}`,
    );
  }
  if (target.kind === 'all' || slugs.length === 0) throw new CliError('notFound', 'The site has no screens.');
  const hint = didYouMean(target.slug, slugs) || '.';
  throw new CliError('notFound', `There is no screen ${target.slug}${hint} The screens: ${listOf(slugs)}.`);
};

export interface PageOptions {
  connection?: string;
  client?: string;
}

export const isForOnePage = ({ connection, client }: PageOptions): boolean =>
  connection !== undefined || client !== undefined;

interface Page {
  slug: string;
  connection: SiteOverview['screens'][number]['connections'][number];
}

/** The pages that show a target; of a client the newest alone. @throws CliError `notFound` if there is no such screen */
export const pagesOf = (site: SiteOverview, target: Target, { connection: id, client }: PageOptions): Page[] => {
  const pages = screensOf(site, target).flatMap(({ screen, connections }) =>
    connections
      .filter((each) => (id === undefined || each.id === id) && (client === undefined || each.clientId === client))
      .map((connection) => ({ slug: screen.slug, connection })),
  );
  const newest = (one: Page, other: Page): number =>
    one.connection.connectedAt < other.connection.connectedAt ? 1 : -1;
  return client === undefined ? pages : pages.sort(newest).slice(0, 1);
};
