/**
 * What runs in the thread that reads templates: liquidjs parses and analyses them. A bundle of its own, so that neither
 * the library nor a template that keeps it busy is in the service's own loop.
 */
import { parentPort } from 'node:worker_threads';
import { analyzeSync, Liquid, LiquidError, type Template, toValueSync, Value } from 'liquidjs';
import { templateFilters, templateLimits } from '../domain/template.ts';
import type { Reply } from '../platform/worker.ts';

/** A name that a template takes from outside: `content.items[0].price` is `['content', 'items', 0, 'price']`. */
export interface TemplateName {
  path: (string | number)[];
  /** From 1. */
  line: number;
}

/** What a template needs. */
export interface TemplateReading {
  names: TemplateName[];
  /** Names that it asks for with `if`, `unless`, `case` or `default`: they may be missing. */
  optional: TemplateName['path'][];
  /** Filters that it uses and that do not exist. */
  unknownFilters: string[];
  /** Those that do. */
  knownFilters: string[];
}

/** More different names than any template of people's has. */
const MOST_NAMES = 200;
/** The library goes through the text once more for the line of each name: characters times brackets, about a second. */
const MOST_ANALYSED = 100_000_000;

const CONDITIONS: readonly unknown[] = ['if', 'unless', 'case'];

type Arguments = ReturnType<NonNullable<Template['arguments']>>;
type Analysis = ReturnType<typeof analyzeSync>;

const engine = new Liquid({ ...templateLimits, templates: {} });
for (const name of templateFilters) engine.registerFilter(name, (value) => value);

/** Calls `visit` for every tag and output, however deep. */
const walk = (templates: readonly Template[], visit: (template: Template) => void): void => {
  for (const template of templates) {
    visit(template);
    if (template.children !== undefined) walk(toValueSync<Template[]>(template.children(false, true)), visit);
  }
};

/** Paths up to the first part that only rendering knows. */
const pathsOf = (variables: Analysis['globals']): TemplateName[] =>
  Object.values(variables)
    .flat()
    .map(({ segments, location }) => {
      const dynamic = segments.findIndex((segment) => typeof segment === 'object');
      const path = (dynamic === -1 ? segments : segments.slice(0, dynamic)) as TemplateName['path'];
      return { path, line: location.row };
    });

/** The first of each path. */
const distinct = (names: readonly TemplateName[]): TemplateName[] => {
  const first = new Map<string, TemplateName>();
  for (const name of names) {
    const key = JSON.stringify(name.path);
    if (!first.has(key)) first.set(key, name);
  }
  return [...first.values()];
};

const analyse = (templates: readonly Template[]): Analysis => analyzeSync([...templates], { partials: false });

const read = (source: string): TemplateReading => {
  const templates = engine.parse(source);
  const unknown = new Set<string>();
  const asked: Template[] = [];
  walk(templates, (template) => {
    const given: Arguments = template.arguments?.() ?? [];
    const isCondition = CONDITIONS.includes((template as { name?: unknown }).name);
    for (const argument of given) {
      const filters = argument instanceof Value ? argument.filters.map(({ name }) => name) : [];
      for (const name of filters) if (!Object.hasOwn(engine.filters, name)) unknown.add(name);
      if (isCondition || filters.includes('default')) asked.push({ ...template, arguments: () => [argument] });
    }
  });
  const isLong = source.length * source.split('{').length > MOST_ANALYSED;
  return {
    names: isLong ? [] : distinct(pathsOf(analyse(templates).globals)).slice(0, MOST_NAMES),
    optional: isLong ? [] : distinct(pathsOf(analyse(asked).globals)).map(({ path }) => path),
    unknownFilters: [...unknown],
    knownFilters: unknown.size === 0 ? [] : Object.keys(engine.filters),
  };
};

const answer = (source: string): Reply => {
  try {
    return { value: read(source) };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof RangeError || /call stack/i.test(message)) return { error: 'it is nested too deeply' };
    return { error: error instanceof LiquidError ? message : `it can't be read: ${message}` };
  }
};

parentPort?.on('message', (source: string) => parentPort?.postMessage(answer(source)));
