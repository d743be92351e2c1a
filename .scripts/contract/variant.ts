/** A document of the whole interface as one variant of it has it: `x-variant` marks what only that variant has. */
import type { Variant } from '../../service/contract/terms.ts';

export type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

const isOf = (value: unknown, variant: Variant): boolean =>
  !isNode(value) || value['x-variant'] === undefined || value['x-variant'] === variant;

/** Leaves out the other variant's properties, members of unions, operations, media types and channels. */
const strip = (value: unknown, variant: Variant): unknown => {
  if (Array.isArray(value)) return value.filter((each) => isOf(each, variant)).map((each) => strip(each, variant));
  if (!isNode(value)) return value;
  const kept: Node = Object.fromEntries(
    Object.entries(value)
      .filter(([key, each]) => key !== 'x-variant' && isOf(each, variant))
      .map(([key, each]) => [key, strip(each, variant)]),
  );
  const { anyOf, properties, required, ...rest } = kept;
  if (Array.isArray(anyOf) && anyOf.length === 1) return { ...rest, ...anyOf[0] };
  if (isNode(properties) && Array.isArray(required)) {
    kept['required'] = required.filter((name: string) => Object.hasOwn(properties, name));
  }
  return kept;
};

const resolve = (document: Node, schema: Node): Node => {
  if (typeof schema['$ref'] !== 'string') return schema;
  const at = schema['$ref'].split('/').slice(1);
  return at.reduce<Node>((node, key) => node[key] as Node, document);
};

/** Leaves out of an example what its schema does not have. */
const prune = (document: Node, reference: Node, example: unknown): unknown => {
  const schema = resolve(document, reference);
  if (Array.isArray(example)) {
    return isNode(schema['items']) ? example.map((each) => prune(document, schema['items'] as Node, each)) : example;
  }
  const { properties } = schema;
  if (!isNode(example) || !isNode(properties)) return example;
  return Object.fromEntries(
    Object.entries(example)
      .filter(([key]) => Object.hasOwn(properties, key))
      .map(([key, each]) => [key, prune(document, properties[key] as Node, each)]),
  );
};

const pruneExamples = (document: Node, node: unknown): void => {
  if (Array.isArray(node)) for (const each of node) pruneExamples(document, each);
  if (!isNode(node)) return;
  if (isNode(node['schema']) && 'example' in node) node['example'] = prune(document, node['schema'], node['example']);
  for (const each of Object.values(node)) pruneExamples(document, each);
};

const namesIn = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"#\/components\/(\w+\/\w+)"/g)].map(([, name = '']) => name);

/** Leaves out the components that nothing refers to. */
const dropUnused = (document: Node): void => {
  const { components, ...rest } = document as { components: Record<string, Node> };
  const used = new Set<string>();
  const visit = (names: readonly string[]): void => {
    for (const name of names) {
      if (used.has(name)) continue;
      used.add(name);
      const [kind = '', key = ''] = name.split('/');
      visit(namesIn(components[kind]?.[key]));
    }
  };
  visit(namesIn(rest));
  for (const scheme of JSON.stringify(rest).matchAll(/"([\w-]+)":\[\]/g)) used.add(`securitySchemes/${scheme[1]}`);
  for (const [kind, entries] of Object.entries(components)) {
    for (const key of Object.keys(entries)) if (!used.has(`${kind}/${key}`)) delete entries[key];
  }
};

export const documentOf = (document: object, variant: Variant): Node => {
  const kept = strip(document, variant) as Node;
  const paths = kept['paths'] as Record<string, Node>;
  for (const [path, operations] of Object.entries(paths)) if (Object.keys(operations).length === 0) delete paths[path];
  pruneExamples(kept, paths);
  dropUnused(kept);
  return kept;
};
