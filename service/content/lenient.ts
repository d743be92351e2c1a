/**
 * Reads a document that another box made: what this version does not know is left out, and named. Pure. The document itself
 * stays as it is, for other boxes and for the day on which this one is updated.
 */
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { labelled, type Path, spellPath } from './labels.ts';
import { tooLong } from './programme-sizes.ts';
import { checkContent, type Fault, faultsOf, type Reading, refusedWhole, validateContent } from './validate.ts';

/** Leaving something out may make what holds it invalid: so often is the rest read again. */
const MAX_ROUNDS = 12;
/** A document with more faults is refused: each round takes the longer, and no version adds as much. */
const MAX_FAULTS = 20_000;
/** Places that are named. */
const MAX_NAMED = 20;

const MESSAGE = 'a newer version of the player made this: it is left out here until this box is updated';

/** Members that are left out, by the object or list of the document that holds them. */
type Omitted = Map<object, Set<PropertyKey>>;
/** For lists of which entries are left out: the places that the other entries have in the document. */
type Places = Map<object, readonly number[]>;

const isContainer = (value: unknown): value is Readonly<Record<PropertyKey, unknown>> =>
  typeof value === 'object' && value !== null;

/** The document without what is left out. */
const rest = (value: unknown, omitted: Omitted, places: Places): unknown => {
  if (!isContainer(value)) return value;
  const gone = omitted.get(value);
  if (Array.isArray(value)) {
    const kept = value.flatMap((_, at) => (gone?.has(at) ? [] : [at]));
    if (gone !== undefined) places.set(value, kept);
    return kept.map((at) => rest(value[at], omitted, places));
  }
  // Object.fromEntries defines own properties, `__proto__` included.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (gone?.has(key) ? [] : [[key, rest(each, omitted, places)]])),
  );
};

/** The outermost places that are left out, in the order of the document. */
const namesOf = (value: unknown, omitted: Omitted, path: Path = []): Path[] => {
  if (!isContainer(value)) return [];
  const gone = omitted.get(value);
  const keys: PropertyKey[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => {
    const here = [...path, key];
    return gone?.has(key) ? [here] : namesOf(value[key], omitted, here);
  });
};

/** What a fault is about, from the root of what was read. */
const placesOf = ({ code, path, keys = [], errors = [], origin, maximum = 0 }: Fault, read: unknown): Path[] => {
  if (code === 'unrecognized_keys') return keys.map((key) => [...path, key]);
  if (code === 'invalid_union') {
    // One of the forms would do without the keys that it does not know.
    const [closest] = errors
      .filter((faults) => faults.length > 0 && faults.every((each) => each.code === 'unrecognized_keys'))
      .map((faults) => faults.flatMap((each) => placesOf({ ...each, path: [...path, ...each.path] }, read)))
      .toSorted((a, b) => a.length - b.length);
    if (closest !== undefined) return closest;
  }
  if (code === 'too_big' && origin === 'array') {
    const list = path.reduce<unknown>((value, key) => (isContainer(value) ? value[key] : undefined), read);
    if (Array.isArray(list)) return [...list.keys()].slice(Number(maximum)).map((at) => [...path, at]);
  }
  return [path];
};

/**
 * The member of the document that is at a place of what was read; where nothing is there, as something that is needed is
 * missing, the one that should hold it. Null: that is the whole document.
 */
const memberAt = (json: unknown, path: Path, omitted: Omitted, places: Places): [object, PropertyKey] | null => {
  let found: [object, PropertyKey] | null = null;
  let value = json;
  for (const given of path) {
    if (!isContainer(value)) break;
    const key: PropertyKey = places.get(value)?.[Number(given)] ?? given;
    if (!Object.hasOwn(value, key) || omitted.get(value)?.has(key)) break;
    found = [value, key];
    value = value[key];
  }
  return found;
};

/**
 * Reads the parsed document of another box: unknown keys, and what has an unknown kind or value, are left out at the
 * smallest list entry or optional field that holds them. Refused where nothing would be left to play, or the whole is no
 * document. Never throws.
 */
const readLeniently = (json: unknown): Reading => {
  const strict = validateContent(json);
  if (strict.ok || refusedWhole(json) !== null) return strict;
  const omitted: Omitted = new Map();
  let content: ContentFile | null = null;
  for (let round = 0; round < MAX_ROUNDS && content === null; round += 1) {
    const places: Places = new Map();
    const read = rest(json, omitted, places);
    const { faults, content: valid } = faultsOf(read);
    if (faults.length > MAX_FAULTS) return strict;
    // What is too large stays so without what is unknown, and is for people to mend.
    if (faults.some(({ code }) => code === tooLong)) return strict;
    if (faults.length === 0) content = valid;
    const members = faults
      .flatMap((fault) => placesOf(fault, read))
      .map((path) => memberAt(json, path, omitted, places));
    for (const member of members) {
      if (member === null) return strict;
      const [holder, key] = member;
      omitted.set(holder, (omitted.get(holder) ?? new Set()).add(key));
    }
  }
  const given = (json as Readonly<Record<string, unknown>>)['screens'];
  // What plays here is better than nothing.
  if (content === null || (content.screens.length === 0 && Array.isArray(given) && given.length > 0)) return strict;
  const leftOut = namesOf(json, omitted)
    .slice(0, MAX_NAMED)
    .map((path): ContentIssue => ({ path: spellPath(path), message: labelled(json, path, MESSAGE) }));
  return { ok: true, content, leftOut };
};

/** Reads the bytes of a document that another box made, as {@link checkContent} does those of an edit. */
export const readDocument = (bytes: Uint8Array): Reading => checkContent(bytes, readLeniently);
