/** What the hub does not take, and why. */

export const createRefusals = () => {
  const reasons = new Map<string, string>();
  return {
    /** @param what such as `the status of this box`; @param reason null: the hub takes it */
    set: (what: string, reason: string | null): void => {
      if (reason === null) reasons.delete(what);
      else reasons.set(what, reason);
    },
    clear: (): void => reasons.clear(),
    /** Sentences. */
    list: (): string[] =>
      [...reasons].map(([what, reason]) => `The hub of the fleet does not take ${what}: ${reason}.`),
  };
};
export type Refusals = ReturnType<typeof createRefusals>;
