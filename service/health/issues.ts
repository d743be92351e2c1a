/** Derives the health status of a box and its problems, one sentence each. Pure. */
import type { Health } from '../contract/health.ts';
import type { DeviceBinding } from '../contract/peers.ts';

type Facts = Pick<Health, 'content' | 'store' | 'rssFeeds' | 'apiSources' | 'peers' | 'ffmpeg'> & {
  screens: number;
  devicesAway: readonly DeviceBinding[];
  /** Whether peers that start together with this box may not have answered yet. */
  isStarting: boolean;
};

/** Maximum number of sentences per kind; the rest is summarised in one sentence. */
const MAX_PER_KIND = 10;

const limitSentences = (sentences: readonly string[], what: string): string[] => {
  const rest = sentences.length - MAX_PER_KIND;
  return rest <= 0 ? [...sentences] : [...sentences.slice(0, MAX_PER_KIND), `${rest} more ${what}.`];
};

const contentIssues = ({ content: { status, errors }, screens }: Facts): string[] => {
  if (status === 'ok') return screens === 0 ? ['The content has no screens.'] : [];
  const [{ path = '', message = '' } = {}] = errors;
  const consequence = screens === 0 ? 'there is nothing to play' : 'the last good content keeps playing';
  return [`content.json is not valid, and ${consequence}: ${path === '' ? '' : `${path}: `}${message}.`];
};

/** `failing`: there is nothing to show. Every sentence is a reason for a status other than `ok`. */
export const issuesOf = (facts: Facts): { status: Health['status']; sentences: string[] } => {
  const { store, rssFeeds, apiSources, peers, ffmpeg, devicesAway, isStarting, screens } = facts;
  const feeds = [
    ...rssFeeds.map((feed) => ({ ...feed, what: 'feed' })),
    ...apiSources.map((source) => ({ ...source, what: 'source' })),
  ];
  const sentences = [
    ...contentIssues(facts),
    ...limitSentences(
      devicesAway.map(
        ({ clientName, deviceId, screenSlug }) =>
          `The device "${clientName}" (${deviceId}) of the screen "${screenSlug}" is away.`,
      ),
      'devices are away',
    ),
    ...limitSentences(
      peers
        .filter(({ state }) => state === 'away' && !isStarting)
        .map(({ url, reason }) => `The box at ${url} is away: it ${reason}.`),
      'boxes are away',
    ),
    ...limitSentences(
      feeds.flatMap(({ id, what, reason }) => (reason === null ? [] : [`The ${what} "${id}" failed: ${reason}.`])),
      'feeds and sources failed',
    ),
    ...(ffmpeg === null ? ['ffmpeg is missing, so there are no streams.'] : []),
    ...store.faults,
  ];
  return { status: screens === 0 ? 'failing' : sentences.length > 0 ? 'degraded' : 'ok', sentences };
};
