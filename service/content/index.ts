/** `content.json`, and the payloads that are derived from it. */
import { join } from 'node:path';
import type { Feeds } from '../feeds/index.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Takeovers } from '../takeovers/index.ts';
import { type Content as OpenContent, openContent } from './content.ts';
import { documentState } from './edits.ts';
import { contentIssues } from './health.ts';
import { openLastKnownGood } from './last-known-good.ts';

export { type MediaUse, mediaUses } from './media.ts';
export type { Payload } from './payload.ts';
export { validateContent } from './validate.ts';

export type Content = Module & OpenContent;

interface Dependencies {
  feeds: Pick<Feeds, 'follow' | 'fill' | 'onChange'>;
  takeovers: Pick<Takeovers, 'slides' | 'onChange'>;
}

export const createContent = async (
  { options, log, ids, dirs, keep }: ServiceContext,
  { feeds, takeovers }: Dependencies,
): Promise<Content> => {
  const { variant } = options;
  const lastKnownGood = keep(await openLastKnownGood({ dataDir: dirs.data, log }));
  const { close, ...content } = await openContent(
    { lastKnownGood, feeds, leading: takeovers, nodeId: ids.nodeId, log },
    {
      ...{ dataDir: dirs.data, mediaDir: dirs.media, demoDir: join(dirs.resources, 'demo'), variant },
      timeZone: () => options.timeZone,
    },
  );
  keep({ close });
  return {
    ...content,
    states: { content: () => documentState(content.playing()) },
    metrics: () => ({ signage_content_valid: Number(content.status().status === 'ok') }),
    health: async () => {
      const status = content.status();
      const isEmpty = content.screens().length === 0;
      return {
        fields: { content: { ...status, warnings: await content.warnings() } },
        issues: { content: contentIssues(status, !isEmpty) },
        isFailing: isEmpty,
      };
    },
  };
};
