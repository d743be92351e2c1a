/** Whose clock is the site's: pure. */

/** A box that is up, and what it last said of its time: null: nothing yet. */
export interface Candidate {
  nodeId: string;
  established: boolean | null;
}

/**
 * The node to take the time from, which may be this one: the lowest id among those whose time is established.
 * A box that has just come up takes the site's time from any other before it gives its own, so that the time does not
 * jump when the box with the lowest id was away.
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

/** Whether a box whose time nobody has established yet may do so: it is the lowest of them, or has waited enough. */
export const mayEstablish = (nodeId: string, others: readonly Candidate[], waited: boolean): boolean =>
  waited || (others.length > 0 && others.every((other) => other.established === false && nodeId < other.nodeId));
