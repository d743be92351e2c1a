/** Rotated rounds and what to make of them. */

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

/** How to measure each contender once. */
export type Contenders = Record<string, () => Promise<number>>;

/**
 * Measures every contender once a round, in another order each round, so that what the machine does meanwhile falls on
 * all of them alike. Prints medians, and the ratio to the first contender of the medians of ratios within a round.
 */
export const compare = async (title: string, unit: string, contenders: Contenders, rounds = 7): Promise<void> => {
  const names = Object.keys(contenders);
  const results = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    const order = names.map((_, index) => names[(index + round) % names.length] ?? '');
    for (const name of order) results.get(name)?.push((await contenders[name]?.()) ?? Number.NaN);
  }
  const [first = ''] = names;
  console.log(`\n${title} (${unit}, median of ${rounds} rotated rounds)`);
  for (const name of names) {
    const values = results.get(name) ?? [];
    const ratios = values.map((value, round) => (results.get(first)?.[round] ?? Number.NaN) / value);
    const range = `${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)}`;
    const ratio = name === first ? '' : `  ${first} is ${median(ratios).toFixed(2)} of it`;
    console.log(`  ${name.padEnd(34)} ${median(values).toFixed(1).padStart(10)}  [${range}]${ratio}`);
  }
};
