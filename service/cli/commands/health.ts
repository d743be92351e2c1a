/** `health`: how a box is, or all boxes of its site. */
import type { Command } from 'commander';
import type { Health } from '../../contract/health.ts';
import { CliError } from '../exit.ts';
import { plural } from '../format.ts';
import { inParallel } from '../parallel.ts';
import type { Session } from '../session.ts';
import { visible } from '../text.ts';

/** One box; `health` is null if it does not answer. */
interface BoxHealth {
  nodeId: string | null;
  url: string;
  health: Health | null;
}

/** Concurrent requests. */
const AT_ONCE = 8;

export const registerHealth = (program: Command, { out, client, clientOf }: Session): void => {
  /** @throws CliError for the worst of the states */
  const judge = (boxes: readonly BoxHealth[]): void => {
    const isAny = (status: Health['status']): boolean => boxes.some(({ health }) => health?.status === status);
    if (isAny('failing')) throw new CliError('refused', 'A box has nothing to show.');
    if (isAny('degraded')) throw new CliError('degraded', 'Something is wrong; the warnings say what.');
    if (boxes.some(({ health }) => health === null)) throw new CliError('degraded', 'Some box does not answer.');
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

  const showAll = (boxes: readonly BoxHealth[]): void => {
    const rows = boxes.map(({ url, nodeId, health }) => [
      url,
      health?.status ?? 'no answer',
      health?.version ?? '-',
      health === null ? '-' : plural(health.connections, 'connection'),
      nodeId ?? '-',
    ]);
    out.table(['BOX', 'STATUS', 'VERSION', 'PAGES', 'NODE'], rows);
    for (const { url, health } of boxes) {
      for (const warning of health === null ? [] : warningsOf(health)) out.line(visible(`- ${url}: ${warning}`));
    }
  };

  program
    .command('health')
    .description('show the health of the box; with --all, of every box of the site')
    .option('--all', 'every box of the site')
    .action(async ({ all }: { all?: true }) => {
      const box = await client();
      const { body: here } = await box.ask<Health>({ path: '/healthz' });
      const own: BoxHealth = { nodeId: here.nodeId, url: box.base.origin, health: here };
      if (all === undefined) {
        out.answer(here, () => showOne(own.url, here));
        return judge([own]);
      }
      const others = await inParallel(here.peers, AT_ONCE, async ({ url, nodeId }): Promise<BoxHealth> => {
        const answer = await clientOf(url)
          .ask<Health>({ path: '/healthz' })
          .catch(() => null);
        return { nodeId, url, health: answer?.body ?? null };
      });
      const boxes = [own, ...others];
      out.answer({ boxes }, () => showAll(boxes));
      judge(boxes);
    });
};
