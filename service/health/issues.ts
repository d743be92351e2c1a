/** What is wrong with a box, in sentences. Pure. */
import type { Health } from '../contract/health.ts';
import type { DeviceBinding } from '../contract/peers.ts';

type Facts = Pick<Health, 'content' | 'store' | 'rssFeeds' | 'apiSources' | 'peers' | 'ffmpeg'> & {
  screens: number;
  devicesAway: readonly DeviceBinding[];
  /** Peers that start together with this box are not away yet. */
  isStarting: boolean;
};

/** More than this many of a kind are counted. */
const MOST_OF_A_KIND = 10;

const someOf = (sentences: readonly string[], what: string): string[] => {
  const rest = sentences.length - MOST_OF_A_KIND;
  return rest <= 0 ? [...sentences] : [...sentences.slice(0, MOST_OF_A_KIND), `${rest} more ${what}.`];
};

const contentIssues = ({ content: { status, errors }, screens }: Facts): string[] => {
  if (status === 'ok') return screens === 0 ? ['The content has no screens.'] : [];
  const [{ path = '', message = '' } = {}] = errors;
  const consequence = screens === 0 ? 'there is nothing to play' : 'the last good content keeps playing';
  return [`content.json is not valid, and ${consequence}: ${path === '' ? '' : `${path}: `}${message}.`];
};

/** `failing`: nothing can be shown. Sentences are what makes it less than `ok`. */
export const issuesOf = (facts: Facts): { status: Health['status']; sentences: string[] } => {
  const { store, rssFeeds, apiSources, peers, ffmpeg, devicesAway, isStarting, screens } = facts;
  const feeds = [
    ...rssFeeds.map((feed) => ({ ...feed, what: 'feed' })),
    ...apiSources.map((source) => ({ ...source, what: 'source' })),
  ];
  const sentences = [
    ...contentIssues(facts),
    ...someOf(
      devicesAway.map(
        ({ clientName, deviceId, screenSlug }) =>
          `The device "${clientName}" (${deviceId}) of the screen "${screenSlug}" is away.`,
      ),
      'devices are away',
    ),
    ...someOf(
      peers
        .filter(({ state }) => state === 'away' && !isStarting)
        .map(({ url, reason }) => `The box at ${url} is away: it ${reason}.`),
      'boxes are away',
    ),
    ...someOf(
      feeds.flatMap(({ id, what, reason }) => (reason === null ? [] : [`The ${what} "${id}" failed: ${reason}.`])),
      'feeds and sources failed',
    ),
    ...(ffmpeg === null ? ['ffmpeg is missing, so there are no streams.'] : []),
    ...store.faults,
  ];
  return { status: screens === 0 ? 'failing' : sentences.length > 0 ? 'degraded' : 'ok', sentences };
};
