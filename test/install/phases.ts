/** What a line of the journal says when a phase of the session has ended. */
const ends = { compositor: 'for output', service: 'listening on', page: 'a landing page connected' };

/** @param journal of the unit, as `journalctl -o short-monotonic` has it. @returns s from the start of the unit to the end of each phase */
export const phasesIn = (journal: string): Record<string, number> => {
  const at = (words: string): number => {
    const line = journal.split('\n').find((each) => each.includes(words)) ?? '';
    return Number(/^\[ *([\d.]+)/.exec(line)?.[1]);
  };
  const start = at('Starting');
  return Object.fromEntries(
    Object.entries(ends).map(([phase, words]) => [phase, Number((at(words) - start).toFixed(1))]),
  );
};
