/** The documents of the interface, as a reader or a generator of clients meets them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { walk } from '../support/soak.ts';

interface Schema {
  $ref?: string;
  const?: unknown;
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  allOf?: Schema[];
}

interface Operation {
  'x-variant'?: string;
  parameters?: { name: string; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { example?: unknown; examples?: unknown }> };
  responses: Record<string, { content?: Record<string, { example?: unknown; examples?: unknown }> }>;
}

interface Document {
  paths?: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const names = ['openapi.yaml', 'openapi.baseline.yaml', 'asyncapi.yaml'] as const;
const fileOf = (name: string): string => join(import.meta.dirname, '..', '..', 'resources', name);
const opened = new Map<string, Document>();
/** Each is parsed once: that takes half a second. */
const open = (name: string): Document => {
  const document = opened.get(name) ?? (parse(readFileSync(fileOf(name), 'utf8')) as Document);
  opened.set(name, document);
  return document;
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Where properties have no description, neither of their own nor of what they refer to. */
const undescribed = (document: Document): string[] => {
  const isDescribed = (schema: Schema): boolean => {
    if (schema.description !== undefined || schema.const !== undefined) return true;
    if (schema.$ref !== undefined)
      return isDescribed(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
    return [...(schema.anyOf ?? []), ...(schema.allOf ?? [])].some(isDescribed);
  };
  const visit = (node: unknown, at: string): string[] => {
    if (!isObject(node)) return [];
    const { type, properties = {} } = node as Schema;
    const own = type === 'object' ? Object.keys(properties).filter((name) => !isDescribed(properties[name] ?? {})) : [];
    const inner = Object.entries(node)
      .filter(([key]) => key !== 'example' && key !== 'examples')
      .flatMap(([key, each]) => visit(each, `${at}/${key}`));
    return [...own.map((name) => `${at}/${name}`), ...inner];
  };
  const operations = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path));
  const parameters = operations
    .flatMap((operation) => operation.parameters ?? [])
    .filter(({ description, schema }) => description === undefined && !isDescribed(schema))
    .map(({ name }) => `parameter ${name}`);
  return [...visit(document.components.schemas, ''), ...parameters];
};

describe.each(names)('%s', (name) => {
  test('is clean by the strictest rules of its linter, examples against schemas among them', walk, async () => {
    // It takes long to load.
    const { createConfig, lint } = await import('@redocly/openapi-core');
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lint({ ref: fileOf(name), config });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual(
      [],
    );
  });

  test('describes every property and every parameter', () => {
    expect(undescribed(open(name))).toEqual([]);
  });
});

describe.each(['openapi.yaml', 'openapi.baseline.yaml'])('in %s', (name) => {
  test('every body in JSON or text has an example', () => {
    const without = Object.entries(open(name).paths ?? {}).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { requestBody, responses }]) =>
        [requestBody ?? {}, ...Object.values(responses)]
          .flatMap(({ content = {} }) => Object.entries(content))
          .filter(
            ([type, { example, examples }]) =>
              /json|text/.test(type) && example === undefined && examples === undefined,
          )
          .map(([type]) => `${method} ${path} ${type}`),
      ),
    );
    expect(without).toEqual([]);
  });
});

test('every message of a socket matches its schema, and no other message does', () => {
  const document = parse(readFileSync(fileOf('asyncapi.yaml'), 'utf8')) as {
    components: { messages: Record<string, { payload: { $ref: string }; examples: { payload: object }[] }> };
  };
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'asyncapi');
  for (const [name, { payload, examples }] of Object.entries(document.components.messages)) {
    const matches = (message: object) => ajv.validate({ $ref: `asyncapi${payload.$ref}` }, message);
    for (const example of examples) {
      expect(matches(example.payload), name).toBe(true);
      expect(matches({ ...example.payload, type: 'unknown' }), name).toBe(false);
    }
  }
});

test('the baseline document is the whole one without what is marked as extended', () => {
  const whole = open('openapi.yaml');
  const expected = Object.entries(whole.paths ?? {}).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation['x-variant'] !== 'extended')
      .map(([method]) => `${method} ${path}`),
  );
  const baseline = open('openapi.baseline.yaml');
  const found = Object.entries(baseline.paths ?? {}).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path}`),
  );
  expect(found).toEqual(expected);
  expect(JSON.stringify(baseline.components)).not.toMatch(
    /setclientname|timetableGroups|currentSlideTitle|"x-variant"/,
  );
});
