/** Figures of a run: contenders are measured in rotated rounds, and compared within a round. */

export interface Spread {
  median: number;
  min: number;
  max: number;
}

export interface Row {
  name: string;
  /** Null: not measured, see `missed`. */
  value: Spread | null;
  /** The first contender by this one, within a round; null for the first contender itself. */
  ratio: Spread | null;
  /** Why there is no figure. */
  missed?: string;
}

/** Bounds of the first contender's median, or of its ratio to another contender. */
export interface Goal {
  /** Another contender; absent: the bounds are in the unit of the table. */
  against?: string;
  most?: number;
  least?: number;
  /** Why it is missed where it is, as profiling has shown. */
  reason?: string;
}

export interface Table {
  /** The bench that it belongs to. */
  bench: string;
  title: string;
  unit: string;
  rounds: number;
  rows: Row[];
  goals: (Goal & { value: number; isMet: boolean })[];
}

/** Measures a contender once: one figure for each unit of the table; a text says why it can't be measured. */
export type Contenders = Record<string, (() => Promise<number | readonly number[]>) | string>;

export interface Report {
  /**
   * Measures every contender once a round, in another order each round, so that what the machine does meanwhile falls on
   * all of them alike. There is one table for each unit.
   */
  compare(
    title: string,
    units: string | readonly string[],
    contenders: Contenders,
    options?: { rounds?: number; goals?: readonly Goal[] },
  ): Promise<void>;
  /** A sentence about the tables of the bench that runs. */
  note(text: string): void;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

export const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

const judge = ({ against, most, least }: Goal, rows: readonly Row[]): { value: number; isMet: boolean } => {
  const spread = against === undefined ? rows[0]?.value : rows.find(({ name }) => name === against)?.ratio;
  const value = spread?.median ?? Number.NaN;
  return { value, isMet: (most === undefined || value <= most) && (least === undefined || value >= least) };
};

interface Listener {
  onTable(table: Table): void;
  onNote(bench: string, text: string): void;
}

/** @param usualRounds of a table that does not name its own */
export const createReport = (bench: string, usualRounds: number, { onTable, onNote }: Listener): Report => ({
  compare: async (title, units, contenders, { rounds = usualRounds, goals = [] } = {}) => {
    const names = Object.keys(contenders).filter((name) => typeof contenders[name] !== 'string');
    const results = new Map<string, (readonly number[])[]>(names.map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < names.length; turn++) {
        const name = names[(turn + round) % names.length] ?? '';
        const measure = contenders[name];
        if (typeof measure === 'function') results.get(name)?.push([await measure()].flat());
      }
    }
    const [first = ''] = names;
    for (const [index, unit] of [units].flat().entries()) {
      const valuesOf = (name: string): number[] => (results.get(name) ?? []).map((each) => each[index] ?? Number.NaN);
      const rows = Object.entries(contenders).map(([name, contender]): Row => {
        if (typeof contender === 'string') return { name, value: null, ratio: null, missed: contender };
        const values = valuesOf(name);
        const ratios = valuesOf(first).map((value, round) => value / (values[round] ?? Number.NaN));
        return { name, value: spreadOf(values), ratio: name === first ? null : spreadOf(ratios) };
      });
      const judged = index === 0 ? goals.map((goal) => ({ ...goal, ...judge(goal, rows) })) : [];
      onTable({ bench, title, unit, rounds, rows, goals: judged });
    }
  },
  note: (text) => onNote(bench, text),
});
