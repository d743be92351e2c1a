/** Compares every answer of a real service with the OpenAPI document of its variant. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createOpenApi } from '../../.scripts/contract/openapi.ts';
import { documentOf } from '../../.scripts/contract/variant.ts';
import type { Variant } from '../../service/contract/terms.ts';
import { untranslated } from './sentences.ts';

interface MediaType {
  schema: object;
  examples?: Record<string, unknown>;
}

interface ResponseObject {
  headers?: Record<string, { required?: boolean }>;
  content?: Record<string, MediaType>;
}

interface OperationObject {
  responses: Record<string, ResponseObject | { $ref: string }>;
}

interface Document {
  paths: Record<string, Record<string, OperationObject>>;
  components: { responses: Record<string, ResponseObject> };
}

/** What a request can meet that is for no operation: nothing is at its path, or not by its method. */
const anywhere = [400, 403, 404, 405, 408, 417, 421, 431];

const open = (variant: Variant) => {
  // As `npm run openapi` writes it, which takes a quarter of the time that reading its YAML does.
  const whole = createOpenApi();
  const document = JSON.parse(JSON.stringify(variant === 'extended' ? whole : documentOf(whole, variant))) as Document;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false } });
  ajv.addSchema(document, variant);

  /** Answers that were right: a test that polls gets the same one again. */
  const right = new Set<string>();
  const compiled = new Map<string, ValidateFunction>();
  const validatorOf = (pointer: readonly string[]): ValidateFunction => {
    const fragment = pointer
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const validate = compiled.get(fragment) ?? ajv.compile({ $ref: `${variant}#/${fragment}` });
    compiled.set(fragment, validate);
    return validate;
  };

  const templates = Object.keys(document.paths)
    .map((template) => ({
      template,
      pattern: new RegExp(`^${template.replace(/\{path\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`),
      parameters: template.match(/\{/g)?.length ?? 0,
    }))
    .toSorted((one, other) => one.parameters - other.parameters);

  /** Where the document describes what is at a path; null: nowhere. */
  const find = (method: string, path: string) => {
    const pathname = path.split('?')[0] ?? '';
    const known = templates.filter(({ pattern }) => pattern.test(pathname));
    const match = known.find(({ template }) => document.paths[template]?.[method.toLowerCase()]) ?? known[0];
    return match === undefined ? null : { template: match.template, operations: document.paths[match.template] ?? {} };
  };

  /** @throws Error where the answer is not one that the document knows */
  const check = async (method: string, path: string, response: Response): Promise<void> => {
    const { status, headers } = response;
    const fail = (reason: string): never => {
      throw new Error(`${method} ${path} answers ${status}, but in the API document ${reason}`);
    };
    const place = find(method, path);
    const operation = place?.operations[method.toLowerCase()];
    const given = operation?.responses[status] ?? operation?.responses[`${String(status)[0]}XX`];
    if (given === undefined) {
      return operation === undefined && anywhere.includes(status) ? undefined : fail('there is no such status');
    }
    const pointer =
      '$ref' in given
        ? given.$ref.split('/').slice(1)
        : ['paths', place?.template ?? '', method.toLowerCase(), 'responses', String(status)];
    const described =
      '$ref' in given
        ? (document.components.responses[pointer.at(-1) ?? ''] ?? fail('its reference leads nowhere'))
        : given;

    for (const [header, { required }] of Object.entries(described.headers ?? {})) {
      const value = headers.get(header);
      if (value === null && required && method !== 'HEAD') fail(`it has a header ${header}`);
      if (value === null) continue;
      const validate = validatorOf([...pointer, 'headers', header, 'schema']);
      const typed = /^\d+$/.test(value) && !validate(value) ? Number(value) : value;
      if (!validate(typed)) fail(`the header ${header} ${ajv.errorsText(validate.errors)}: ${value}`);
    }
    if (method === 'HEAD') return;
    const { content } = described;
    if (content === undefined) {
      if ((await response.clone().text()) !== '') fail('it has no body');
      return;
    }
    const [type = ''] = (headers.get('Content-Type') ?? '').split(';');
    const kind = [type, '*/*'].find((each) => content[each] !== undefined) ?? fail(`it is not of type ${type}`);
    if (kind !== 'application/json') return;
    const text = await response.clone().text();
    const answer = `${pointer.join('/')} ${text}`;
    if (right.has(answer)) return;
    const body = JSON.parse(text) as { error?: { code: string } };
    const validate = validatorOf([...pointer, 'content', kind, 'schema']);
    if (!validate(body)) fail(`${ajv.errorsText(validate.errors)}: ${JSON.stringify(body)}`);
    const [sentence] = untranslated(body);
    if (sentence !== undefined) fail(`renderer/texts/en.json has no such sentence in "box": ${sentence}`);
    const codes = content[kind]?.examples;
    if (body.error && codes && !Object.hasOwn(codes, body.error.code)) fail(`there is no code ${body.error.code} here`);
    if (right.size >= 1_000) right.clear();
    right.add(answer);
  };
  return check;
};

const checks: Partial<Record<Variant, ReturnType<typeof open>>> = {};

/**
 * The check of the answers of a variant, which throws where its document does not know one. The first call of a process makes
 * the document: a second on a busy machine, in which a service in the same process answers nobody.
 */
export const answerCheckOf = (variant: Variant): ReturnType<typeof open> => (checks[variant] ??= open(variant));
