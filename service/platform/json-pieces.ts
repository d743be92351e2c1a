/** The text of `JSON.stringify` in pieces, so that a large value need not be serialized in one step. */

/** Most elements of a list in one piece. */
const ELEMENTS = 200;
/** Most characters of a text in one piece. */
const CHARACTERS = 64 * 1024;

/** Whether a field of it is worth pieces of its own. */
const isLarge = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  for (const field of Object.values(value)) {
    if (Array.isArray(field) ? field.length > ELEMENTS / 4 : typeof field === 'string' && field.length > CHARACTERS) {
      return true;
    }
  }
  return false;
};

function* textPieces(text: string): Generator<string, void> {
  yield '"';
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + CHARACTERS;
    // Half of a surrogate pair would be escaped.
    if (/[\ud800-\udbff]/.test(text.charAt(to - 1))) to += 1;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
  }
  yield '"';
}

function* listPieces(list: readonly unknown[]): Generator<string, void> {
  yield '[';
  for (let from = 0, to = 0; from < list.length; from = to) {
    if (from > 0) yield ',';
    to = from + 1;
    if (isLarge(list[from])) yield* jsonPieces(list[from]);
    else {
      while (to < list.length && to < from + ELEMENTS && !isLarge(list[to])) to += 1;
      yield JSON.stringify(list.slice(from, to)).slice(1, -1);
    }
  }
  yield ']';
}

/** @param value as `JSON.parse` returns it; fields that are undefined are left out */
export function* jsonPieces(value: unknown): Generator<string, void> {
  if (Array.isArray(value)) yield* listPieces(value);
  else if (typeof value === 'string' && value.length > CHARACTERS) yield* textPieces(value);
  else if (typeof value !== 'object' || value === null) yield JSON.stringify(value);
  else {
    let separator = '{';
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined) continue;
      yield `${separator}${JSON.stringify(name)}:`;
      yield* jsonPieces(field);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  }
}
