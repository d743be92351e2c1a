import { z } from 'zod';
import { CodedError } from './errors.ts';

const kindNames: Partial<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const unitOf: Partial<Record<string, string>> = { string: 'characters', array: 'entries' };
const sizeOf = (origin: string, bound: string): string =>
  unitOf[origin] === undefined ? `be ${bound}` : `have ${bound} ${unitOf[origin]}`;

/** What an invalid value must be, for a person. A rule with a text of its own says it itself. */
const ruleOf = (issue: z.core.$ZodIssue): string => {
  if (!/^(Invalid|Too|Unrecognized)\b/.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `it must be ${kindNames[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `it must ${sizeOf(issue.origin, `at least ${issue.minimum}`)}`;
    case 'too_big':
      return `it must ${sizeOf(issue.origin, `at most ${issue.maximum}`)}`;
    case 'invalid_value':
      return `it must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'invalid_format':
      return issue.format === 'datetime' ? 'it must be a time such as 2026-01-31T08:00:00.000Z' : 'it has another form';
    case 'unrecognized_keys':
      return `it has no ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
      return 'it has another form';
  }
};

const tooManyMistakes =
  'there are more mistakes than can be counted: mend first the one that most of the records have in common';

/** As `safeParse` of the schema. Zod collects mistakes on the stack: a value with more than fit there has this one. */
export const tryParse = <Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  params?: z.core.ParseContext<z.core.$ZodIssue>,
): z.ZodSafeParseResult<z.output<Schema>> => {
  try {
    return schema.safeParse(given, params);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return z.custom<z.output<Schema>>(() => false, tooManyMistakes).safeParse(given);
  }
};

/**
 * Parses the fields of a body or a query by the schema.
 * @throws CodedError `missing_field` or `invalid_field`, for the first invalid field
 */
export const readFields = <Schema extends z.ZodType>(
  schema: Schema,
  given: Readonly<Record<string, unknown>>,
): z.output<Schema> => {
  const result = tryParse(schema, given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue?.message === tooManyMistakes) throw new CodedError('invalid_field', `${tooManyMistakes}.`, { field: '' });
  const field = String(issue?.path[0] ?? '');
  if (given[field] == null) throw new CodedError('missing_field', `${field} is missing.`, { field });
  throw new CodedError('invalid_field', `${field} is not valid: ${issue === undefined ? '' : ruleOf(issue)}.`, {
    field,
  });
};
