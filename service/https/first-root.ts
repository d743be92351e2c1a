/** Makes the first root of a site, once it is clear that no other box has one, and that the clock is right. */
import type { SiteAuthority } from '../authority/index.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';

interface Dependencies {
  authority: Pick<SiteAuthority, 'current' | 'clockFault' | 'make'>;
  peers: Pick<Peers, 'alive' | 'ask' | 'catchUp'>;
}

/** Clocks of two boxes that differ by more contradict each other, ms. */
const CONTRADICTION_MS = 60_000;
/** Boxes that are asked for their time at once. */
const ASKED_AT_ONCE = 20;

/**
 * When a box makes the root, in ms after its start: of boxes that start together, as after a power cut, the first one does,
 * and the others get its root. Pure.
 */
export const waitOf = (
  nodeId: string,
  others: readonly string[],
  { root, rank }: { root: number; rank: number },
): number => (others.every((each) => nodeId < each) ? root : root + rank);

export const createFirstRoot = (
  {
    options,
    ids,
    now,
    monotonicNow,
    tempo,
    log,
  }: Pick<ServiceContext, 'options' | 'ids' | 'now' | 'monotonicNow' | 'tempo' | 'log'>,
  { authority, peers }: Dependencies,
) => {
  const startedAt = monotonicNow();
  let fault: string | null = null;

  /** A box whose clock contradicts this one. */
  const contradiction = async (): Promise<string | null> => {
    const others = peers.alive();
    for (let at = 0; at < others.length; at += ASKED_AT_ONCE) {
      const verdicts = await Promise.all(
        others.slice(at, at + ASKED_AT_ONCE).map(async ({ nodeId, url }) => {
          const answer = await peers.ask({ nodeId }, 'clock.time');
          if (!answer.ok || Math.abs(answer.body.wall - now()) <= CONTRADICTION_MS) return null;
          return `the clocks of this box and of the box at ${url} differ by more than ${CONTRADICTION_MS / 1_000} s`;
        }),
      );
      const found = verdicts.find((verdict) => verdict !== null);
      if (found != null) return found;
    }
    return null;
  };

  const consider = async (): Promise<void> => {
    if (options.sharedSecret === null || authority.current() !== null) {
      fault = null;
      return;
    }
    const others = peers.alive().map(({ nodeId }) => nodeId);
    if (monotonicNow() - startedAt < waitOf(ids.nodeId, others, tempo.https)) return;
    await peers.catchUp();
    if (authority.current() !== null) return;
    fault = authority.clockFault() ?? (await contradiction());
    if (fault === null) await authority.make();
  };

  return {
    /** Makes the root if it is time. Never rejects. */
    consider: async (): Promise<void> => {
      await consider().catch((error: unknown) => {
        log.error({ err: error }, 'the root certificate of the site could not be made');
        fault = `it cannot be made (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`;
      });
    },
    /** Why there is none, as a sentence. */
    issues: (): string[] => (fault === null ? [] : [`The site has no root certificate for HTTPS yet: ${fault}.`]),
  };
};
