/** The plays of a page: recorded, kept while the service is unreachable or the page is closed, and delivered. */
import { bytesToHex } from '@noble/hashes/utils.js';
import type { PagePlay } from '../../../service/contract/plays.ts';
import { recall, remember } from '../../shared/storage.ts';
import type { Clock } from '../clock.ts';
import { createPlayDelivery, type PlayDelivery } from './delivery.ts';
import { createPlayRecorder, type PlayRecorder } from './recorder.ts';
import { createPlayStore, MAX_KEPT, type Note, type PlayStore } from './store.ts';
import { createTickerPlays, type TickerPlays } from './ticker-plays.ts';

interface Dependencies {
  clock: Pick<Clock, 'elapsed' | 'now' | 'state'>;
  screen: string;
  /** The revision of the playlist. */
  revision(): string | null;
  /** Sends a `plays` message; returns false if no socket is open. */
  send(plays: readonly PagePlay[]): boolean;
  onError(reason: string): void;
}

export interface Plays {
  playlist: PlayRecorder;
  sidebar: PlayRecorder;
  ticker: TickerPlays;
  takeover: PlayRecorder;
  delivery: Pick<PlayDelivery, 'onOpen' | 'onAck' | 'onClose'>;
}

/** How often the play under way is noted. */
const NOTE_MS = 5_000;
/** A note that did not change for this long belongs to a closed page. */
const GONE_MS = 3 * NOTE_MS;
const tabKey = 'signage.tab';
const droppedKey = 'signage.droppedPlays';

const tabOf = (): string => {
  const fresh = bytesToHex(crypto.getRandomValues(new Uint8Array(8)));
  try {
    const tab = sessionStorage.getItem(tabKey) ?? fresh;
    sessionStorage.setItem(tabKey, tab);
    return tab;
  } catch {
    return fresh;
  }
};

/**
 * Ends the plays of closed pages: immediately those of earlier pages of this tab, those of other tabs once their notes
 * stop changing.
 */
const adoptNotes = async (
  { notes }: Pick<PlayStore, 'notes'>,
  tab: string,
  keep: (play: PagePlay) => void,
): Promise<void> => {
  const before = await notes();
  for (const { play } of before.filter((note) => note.tab === tab)) keep(play);
  const others = before.filter((note) => note.tab !== tab);
  if (others.length === 0) return;
  await new Promise((resolve) => setTimeout(resolve, GONE_MS));
  const after = await notes();
  const isStill = ({ play }: Note): boolean =>
    after.some((note) => note.play.play_id === play.play_id && note.play.duration_ms === play.duration_ms);
  for (const { play } of others.filter(isStill)) keep(play);
};

export const createPlays = ({ send, onError, ...page }: Dependencies): Plays => {
  const store = createPlayStore();
  const delivery = createPlayDelivery({ store, send });
  const tab = tabOf();

  const keep = async (play: PagePlay): Promise<void> => {
    const dropped = await store.add(play);
    if (dropped > 0) remember(droppedKey, String(Number(recall(droppedKey) ?? 0) + dropped));
    delivery.wake();
  };
  const onPlay = (play: PagePlay): void => void keep(play);

  const playlist = createPlayRecorder({ ...page, zone: 'main', onPlay });
  const sidebar = createPlayRecorder({ ...page, zone: 'sidebar', onPlay });
  const ticker = createTickerPlays(() => createPlayRecorder({ ...page, zone: 'ticker', onPlay }));
  const takeover = createPlayRecorder({ ...page, onPlay });

  const note = (): void => {
    for (const play of [playlist.underWay(), sidebar.underWay(), ...ticker.underWay(), takeover.underWay()])
      if (play !== null) void store.note({ play, tab });
  };
  setInterval(note, NOTE_MS);
  addEventListener('pagehide', note);
  void adoptNotes(store, tab, onPlay);

  return {
    playlist,
    sidebar,
    ticker,
    takeover,
    delivery: {
      ...delivery,
      onOpen: () => {
        const dropped = Number(recall(droppedKey) ?? 0);
        if (dropped > 0) {
          onError(`${dropped} plays were dropped: at most ${MAX_KEPT} are kept while the service is away`);
          remember(droppedKey, '0');
        }
        delivery.onOpen();
      },
    },
  };
};
