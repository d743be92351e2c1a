/** When the box's own Wi-Fi is opened and closed. Pure: the time is an argument, in ms of a clock that only goes forward. */

export type HotspotOrder = 'open' | 'close' | 'join';

export interface HotspotState {
  phase: 'closed' | 'opening' | 'open' | 'joining';
  since: number;
  /** Since when there is no link; null: there is one. */
  linklessSince: number | null;
  /** Whether there was a link when it was opened, which then does not close it. */
  hadLink: boolean;
  /** Which fault of the network was there when the phase began; another one is an answer. */
  fault: string | null;
}

export interface HotspotSeen {
  now: number;
  /** Whether the box is in a network, other than its own. */
  link: boolean;
  /** Whether root says that it is open. */
  isOpen: boolean;
  /** Whether it may open by itself: the box has a radio and was never bound. */
  mayOpen: boolean;
  /** Tells one fault of the network from the next; null: there is none. */
  fault: string | null;
}

export const hotspotTimes = {
  /** How long a box waits for a link before it opens by itself, and how long root may take. */
  patience: 60_000,
  /** How long it stays open. */
  open: 15 * 60_000,
  /** Until root has closed it. */
  closing: 15_000,
  /** How long joining may take: longer than root, which says why it failed. */
  joining: 240_000,
};

export const firstHotspot = (now: number): HotspotState => ({
  phase: 'closed',
  since: now,
  linklessSince: now,
  hadLink: false,
  fault: null,
});

/** @param wish of a person: who opens or closes it on the maintenance page, or has filled in the form; null: the time goes on */
export const decideHotspot = (
  before: HotspotState,
  seen: HotspotSeen,
  wish: HotspotOrder | null = null,
): { state: HotspotState; order: HotspotOrder | null } => {
  const { now, link, fault } = seen;
  const state = { ...before, linklessSince: link ? null : (before.linklessSince ?? now) };
  const to = (phase: HotspotState['phase'], order: HotspotOrder | null = null, hadLink = state.hadLink) => ({
    state: { ...state, phase, since: now, hadLink, fault },
    order,
  });
  const open = () => to('opening', 'open', link);
  const close = () => to('closed', 'close');
  const age = now - state.since;
  const hasNewLink = link && !state.hadLink;

  if (state.phase === 'closed') {
    if (wish === 'open') return open();
    // Of an earlier start, or one that root opened late.
    if (seen.isOpen && age >= hotspotTimes.closing) return close();
    const waited = state.linklessSince === null ? 0 : Math.min(age, now - state.linklessSince);
    return seen.mayOpen && waited >= hotspotTimes.patience ? open() : { state, order: null };
  }
  if (wish === 'close') return close();
  if (state.phase === 'joining') {
    if (hasNewLink) return to('closed');
    if (fault !== null && fault !== state.fault) return open();
    if (age < hotspotTimes.joining) return { state, order: null };
    return link ? to('closed') : open();
  }
  if (hasNewLink) return close();
  if (state.phase === 'opening') {
    if (seen.isOpen) return to('open');
    return age >= hotspotTimes.patience ? close() : { state, order: null };
  }
  if (wish === 'join') return to('joining', 'join');
  if (age >= hotspotTimes.open) return close();
  return seen.isOpen ? { state, order: null } : to('closed');
};

/** What a phone reads as a Wi-Fi, by the convention of ZXing. Pure. */
export const wifiCode = ({ ssid, password }: { ssid: string; password: string }): string => {
  const escaped = (text: string): string => text.replace(/[\\;,":]/g, '\\$&');
  return `WIFI:T:WPA;S:${escaped(ssid)};P:${escaped(password)};;`;
};
