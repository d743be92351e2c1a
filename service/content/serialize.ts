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

/** The text of `JSON.stringify(record)`. What its fields hold must never be mutated. */
export const jsonOf = (record: object): string => {
  const fields = Object.entries(record).filter(([, value]) => value !== undefined);
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${jsonOfPart(value)}`).join(',')}}`;
};
