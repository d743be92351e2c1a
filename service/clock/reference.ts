/** Chooses the box whose clock is the reference of the site. Pure. */

/** A live box; `established` is what it last sent, or null before its first answer. */
export interface Candidate {
  nodeId: string;
  established: boolean | null;
}

/**
 * The node id of the reference, which may be this one: the lowest id among the boxes whose time is established.
 * A box that has just started adopts the site's time from any other box before it provides its own, so that the time does
 * not jump when the box with the lowest id returns.
 */
export const chooseReference = (
  self: { nodeId: string; established: boolean },
  others: readonly Candidate[],
): string => {
  const eligible = others
    .filter(({ nodeId, established }) => established !== false && (!self.established || nodeId < self.nodeId))
    .map(({ nodeId }) => nodeId);
  return (
    eligible.reduce<string | null>((lowest, id) => (lowest === null || id < lowest ? id : lowest), null) ?? self.nodeId
  );
};

/** Whether a box may establish its own time: no box has established one and its id is the lowest, or it waited enough. */
export const mayEstablish = (nodeId: string, others: readonly Candidate[], waited: boolean): boolean =>
  waited || (others.length > 0 && others.every((other) => other.established === false && nodeId < other.nodeId));
