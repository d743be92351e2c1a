/** `content.json`, and the payloads that are derived from it. */
import type { Health } from '../contract/health.ts';
import type { Feeds } from '../feeds/index.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Secrets } from '../secrets/index.ts';
import type { Takeovers } from '../takeovers/index.ts';
import type { Triggers } from '../triggers/index.ts';
import { type Content as OpenContent, openContent } from './content.ts';
import { documentState } from './edits.ts';
import { openLastKnownGood } from './last-known-good.ts';

export { type MediaUse, mediaUses, remoteUses } from './media.ts';
export type { Payload, SessionPage } from './payloads.ts';
export { validateContent } from './validate.ts';

const DAY_MS = 86_400_000;
/** Replaced versions that `/healthz` lists. */
const MOST_REPLACED = 20;

export type Content = Module & OpenContent;

/** What is wrong with the content, for `/healthz`. @param hasScreens whether anything can be shown */
const contentIssues = (
  { status, errors }: Pick<Health['content'], 'status' | 'errors'>,
  hasScreens: boolean,
): string[] => {
  if (status === 'ok') return hasScreens ? [] : ['The content has no screens.'];
  const [{ path = '', message = '' } = {}] = errors;
  const consequence = hasScreens ? 'the last good content keeps playing' : 'there is nothing to play';
  return [`content.json is not valid, and ${consequence}: ${path === '' ? '' : `${path}: `}${message}.`];
};

export const createContent = async (
  context: ServiceContext,
  {
    feeds,
    takeovers,
    triggers,
    secrets,
  }: {
    feeds: Pick<Feeds, 'follow' | 'fill' | 'onChange' | 'settled'>;
    takeovers: Pick<Takeovers, 'slides' | 'onChange'>;
    triggers: Pick<Triggers, 'now' | 'insertions' | 'onChange'>;
    secrets: Pick<Secrets, 'issues' | 'publicWarnings'>;
  },
): Promise<Content> => {
  const lastKnownGood = context.keep(await openLastKnownGood(context));
  const { close, ...content } = await openContent(context, {
    lastKnownGood,
    feeds,
    leading: takeovers,
    inserted: triggers,
    secrets,
  });
  context.keep({ close });
  // A page that asks at once gets the events that were kept.
  await feeds.settled();
  const recentlyReplaced = () =>
    content
      .replaced()
      .filter(({ at }) => Date.parse(at) > context.now() - DAY_MS)
      .slice(0, MOST_REPLACED);
  return {
    ...content,
    states: { content: () => documentState(content.playing()) },
    metrics: () => ({ signage_content_valid: Number(content.status().status === 'ok') }),
    health: async () => {
      const status = content.status();
      const isEmpty = content.screens().length === 0;
      return {
        fields: { content: { ...status, warnings: await content.warnings(), replaced: recentlyReplaced() } },
        issues: { content: contentIssues(status, !isEmpty) },
        isFailing: isEmpty,
      };
    },
  };
};
