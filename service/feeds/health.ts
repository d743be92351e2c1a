import type { Health } from '../contract/health.ts';
import { limitSentences } from '../domain/sentences.ts';

/** The feeds and sources that failed, for `/healthz`. */
export const feedIssues = ({ rssFeeds, apiSources }: Pick<Health, 'rssFeeds' | 'apiSources'>): string[] => {
  const all = [
    ...rssFeeds.map((feed) => ({ ...feed, what: 'feed' })),
    ...apiSources.map((source) => ({ ...source, what: 'source' })),
  ];
  return limitSentences(
    all.flatMap(({ id, what, reason }) => (reason === null ? [] : [`The ${what} "${id}" failed: ${reason}.`])),
    'feeds and sources failed',
  );
};
