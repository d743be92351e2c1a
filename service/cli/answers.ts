/** Whether what answers is a box: its JSON, by the contract. */
import type { z } from 'zod';
import type { Operations } from '../contract/operations/operation.ts';

/** How deep the JSON of an answer may be. */
const MAX_DEPTH = 100;

/** Whether no part of a JSON text is deeper: what is would end a recursion over it. */
const isShallow = (text: string): boolean => {
  let depth = 0;
  let isText = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isText) {
      if (character === '\\') index += 1;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > MAX_DEPTH) return false;
  }
  return true;
};

/** @returns the value; undefined: it is no JSON, or too deep */
export const parseJson = (bytes: Buffer): unknown => {
  const text = bytes.toString();
  try {
    return isShallow(text) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
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
  const asked = method === 'HEAD' ? 'GET' : method;
  const entry = Object.entries(operations).find(([name]) => {
    const [own = '', pattern = ''] = name.split(' ');
    return own === asked && patternOf(pattern).test(plain);
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
  const { ZodObject } = await import('zod');
  const { extendedFields } = await import('../contract/terms.ts');
  const mask =
    schema instanceof ZodObject ? Object.fromEntries(extendedFields(schema).map((name) => [name, true])) : {};
  const accepted = schema instanceof ZodObject ? schema.partial(mask as Record<string, true>) : schema;
  return accepted.safeParse(body).success ? { body } : null;
};
