import { Liquid } from 'liquidjs';
import { templateLimits } from '../../../service/domain/template.ts';
import { createFilters } from './filters.ts';

/** The values for a template. */
export type Scope = Readonly<Record<string, unknown>>;

interface TemplateOptions {
  /** IANA name of the time zone of dates. */
  timeZone: string;
  /** BCP 47 tag of the language of numbers and dates. */
  locale: string;
}

/** The first line of a Liquid error has the cause and the position; the rest quotes the template. */
const attempt = <T>(what: string, act: () => T): T => {
  try {
    return act();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message.split('\n')[0]}`, { cause: error });
  }
};

/**
 * Compiles a Liquid template. Printed values are escaped; the template reads nothing but its scope, and can
 * include no files. Throws on a syntax error; the returned function throws if rendering fails or
 * exceeds the limits.
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
  const parsed = attempt('the template cannot be read', () => engine.parse(source));
  return (scope) => attempt('the template failed', () => String(engine.renderSync(parsed, scope)));
};
