import { Liquid } from 'liquidjs';
import { templateLimits } from '../../../service/domain/template.ts';
import { createFilters } from './filters.ts';

/** What a template is rendered with. */
export type Scope = Readonly<Record<string, unknown>>;

interface TemplateOptions {
  /** IANA name of the zone that dates are told in. */
  timeZone: string;
  /** BCP 47 tag of the language that numbers and dates are told in. */
  locale: string;
}

/** Liquid's errors say what and where, in a first line, and then quote the template. */
const attempt = <T>(what: string, act: () => T): T => {
  try {
    return act();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message.split('\n')[0]}`, { cause: error });
  }
};

/**
 * Compiles a Liquid template. Every value that it prints is escaped, it reaches nothing but its scope, and it can
 * include nothing. Throws where the template is not Liquid; the function it gives throws where rendering fails or
 * goes past the limits.
 */
export const compile = (source: string, { timeZone, locale }: TemplateOptions): ((scope: Scope) => string) => {
  const engine = new Liquid({
    ...templateLimits,
    templates: {},
    outputEscape: 'escape',
    ownPropertyOnly: true,
    timezoneOffset: timeZone,
    locale,
  });
  for (const [name, filter] of Object.entries(createFilters({ locale, timeZone }))) engine.registerFilter(name, filter);
  const parsed = attempt("the template can't be read", () => engine.parse(source));
  return (scope) => attempt('the template failed', () => String(engine.renderSync(parsed, scope)));
};
