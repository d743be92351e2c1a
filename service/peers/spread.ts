/**
 * Tree broadcast of a change: its origin sends it to a few boxes, and assigns each a share of the others to
 * forward it to. A box answers once it has the change. The share of a box that does not answer goes to the next one of it,
 * so that each box is named once, and a change takes n - 1 requests in about log n hops. Pure but for `send`.
 */
import { remember } from '../domain/collections.ts';

/** Fan-out: boxes to which each box forwards a change. */
const FAN_OUT = 4;
/** Changes whose recipients are remembered. */
const MAX_CHANGES = 64;

/** Splits the targets into shares of about one size. */
export const sharesOf = (targets: readonly string[], fanOut = FAN_OUT): string[][] =>
  Array.from({ length: Math.min(fanOut, targets.length) }, (_, share) =>
    targets.filter((__, index) => index % fanOut === share),
  );

/**
 * Sends a change to the targets.
 * @param send sends it to a box with the targets that the box forwards it to; resolves with whether the box accepted it
 * @returns the targets that did not accept it
 */
export const spreadTo = async (
  targets: readonly string[],
  send: (target: string, share: readonly string[]) => Promise<boolean>,
): Promise<string[]> => {
  const missed = await Promise.all(
    sharesOf(targets).map(async (share) => {
      for (const [index, target] of share.entries()) {
        if (await send(target, share.slice(index + 1))) return share.slice(0, index);
      }
      return share;
    }),
  );
  return missed.flat();
};

/** Remembers to whom a change was sent, so that no request makes a box send it to another one twice. */
export const createRecipients = () => {
  const sent = new Map<string, Set<string>>();
  return {
    /** Those of the targets that have not been sent the change yet; they count as sent from now on. */
    take(change: string, targets: readonly string[]): string[] {
      const before = sent.get(change) ?? new Set();
      const fresh = [...new Set(targets)].filter((target) => !before.has(target));
      for (const target of fresh) before.add(target);
      remember(sent, change, before, MAX_CHANGES);
      return fresh;
    },
  };
};
