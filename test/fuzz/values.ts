/** Values from JSON schemas: valid ones, nearly valid ones, and hostile ones that ignore the schema. */
import fc from 'fast-check';

export type Schema = Readonly<Record<string, unknown>>;
export type Resolve = (schema: Schema) => Schema;

const hostileStrings = [
  '',
  ' ',
  'x'.repeat(5_000),
  '\u0000',
  'a\r\nX-Injected: 1',
  '\ud800',
  '\u202egnp.exe',
  '🦄'.repeat(200),
  '../../../etc/passwd',
  '..\\..\\windows',
  '__proto__',
  'constructor',
  'toString',
  '<script>alert(1)</script>',
  "'; DROP TABLE screens;--",
  '{{ 7 | times: 7 }}',
  '%00',
  '%ZZ',
  'CON',
  'NaN',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'http://[::1]:99999/',
  'rtmp://user:pw@127.0.0.1:1/\u0007',
];

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

export const hostileString = fc.oneof(fc.constantFrom(...hostileStrings), fc.string({ unit: 'binary', maxLength: 40 }));

const hostileNumbers = [0, -0, -1, 1.5, 1e308, -1e308, 2 ** 53, 2 ** 31, 5e-324];
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  hostileString,
  fc.constantFrom(...hostileNumbers, null, true, false, [], {}, nested(1_000), [null], { __proto__: null }),
  fc.constant(JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}')),
  fc.jsonValue({ maxDepth: 3 }),
);

const stringOf = ({ pattern, format, minLength = 0, maxLength }: Schema): fc.Arbitrary<string> => {
  if (format === 'uri') return fc.webUrl({ validSchemes: ['http', 'https'] });
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern, 'u'), { maxLength: 128 });
  const bounds = { minLength: minLength as number, maxLength: Math.min((maxLength as number | undefined) ?? 24, 64) };
  return fc.string({ unit: 'grapheme', ...bounds });
};

const objectOf = (schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> => {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  const model = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, valid(each, resolve)]));
  return fc.record(model, { requiredKeys: required });
};

/** Made once: what is referred to stands in most others. */
const known = new WeakMap<Schema, fc.Arbitrary<unknown>>();

/** Values that a schema takes, as far as JSON Schema can say it. */
export const valid = (given: Schema, resolve: Resolve): fc.Arbitrary<unknown> => {
  const schema = resolve(given);
  const values = known.get(schema) ?? valuesOf(schema, resolve);
  known.set(schema, values);
  return values;
};

const valuesOf = (schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> => {
  const { type, anyOf, oneOf, allOf } = schema as Record<string, Schema[] | undefined>;
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  const members = anyOf ?? oneOf;
  if (members) return fc.oneof(...members.map((each) => valid(each, resolve)));
  if (allOf) {
    return fc.tuple(...allOf.map((each) => valid(each, resolve))).map((parts) => Object.assign({}, ...parts));
  }
  if (Array.isArray(type)) return fc.oneof(...type.map((each) => valid({ ...schema, type: each }, resolve)));
  const { minimum = -1_000, maximum = 1_000_000 } = schema as { minimum?: number; maximum?: number };
  const simple: Record<string, () => fc.Arbitrary<unknown>> = {
    null: () => fc.constant(null),
    boolean: () => fc.boolean(),
    integer: () => fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31 - 1) }),
    number: () => fc.double({ min: minimum, max: maximum, noNaN: true }),
    string: () => stringOf(schema),
    array: () =>
      schema['prefixItems'] === undefined
        ? fc.array(valid((schema['items'] ?? {}) as Schema, resolve), { maxLength: 4 })
        : fc.tuple(...(schema['prefixItems'] as Schema[]).map((each) => valid(each, resolve))),
    object: () => objectOf(schema, resolve),
  };
  return simple[String(type)]?.() ?? hostile;
};

type Fields = Record<string, unknown>;

/** A valid object with one thing about it changed. */
const nearly = (schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> =>
  fc
    .tuple(valid(schema, resolve), fc.nat(), fc.constantFrom('drop', 'replace', 'add', 'wrap'), hostile, hostileString)
    .map(([value, at, change, bad, name]) => {
      if (change === 'wrap' || typeof value !== 'object' || value === null) return [value];
      const fields = value as Fields;
      const keys = Object.keys(fields);
      const key = keys[at % Math.max(keys.length, 1)] ?? name;
      if (change === 'add') return { ...fields, [name]: bad };
      return change === 'drop'
        ? Object.fromEntries(Object.entries(fields).filter(([each]) => each !== key))
        : { ...fields, [key]: bad };
    });

/** Of each sort: valid, nearly valid, hostile. */
export const anyOfSchema = (schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 5, arbitrary: valid(schema, resolve) },
    { weight: 4, arbitrary: nearly(schema, resolve) },
    { weight: 1, arbitrary: hostile },
  );
