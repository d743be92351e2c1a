/** Holds every answer of a real service against resources/openapi.yaml. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

type Responses = Record<string, { content?: Record<string, unknown> }>;
interface Document {
  paths: Record<string, Record<string, { responses: Responses }>>;
}

const file = join(import.meta.dirname, '..', '..', 'resources', 'openapi.yaml');
const document = parse(readFileSync(file, 'utf8')) as Document;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, 'openapi');

const compiled = new Map<string, ValidateFunction>();
const validatorOf = (pointer: string[]): ValidateFunction => {
  const fragment = pointer
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const validate = compiled.get(fragment) ?? ajv.compile({ $ref: `openapi#/${fragment}` });
  compiled.set(fragment, validate);
  return validate;
};

const templates = Object.keys(document.paths).map((template) => ({
  template,
  pattern: new RegExp(`^${template.replace(/\{path\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** Any path can answer these, documented or not: there is nothing there, or not by this method. */
const general = [404, 405];

/** @throws Error where the answer is not one that the document knows */
export const checkAnswer = async (method: string, path: string, response: Response): Promise<void> => {
  const { status } = response;
  const [type = ''] = (response.headers.get('Content-Type') ?? '').split(';');
  if (type !== 'application/json' || status === 304) return;
  const pathname = path.split('?')[0] ?? '';
  const template = templates.find(({ pattern }) => pattern.test(pathname))?.template ?? '';
  const operation = method === 'HEAD' ? 'get' : method.toLowerCase();
  const known = document.paths[template]?.[operation]?.responses[status] !== undefined;
  if (!known && !general.includes(status))
    throw new Error(`${method} ${path} answers ${status}, which openapi.yaml does not know`);
  const pointer = known
    ? ['paths', template, operation, 'responses', String(status), 'content', type, 'schema']
    : ['components', 'schemas', 'Error'];
  const validate = validatorOf(pointer);
  const body: unknown = method === 'HEAD' ? null : await response.clone().json();
  if (body !== null && !validate(body)) {
    throw new Error(
      `${method} ${path} answers ${status}, but ${ajv.errorsText(validate.errors)}: ${JSON.stringify(body)}`,
    );
  }
};
