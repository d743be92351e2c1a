/** What commands that publish have in common: whether what they published stays, and how they say it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ContentCheck, PublishedContent } from '../contract/console/content.ts';
import type { Health } from '../contract/health.ts';
import type { Client } from './client.ts';
import type { Difference } from './document.ts';
import { CliError } from './exit.ts';
import type { Session } from './session.ts';
import { columns, plural, shortHash } from './text.ts';

/** How long another box's edit may take to replace one of the same moment, and how often it is looked for. */
const SETTLE_MS = 2_000;
const LOOK_MS = 200;

export const issueLines = (kind: string, issues: ContentCheck['errors']): string[] =>
  columns(issues.map(({ path, message }) => [kind, path || 'the file', message]));

/** What differences say nothing of. */
export const leftOut = 'users, passwords, queries and fragments of addresses';

/** How much a document changes. */
export const inWords = ({ added, removed, equal, patch }: Difference): string =>
  patch === '' && !equal ? `only ${leftOut}` : `${plural(added, 'line')} added, ${removed} removed`;

/** The version of another box that has taken its place at the same moment; undefined: none. */
const replacementOf = async (box: Client, sha256: string): Promise<string | undefined> => {
  for (const until = performance.now() + SETTLE_MS; ; await pause(LOOK_MS)) {
    const { content, peers } = (await box.ask<Health>({ path: '/healthz' })).body;
    const winner = content.replaced.find((each) => each.sha256 === sha256)?.replaced_by;
    if (winner !== undefined || peers.length === 0 || performance.now() >= until) return winner;
  }
};

/**
 * Waits until it is known that a version stays.
 * @throws CliError `refused` if an edit of the same moment on another box has replaced it
 */
export const settle = async (
  { degrade }: Pick<Session, 'degrade'>,
  box: Client,
  published: PublishedContent,
): Promise<PublishedContent> => {
  const winner = await replacementOf(box, published.sha256).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    degrade(true, `It is published, but the box does not say whether it stays: ${error.message}`);
    return undefined;
  });
  if (winner === undefined) return published;
  const lost = shortHash(published.sha256);
  throw new CliError(
    'refused',
    `Version ${published.sha256} was replaced by ${winner}, which somebody published on another box at the same time.\nSee: signage content diff FILE. It stays among the versions: signage content revert ${lost}`,
  );
};

/** Says that a version plays, and what is odd about it. */
export const report =
  ({ out }: Pick<Session, 'out'>) =>
  ({ sha256, warnings }: PublishedContent): void => {
    out.line(sha256);
    for (const line of issueLines('warning', warnings)) out.say(line);
    out.say('It plays now.');
  };
