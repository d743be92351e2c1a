/**
 * The schemas of zod, as the programs need them: without the descriptions that only the documents have, each of which makes
 * a schema once more, and made when they are first used: of the schemas that a start would make it uses one in ten.
 */
import { join } from 'node:path';
import { parseSync } from 'vite';

interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode);

/** The object and the name of a method that is called; null: the expression is none. */
const methodCall = (node: Node): { object: Node; name: string } | null => {
  const { type, callee } = node as Node & { callee?: Node & { object?: Node; property?: Node } };
  if (type !== 'CallExpression' || callee?.type !== 'MemberExpression' || !callee.object) return null;
  return { object: callee.object, name: String(callee.property?.['name']) };
};

/** Whether a call of `meta` says more than what the documents need. */
const isMark = ({ arguments: [given] }: Node & { arguments: Node[] }): boolean =>
  (given?.['properties'] as Node[] | undefined)?.some(
    ({ key }) => !['id', 'description'].includes(String((key as Node | undefined)?.['name'])),
  ) ?? true;

const makers = new Set(['extend', 'omit', 'partial', 'pick']);

/** Whether an expression begins at `z`, or derives a schema from another one. */
const isOfSchema = (node: Node): boolean => {
  if (node.type === 'MemberExpression') return isOfSchema(node['object'] as Node);
  const call = methodCall(node);
  return call === null ? node['name'] === 'z' : makers.has(call.name) || isOfSchema(call.object);
};
const isSchema = (node: Node): boolean => node.type === 'CallExpression' && isOfSchema(node);

/** In one line, so that the lines of the source map stay. */
const importOfLazy = `import { lazy as __lazy } from ${JSON.stringify(join(import.meta.dirname, 'lazy.ts'))}; `;

/** The source of a module, in TypeScript, with its schemas as described. */
export const withLazySchemas = (path: string, source: string): string => {
  const { program } = parseSync(path, source);
  const edits: { at: number; end: number; text: string }[] = [];
  const strip = (node: Node): void => {
    const call = methodCall(node);
    if (call?.name === 'describe' || (call?.name === 'meta' && !isMark(node as never))) {
      edits.push({ at: call.object.end, end: node.end, text: '' });
    }
    for (const child of childrenOf(node)) strip(child);
  };
  for (const statement of program.body as unknown as Node[]) {
    strip(statement);
    const declared =
      statement.type === 'ExportNamedDeclaration' ? (statement['declaration'] as Node | null) : statement;
    if (declared?.type !== 'VariableDeclaration') continue;
    for (const { init } of declared['declarations'] as { init: Node | null }[]) {
      if (init === null || !isSchema(init)) continue;
      edits.push(
        { at: init.start, end: init.start, text: '__lazy(() => ' },
        { at: init.end, end: init.end, text: ')' },
      );
    }
  }
  if (edits.length === 0) return source;
  // Equal places: what ends before what begins, as the outer call was met first.
  const ordered = edits.toSorted((a, b) => b.end - a.end || b.at - a.at);
  let text = source;
  for (const { at, end, text: replacement } of ordered) text = text.slice(0, at) + replacement + text.slice(end);
  return importOfLazy + text;
};
