/** JSON of records that share parts, as screens share their slides: each part is serialized and hashed once. */
import { createHash } from 'node:crypto';
import { jsonPieces } from '../platform/json-pieces.ts';
import { atOnce, type Steps } from '../platform/slices.ts';

interface Part {
  /** Its text is all of them in a row. */
  pieces: readonly string[];
  digest: string;
}

const parts = new WeakMap<object, Part>();

/** SHA-256 over a text, base64url, cut to 132 bits: short enough for a header, and free of collisions in practice. */
export function* digestSteps(pieces: Iterable<string>): Steps<string> {
  const hash = createHash('sha256');
  for (const piece of pieces) {
    hash.update(piece);
    yield;
  }
  return hash.digest('base64url').slice(0, 22);
}

/** Serializes a part ahead of {@link piecesOf} and {@link revisionOf}. It must never be mutated. */
export function* serializeSteps(part: object): Steps<Part> {
  const known = parts.get(part);
  if (known !== undefined) return known;
  const pieces: string[] = [];
  for (const piece of jsonPieces(part)) {
    pieces.push(piece);
    yield;
  }
  const serialized = { pieces, digest: yield* digestSteps(pieces) };
  parts.set(part, serialized);
  return serialized;
}

const partOf = (value: unknown): Part => {
  if (typeof value === 'object' && value !== null) return atOnce(serializeSteps(value));
  const text = JSON.stringify(value);
  return { pieces: [text], digest: text };
};

const fieldsOf = (record: object): [name: string, part: Part][] =>
  Object.entries(record)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, partOf(value)]);

/** The text of `JSON.stringify(record)` in pieces. What its fields hold must never be mutated. */
export const piecesOf = (record: object): string[] => [
  '{',
  ...fieldsOf(record).flatMap(([name, { pieces }], index) => [
    `${index === 0 ? '' : ','}${JSON.stringify(name)}:`,
    ...pieces,
  ]),
  '}',
];

/** A digest of the record by those of its parts: equal records have equal ones. */
export const revisionOf = (record: object): string =>
  atOnce(digestSteps([JSON.stringify(fieldsOf(record).map(([name, { digest }]) => [name, digest]))]));
