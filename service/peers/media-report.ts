/** The part of `/healthz` about the media that the content names. Pure. */
import type { ReplicationHealth } from '../contract/health.ts';
import type { PeerMedium } from '../contract/peers.ts';

type Report = ReplicationHealth['media'];

/** Limit of the missing media that are listed. */
const MAX_REPORTED = 100;

interface Known {
  /** Media that are to be fetched from peers. */
  coming: readonly Pick<PeerMedium, 'name' | 'size'>[];
  isHere(name: string): boolean;
  /** Whether no box has it. */
  isAbsent(name: string): boolean;
  /** Why one that is to be fetched is not here yet. */
  reasonOf(name: string): string;
}

export const mediaReport = (names: ReadonlySet<string>, { coming, isHere, isAbsent, reasonOf }: Known): Report => {
  const missing = new Map<string, Report['missing'][number]>(
    coming.map(({ name, size }) => [name, { name, size, reason: reasonOf(name) }]),
  );
  for (const name of names) {
    if (isHere(name) || missing.has(name)) continue;
    missing.set(name, { name, size: null, reason: isAbsent(name) ? 'no box has it' : 'is being read' });
  }
  return { named: names.size, here: names.size - missing.size, missing: [...missing.values()].slice(0, MAX_REPORTED) };
};
