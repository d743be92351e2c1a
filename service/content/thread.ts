/**
 * Worker thread that parses and analyses templates with liquidjs. A separate bundle: the main bundle does not load the
 * library, and a template that is slow to parse does not block the event loop of the service.
 */
import { parentPort } from 'node:worker_threads';
import { analyzeSync, Liquid, LiquidError, type Template, toValueSync, Value } from 'liquidjs';
import { templateFilters, templateLimits } from '../domain/template.ts';
import type { Reply } from '../platform/worker.ts';

/** A free variable of a template: `content.items[0].price` is `['content', 'items', 0, 'price']`. */
export interface TemplateName {
  path: (string | number)[];
  /** 1-based. */
  line: number;
}

export interface TemplateReading {
  names: TemplateName[];
  /** Names in `if`, `unless`, `case` or `default`: they may be missing. */
  optional: TemplateName['path'][];
  /** Used filters that do not exist. */
  unknownFilters: string[];
  /** All existing filters, for suggestions; empty if `unknownFilters` is. */
  knownFilters: string[];
}

/** More names than real templates have. */
const MAX_NAMES = 200;
/** Limit of characters times brackets, about one second: liquidjs scans the text again for the line of each name. */
const MAX_ANALYSIS_COST = 100_000_000;

const CONDITIONS: readonly unknown[] = ['if', 'unless', 'case'];

type Arguments = ReturnType<NonNullable<Template['arguments']>>;
type Analysis = ReturnType<typeof analyzeSync>;

const engine = new Liquid({ ...templateLimits, templates: {} });
for (const name of templateFilters) engine.registerFilter(name, (value) => value);

/** Calls `visit` for every tag and output, recursively. */
const walk = (templates: readonly Template[], visit: (template: Template) => void): void => {
  for (const template of templates) {
    visit(template);
    if (template.children !== undefined) walk(toValueSync<Template[]>(template.children(false, true)), visit);
  }
};

/** Paths, cut before the first part that is computed at render time. */
const pathsOf = (variables: Analysis['globals']): TemplateName[] =>
  Object.values(variables)
    .flat()
    .map(({ segments, location }) => {
      const dynamic = segments.findIndex((segment) => typeof segment === 'object');
      const path = (dynamic === -1 ? segments : segments.slice(0, dynamic)) as TemplateName['path'];
      return { path, line: location.row };
    });

/** The first occurrence of each path. */
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
  const conditional: Template[] = [];
  walk(templates, (template) => {
    const given: Arguments = template.arguments?.() ?? [];
    const isCondition = CONDITIONS.includes((template as { name?: unknown }).name);
    for (const argument of given) {
      const filters = argument instanceof Value ? argument.filters.map(({ name }) => name) : [];
      for (const name of filters) if (!Object.hasOwn(engine.filters, name)) unknown.add(name);
      if (isCondition || filters.includes('default')) conditional.push({ ...template, arguments: () => [argument] });
    }
  });
  const isTooLong = source.length * source.split('{').length > MAX_ANALYSIS_COST;
  return {
    names: isTooLong ? [] : distinct(pathsOf(analyse(templates).globals)).slice(0, MAX_NAMES),
    optional: isTooLong ? [] : distinct(pathsOf(analyse(conditional).globals)).map(({ path }) => path),
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
    return { error: error instanceof LiquidError ? message : `it cannot be parsed: ${message}` };
  }
};

parentPort?.on('message', (source: string) => parentPort?.postMessage(answer(source)));
