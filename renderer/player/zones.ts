/** The zones beside the main one: a sidebar with a player of its own, and a ticker. One that has nothing to show leaves its room to the main zone. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import type { Clock, SyncClock } from './clock.ts';
import type { PlayedPayload } from './page-plan.ts';
import type { Player } from './player.ts';
import type { TickerPlays } from './plays/ticker-plays.ts';
import { createTicker } from './ticker.ts';

interface Dependencies {
  clock: Pick<Clock, 'now'>;
  syncClock: Pick<SyncClock, 'at'>;
  timeZone: string;
  /** The element whose attribute `data-zones` determines the layout. */
  root: HTMLElement;
  ticker: HTMLElement;
  sidebar: Player;
  /** Of the ticker; absent: nothing is recorded. */
  plays?: Pick<TickerPlays, 'show'>;
}

export type Zones = ReturnType<typeof createZones>;

export const createZones = ({ root, ticker: tickerElement, sidebar, ...clocks }: Dependencies) => {
  const shown = { sidebar: false, ticker: false };
  let hasSidebar = false;

  const arrange = (): void => {
    root.dataset['zones'] = (['sidebar', 'ticker'] as const).filter((zone) => shown[zone]).join(' ');
  };
  const ticker = createTicker(tickerElement, {
    ...clocks,
    onShow: (isShown) => {
      shown.ticker = isShown;
      arrange();
    },
  });

  return {
    load: (payload: PlaylistPayload | null): void => {
      const zoneOf = (name: string) => payload?.zones?.find(({ zone }) => zone === name);
      const zone = zoneOf('sidebar');
      // Without a sidebar before and now there is nothing to replace.
      if (payload === null) {
        if (hasSidebar) sidebar.load(null);
      } else if (hasSidebar || zone !== undefined) {
        const { programme: _, ...rest } = payload;
        const { playlist = null, slides = [], playlists } = zone ?? {};
        const own: PlayedPayload = { ...rest, playlist, slides, ...(playlists && { playlists }) };
        sidebar.load(own, zone?.sync === true);
      }
      hasSidebar = zone !== undefined;
      ticker.load(payload, zoneOf('ticker'));
    },
    /** The player of the sidebar reports what it shows. */
    onReport: (slide: Slide | null): void => {
      shown.sidebar = slide !== null;
      arrange();
    },
    halt: (isHalted: boolean, isSilent: boolean): Promise<void> | undefined => {
      ticker.halt(isHalted);
      return sidebar.halt(isHalted, isSilent);
    },
    onMedia: sidebar.retry,
    onClockSet: (): void => {
      sidebar.onClockSet();
      ticker.update();
    },
  };
};
