import type { Steps } from '../platform/slices.ts';

/** JSON of records that share parts, as screens share their slides: each part is serialized once. */
const parts = new WeakMap<object, string>();

const jsonOfPart = (part: unknown): string => {
  if (typeof part !== 'object' || part === null) return JSON.stringify(part);
  const known = parts.get(part);
  if (known !== undefined) return known;
  const json = JSON.stringify(part);
  parts.set(part, json);
  return json;
};

/** Elements that are serialized in one step. */
const STEP = 500;

/** Serializes a long list ahead of {@link jsonOf}, step by step. */
export function* serializeSteps(list: readonly object[]): Steps<void> {
  if (list.length <= STEP) return;
  const texts: string[] = [];
  for (let from = 0; from < list.length; from += STEP) {
    yield;
    texts.push(JSON.stringify(list.slice(from, from + STEP)).slice(1, -1));
  }
  parts.set(list, `[${texts.join(',')}]`);
}

/** The text of `JSON.stringify(record)`. What its fields hold must never be mutated. */
export const jsonOf = (record: object): string => {
  const fields = Object.entries(record).filter(([, value]) => value !== undefined);
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${jsonOfPart(value)}`).join(',')}}`;
};
