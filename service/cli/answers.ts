/** Whether what answers is a box: its JSON, by the contract. */
import type { z } from 'zod';
import type { Operations } from '../contract/operations/operation.ts';

/** How deep the JSON of an answer may be: what is deeper would end a recursion over it. */
const MAX_DEPTH = 100;
/** Commas and opening brackets: an empty object takes thirty times the memory of its text. */
const MAX_PARTS = 1_000_000;
/** Bytes of a text, or of white space: the content of a site is not larger. */
const MAX_PART = 4 * 1024 ** 2;

const [QUOTE, BACKSLASH, COMMA, LIST, RECORD, LIST_END, RECORD_END] = Buffer.from('"\\,[{]}');

/** Whether JSON is not deeper, and has neither more nor larger parts. In UTF-8 no other character has one of these bytes. */
const isModest = (bytes: Buffer): boolean => {
  let depth = 0;
  let parts = 0;
  let partAt = 0;
  let isText = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (index - partAt > MAX_PART) return false;
    if (byte === QUOTE) {
      isText = !isText;
      partAt = index;
    } else if (isText) index += byte === BACKSLASH ? 1 : 0;
    else if (byte === LIST_END || byte === RECORD_END) depth -= 1;
    else if (byte === COMMA || byte === LIST || byte === RECORD) {
      parts += 1;
      partAt = index;
      depth += byte === COMMA ? 0 : 1;
      if (depth > MAX_DEPTH || parts > MAX_PARTS) return false;
    }
  }
  return true;
};

/** @returns the value; undefined: it is no JSON, or that of no box */
export const parseJson = (bytes: Buffer): unknown => {
  try {
    return isModest(bytes) ? JSON.parse(bytes.toString()) : undefined;
  } catch {
    return undefined;
  }
};

/** The lists of a record, and the schema of the rest. */
const splits = new WeakMap<z.ZodObject, { lists: [name: string, schema: z.ZodArray][]; rest: z.ZodObject }>();

/**
 * Whether a value is of a schema. The items of lists are judged one by one, up to the first that is not: the schema of a
 * list would copy them all, and describe each fault.
 */
const isOf = ({ ZodArray, ZodObject }: Pick<typeof z, 'ZodArray' | 'ZodObject'>, schema: z.ZodType, value: unknown) => {
  const splitOf = (own: z.ZodObject) => {
    const lists = Object.entries(own.shape).filter(
      (entry): entry is [string, z.ZodArray] => entry[1] instanceof ZodArray,
    );
    const mask = Object.fromEntries(lists.map(([name]) => [name, true])) as Record<string, never>;
    const split = { lists, rest: own.omit(mask) };
    splits.set(own, split);
    return split;
  };
  const judge = (own: z.ZodType, each: unknown): boolean => {
    if (own instanceof ZodArray && Array.isArray(each))
      return each.every((item) => judge(own.element as z.ZodType, item));
    const isWhole = (own.def as { checks?: unknown[] }).checks?.length;
    if (isWhole || !(own instanceof ZodObject) || typeof each !== 'object' || each === null) {
      return own.safeParse(each).success;
    }
    const { lists, rest } = splits.get(own) ?? splitOf(own);
    const fields = each as Record<string, unknown>;
    const others = { ...fields };
    for (const [name] of lists) delete others[name];
    return rest.safeParse(others).success && lists.every(([name, list]) => judge(list, fields[name]));
  };
  return judge(schema, value);
};

/** A request, as the contract names it. */
interface Asked {
  method: string;
  /** Path and query. */
  path: string;
  status: number;
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`);

/** The schemas of an answer, by media type; undefined: the operation has no such answer. Schemas take their time to load. */
const contentOf = async ({ method, path, status }: Asked): Promise<Record<string, z.ZodType> | undefined> => {
  const { operations }: { operations: Operations } = await import('../contract/operations/index.ts');
  const [plain = ''] = path.split('?');
  const entry = Object.entries(operations).find(([name]) => {
    const [own = '', pattern = ''] = name.split(' ');
    return own === method && patternOf(pattern).test(plain);
  });
  const answer = entry?.[1].answer[status];
  if (answer === undefined) return undefined;
  return Object.fromEntries(Object.entries(answer.content ?? {}).map(([type, { schema }]) => [type, schema]));
};

/**
 * The JSON of an answer, as it came: what a newer box adds is kept. Fields that only the extended variant has may be absent.
 * @returns undefined where the answer has no body; null: it is not what a box answers
 */
export const readAnswer = async (asked: Asked, bytes: Buffer): Promise<{ body: unknown } | null> => {
  const content = await contentOf(asked);
  if (content === undefined) return null;
  const schema = content['application/json'];
  if (schema === undefined) return bytes.length === 0 ? { body: undefined } : null;
  const body = parseJson(bytes);
  const { z: zod } = await import('zod');
  const { extendedFields } = await import('../contract/terms.ts');
  const mask =
    schema instanceof zod.ZodObject ? Object.fromEntries(extendedFields(schema).map((name) => [name, true])) : {};
  const accepted = schema instanceof zod.ZodObject ? schema.partial(mask as Record<string, true>) : schema;
  return isOf(zod, accepted, body) ? { body } : null;
};
