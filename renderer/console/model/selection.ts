/** Which slides of a playlist are selected, by their keys; pure. */
export interface Selection {
  keys: ReadonlySet<string>;
  /** The one whose form is shown, and from which the arrow keys go. */
  lead: string | null;
  /** Where a range begins. */
  anchor: string | null;
}

export type How = 'only' | 'toggle' | 'range';

/** A key for each slide: its id, numbered where a file has an id twice. */
export const keysOf = (ids: readonly string[]): string[] => {
  const seen = new Map<string, number>();
  return ids.map((id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count === 1 ? id : `${id} ${count}`;
  });
};

export const selected = (keys: Iterable<string>, lead: string | null): Selection => ({
  keys: new Set(keys),
  lead,
  anchor: lead,
});

/** @param order the keys of all slides */
export const select = (order: readonly string[], before: Selection, key: string, how: How): Selection => {
  if (how === 'only') return selected([key], key);
  if (how === 'toggle') {
    const keys = new Set(before.keys);
    if (!keys.delete(key)) keys.add(key);
    // One stays selected: its form is shown.
    if (keys.size === 0) return before;
    return { keys, lead: keys.has(key) ? key : ([...keys].at(-1) ?? null), anchor: key };
  }
  const to = order.indexOf(key);
  const from = Math.max(0, order.indexOf(before.anchor ?? key));
  const keys = new Set(order.slice(Math.min(from, to), Math.max(from, to) + 1));
  return { keys, lead: key, anchor: order[from] ?? key };
};

/** Drops slides that were deleted. If the selection becomes empty, it is the slide at the index `place`, or the last slide. */
export const settled = (order: readonly string[], selection: Selection, place: number): Selection => {
  const known = new Set(order);
  const keys = [...selection.keys].filter((key) => known.has(key));
  if (keys.length === 0) {
    const next = order[Math.min(place, order.length - 1)];
    return next === undefined ? selected([], null) : selected([next], next);
  }
  const lead = selection.lead !== null && keys.includes(selection.lead) ? selection.lead : (keys[0] ?? null);
  return {
    keys: new Set(keys),
    lead,
    anchor: selection.anchor !== null && known.has(selection.anchor) ? selection.anchor : lead,
  };
};

export interface Rectangle {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Cards of one size, row by row. Lengths in pixels. */
export interface Cells {
  columns: number;
  width: number;
  height: number;
  /** Around each card, inside of its cell. */
  margin: number;
}

/** The indices of the cards that a rectangle touches. */
export const touched = (
  { left, top, right, bottom }: Rectangle,
  { columns, width, height, margin }: Cells,
  count: number,
): number[] => {
  const span = (from: number, to: number, size: number, most: number): [number, number] => [
    Math.max(0, Math.floor((from + margin) / size)),
    Math.min(most, Math.ceil((to - margin) / size)),
  ];
  const [firstColumn, endColumn] = span(left, right, width, columns);
  const [firstRow, endRow] = span(top, bottom, height, Math.ceil(count / columns));
  const found: number[] = [];
  for (let row = firstRow; row < endRow; row += 1) {
    for (let column = firstColumn; column < endColumn; column += 1) {
      const index = row * columns + column;
      if (index < count) found.push(index);
    }
  }
  return found;
};
