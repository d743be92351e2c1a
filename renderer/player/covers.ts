/** What covers the player: a takeover, over a blackout, over a redirect. */
import { watchCover } from '../shared/kiosk.ts';
import type { Player } from './player.ts';
import type { Plays } from './plays/index.ts';
import type { Redirect } from './redirect.ts';
import type { Takeovers } from './takeovers.ts';
import type { Zones } from './zones.ts';

interface Dependencies {
  player: Pick<Player, 'halt'>;
  zones: Pick<Zones, 'halt'>;
  redirect: Pick<Redirect, 'url' | 'mute'>;
  takeovers: Pick<Takeovers, 'shown' | 'isDue'>;
  plays: Pick<Plays, 'playlist' | 'sidebar' | 'ticker' | 'takeover'>;
  /** The element that is black, and the stage of takeovers. */
  blackout: HTMLElement;
  takeover: HTMLElement;
}

/** How long the end of a takeover waits at most for the picture under it. */
const UNCOVER_MS = 400;

/** @returns a function that covers and uncovers the player, which is halted and silent while it is covered */
export const createCovers = ({ player, zones, redirect, takeovers, plays, blackout, takeover }: Dependencies) => {
  /** Resolves once there is a picture again: a framed page was unloaded while it was covered, and has to load again. */
  let seen: Promise<void> = Promise.resolve();
  let isBlack = false;
  /** Why the whole page is not visible. */
  let unseen: string | null = null;

  /** By what is on the screen: a cover disappears slightly after it is cleared. */
  const notePlays = (): void => {
    const hidden = unseen ?? (document.hidden ? 'hidden' : null);
    const cover = takeover.classList.contains('on')
      ? 'takeover'
      : blackout.hidden
        ? redirect.url && 'redirect'
        : 'blackout';
    plays.playlist.cover(hidden ?? cover);
    plays.sidebar.cover(hidden ?? cover);
    plays.ticker.cover(hidden ?? cover);
    plays.takeover.cover(hidden);
  };

  watchCover((cover) => {
    unseen = cover;
    notePlays();
  });

  const lighten = (): void => {
    blackout.hidden = !isBlack;
    notePlays();
  };

  const uncover = async (): Promise<void> => {
    await Promise.race([seen, new Promise((resolve) => setTimeout(resolve, UNCOVER_MS))]);
    if (takeovers.shown === null) takeover.classList.remove('on');
    takeover.hidden = !takeovers.isDue && takeovers.shown === null;
    notePlays();
  };

  return (commanded: { paused: boolean; blackout: boolean }): void => {
    const isTakenOver = takeovers.shown !== null;
    isBlack = commanded.blackout;
    const isHidden = isBlack || isTakenOver;
    const isCovered = isHidden || redirect.url !== null;
    if (isBlack) blackout.hidden = false;
    if (takeovers.isDue) takeover.hidden = false;
    if (isTakenOver) takeover.classList.add('on');
    const unmuted = redirect.mute(isHidden);
    notePlays();
    // After a blackout the screen stays black until there is a picture.
    const isHalted = commanded.paused || isCovered;
    const halted = [player.halt(isHalted, isCovered), zones.halt(isHalted, isCovered)];
    // Not the results: each would hold all earlier ones.
    seen = Promise.all([seen, unmuted, ...halted]).then(() => undefined);
    void seen.then(lighten);
    if (!isTakenOver) void uncover();
  };
};
