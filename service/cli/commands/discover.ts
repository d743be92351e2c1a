/** `discover`: the boxes in the LAN. */
import type { Command } from 'commander';
import type { Health } from '../../contract/health.ts';
import { CliError } from '../exit.ts';
import type { Session } from '../session.ts';

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
      out.answer({ boxes }, () => {
        if (boxes.length === 0) return;
        const rows = boxes.map(({ url, site, version, status, nodeId }) => [
          url,
          site,
          version,
          status ?? 'no answer',
          nodeId,
        ]);
        out.table(['ADDRESS', 'SITE', 'VERSION', 'STATUS', 'NODE'], rows);
      });
      if (boxes.length === 0) throw new CliError('unreachable', 'No box was found in this network.');
    });
};
