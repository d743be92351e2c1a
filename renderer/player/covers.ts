/** What covers the player: a takeover, over a blackout, over a redirect. */
import type { Player } from './player.ts';
import type { Redirect } from './redirect.ts';
import type { Takeovers } from './takeovers.ts';

interface Dependencies {
  player: Pick<Player, 'halt'>;
  redirect: Pick<Redirect, 'url' | 'mute'>;
  takeovers: Pick<Takeovers, 'shown' | 'isDue'>;
  /** The element that is black, and the stage of takeovers. */
  blackout: HTMLElement;
  takeover: HTMLElement;
}

/** How long the end of a takeover waits at most for the picture under it. */
const UNCOVER_MS = 400;

/** @returns a function that covers and uncovers the player, which is halted and silent while it is covered */
export const createCovers = ({ player, redirect, takeovers, blackout, takeover }: Dependencies) => {
  /** Resolves once there is a picture again: a framed page was unloaded while it was covered, and has to load again. */
  let seen: Promise<unknown> = Promise.resolve();
  let isBlack = false;

  const uncover = async (): Promise<void> => {
    await Promise.race([seen, new Promise((resolve) => setTimeout(resolve, UNCOVER_MS))]);
    if (takeovers.shown === null) takeover.classList.remove('on');
    takeover.hidden = !takeovers.isDue && takeovers.shown === null;
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
    seen = Promise.all([seen, unmuted, player.halt(commanded.paused || isCovered, isCovered)]);
    // After a blackout the screen stays black until there is a picture.
    void seen.then(() => {
      blackout.hidden = !isBlack;
    });
    if (!isTakenOver) void uncover();
  };
};
