/** The values in a random order, each order equally likely (Fisher and Yates). @param random of [0, 1) */
export const shuffled = <T>(values: readonly T[], random: () => number): T[] => {
  const rest = [...values];
  return values.flatMap(() => rest.splice(Math.floor(random() * rest.length), 1));
};
