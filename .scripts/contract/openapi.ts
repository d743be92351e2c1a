/** The OpenAPI document of the whole interface, from the records of its operations. */
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiHeadersObject,
  type ZodOpenApiMediaTypeObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import packageJson from '../../package.json' with { type: 'json' };
import { errorBody } from '../../service/contract/error-body.ts';
import { type ErrorCode, errorTable, forSecretAlone } from '../../service/contract/errors.ts';
import {
  type Access,
  type Answer,
  areas,
  type FullRule,
  type Operation,
  ruleOf,
} from '../../service/contract/operations/index.ts';
import { isApiPath } from '../../service/http/answer.ts';
import { errorsOf } from './errors.ts';
import { description, tags } from './prose.ts';

const signed = { 'request-timestamp': [], 'request-signature': [] };
const page = { 'page-token': [] };
/** The empty alternative: without a secret everything is open. */
const security: Record<Access, Record<string, string[]>[]> = {
  public: [],
  signed: [{}, signed],
  'signed or page': [{}, signed, page],
  page: [{}, page],
};

const accessText: Record<Access, string> = {
  public: 'Public.',
  signed: 'With a secret: a signed request.',
  'signed or page': 'With a secret: a signed request or a page token.',
  page: 'With a secret: a page token.',
};

/** Who of the people may call an operation. */
const roleText = ({ role, scope }: Pick<FullRule, 'role' | 'scope'>): string => {
  if (role === null) return '';
  if (role === 'secret') return 'For boxes and programs with the secret, not for people.';
  const tags = { judged: '; people with tags within them', refused: '; not for people with tags' };
  return `Role: ${role}${scope === null ? '' : tags[scope]}.`;
};

const pascal = (text: string): string => text.replace(/(?:^|\W+|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

const errorHeaders: Record<number, ZodOpenApiHeadersObject> = {
  401: {
    'WWW-Authenticate': { description: 'Signage', required: true, schema: { type: 'string' } },
    'x-signage-clock': {
      description: "On signature_stale: the service's time, signed where the MAC is right (see Signed requests)",
      schema: { type: 'string' },
    },
  },
  405: { Allow: { description: 'The methods that the path takes', required: true, schema: { type: 'string' } } },
  416: { 'Content-Range': { description: 'Size of the file (RFC 9110, 14.4)', schema: { type: 'string' } } },
  429: { 'Retry-After': { description: 'Seconds', required: true, schema: { type: 'integer' } } },
};
/** Errors with `Retry-After`, besides those with status 429. */
const retried: readonly ErrorCode[] = ['stream_not_ready', 'media_not_ready'];

/** Errors that are JSON outside of the API, too. */
const coded: readonly ErrorCode[] = ['media_not_ready', 'trust_unavailable'];

const errorResponse = (status: number, codes: readonly ErrorCode[], isApi: boolean): ZodOpenApiResponseObject => {
  const fieldOf = (code: ErrorCode) => (/_field$/.test(code) ? { field: 'deviceId' } : {});
  const examples = codes.map((code) => {
    const message = status === 403 && code === 'secret_required' ? forSecretAlone : errorTable[code][1];
    return [code, { value: isApi ? { error: { code, message, ...fieldOf(code) } } : `${message}\n` }] as const;
  });
  const content = { schema: isApi ? errorBody : z.string(), examples: Object.fromEntries(examples) };
  const code = isApi ? undefined : codes.find((each) => coded.includes(each));
  const waits = codes.find((code) => retried.includes(code));
  const headers = waits
    ? { 'Retry-After': { description: `Seconds, on ${waits}`, schema: { type: 'integer' } as const } }
    : errorHeaders[status];
  return {
    description: `${STATUS_CODES[status]}: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    ...(headers && { headers }),
    content: {
      [isApi ? 'application/json' : 'text/plain']: content,
      ...(code && {
        'application/json': { schema: errorBody, example: { error: { code, message: errorTable[code][1] } } },
      }),
    },
  };
};

const headersOf = (headers: NonNullable<Answer['headers']>): z.ZodObject =>
  z.object(
    Object.fromEntries(
      Object.entries(headers).map(([name, { description, schema, required }]) => {
        const header = schema.meta({ header: { description } });
        return [name, required ? header : header.optional()];
      }),
    ),
  );

const contentOf = ({ content = {} }: Pick<Answer, 'content'>): Record<string, ZodOpenApiMediaTypeObject> =>
  Object.fromEntries(
    Object.entries(content).map(([type, { variant, ...body }]) => [
      type,
      { ...body, ...(variant && { 'x-variant': variant }) },
    ]),
  );

const answerOf = (answer: Answer, hasBody: boolean): ZodOpenApiResponseObject => ({
  description: answer.description,
  ...(answer.headers && { headers: headersOf(answer.headers) }),
  ...(hasBody && answer.content && { content: contentOf(answer) }),
});

/** Parameters with the values for which the example of the answer could be the answer. */
const withExamples = (schema: z.ZodObject, examples: Operation['examples'] = {}): z.ZodObject =>
  z.object(
    Object.fromEntries(
      Object.entries(schema.shape).map(([name, each]) => [
        name,
        examples[name] === undefined ? each : (each as z.ZodType).meta({ param: { example: examples[name] } }),
      ]),
    ),
  );

const parametersOf = ({ params, query, headers, examples }: Operation) => ({
  ...(params && { path: withExamples(params, examples) }),
  ...(query && { query: withExamples(query, examples) }),
  ...(headers && { header: withExamples(headers, examples) }),
});

const bodyOf = ({ body }: Operation): Pick<ZodOpenApiOperationObject, 'requestBody'> => {
  if (body === undefined) return {};
  const required = !Object.values(body).some(({ schema }) => schema.safeParse({}).success);
  return { requestBody: { required, content: contentOf({ content: body }) } };
};

const asGet = { description: 'The error that GET would answer with.' };
const headErrors = [
  ['4XX', asGet],
  ['5XX', asGet],
] as const;

export const createOpenApi = () => {
  const shared: Record<string, ZodOpenApiResponseObject> = {};
  const keys = new Map<string, string>();

  /** A reference to a response that many operations share, or the operation's own response. */
  const errorOf = (status: number, codes: readonly ErrorCode[], path: string, access: Access) => {
    const isApi = isApiPath(path);
    const byClass = [401, 403, 429, 503].includes(status) ? pascal(access) : '';
    const name = `${pascal(STATUS_CODES[status] ?? '')}${byClass}${isApi ? '' : 'Text'}`;
    const key = codes.join();
    // The first response of a status is the shared one; a missing root, which few operations know, would come first.
    const isRare = key === 'trust_unavailable';
    if (isRare || (keys.get(name) ?? key) !== key) return errorResponse(status, codes, isApi);
    keys.set(name, key);
    shared[name] ??= errorResponse(status, codes, isApi);
    return { $ref: `#/components/responses/${name}` };
  };

  const errorsAt = (method: string, path: string, operation: Operation) =>
    [...errorsOf(method, path, operation)].map(
      ([status, codes]) => [String(status), errorOf(status, codes, path, ruleOf(path, operation).access)] as const,
    );

  const operationOf = (tag: string, method: string, path: string, operation: Operation): ZodOpenApiOperationObject => {
    const { summary, answer } = operation;
    const rule = ruleOf(path, operation);
    const { access, role, isExtended } = rule;
    const isHead = method === 'HEAD';
    const answers = Object.entries(answer).map(([status, each]) => [status, answerOf(each, !isHead)] as const);
    return {
      tags: [tag],
      operationId: `${method.toLowerCase()}${path === '/' ? 'Root' : pascal(path)}`,
      summary: isHead ? `${summary} (headers alone)` : summary,
      description: [
        isHead ? 'Answers as GET does, without a body.' : operation.description,
        accessText[access],
        roleText(rule),
      ]
        .filter(Boolean)
        .join(' '),
      ...(isExtended && { 'x-variant': 'extended' }),
      ...(role !== null && { 'x-role': role }),
      security: security[access],
      requestParams: parametersOf(operation),
      ...bodyOf(operation),
      responses: Object.fromEntries([...(isHead ? headErrors : errorsAt(method, path, operation)), ...answers]),
    };
  };

  const paths: ZodOpenApiPathsObject = {};
  for (const [tag, operations] of Object.entries(areas)) {
    for (const [name, operation] of Object.entries<Operation>(operations)) {
      const [method = '', path = ''] = name.split(' ');
      const at = path.replace(/[:*](\w+)/g, '{$1}');
      paths[at] = {
        ...paths[at],
        [method.toLowerCase()]: operationOf(tag, method, path, operation),
        ...(method === 'GET' && { head: operationOf(tag, 'HEAD', path, operation) }),
      };
    }
  }

  return createDocument({
    openapi: '3.1.0',
    info: {
      title: packageJson.name,
      version: packageJson.version,
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: 'http://{host}:{port}',
        description: 'Any box of the site',
        variables: { host: { default: 'localhost' }, port: { default: '8080' } },
      },
    ],
    tags,
    paths,
    components: {
      responses: shared,
      securitySchemes: {
        'page-token': {
          type: 'apiKey',
          in: 'header',
          name: 'x-signage-page-auth',
          description: 'A JWT (HS256) that every page of the service is served with, and renews.',
        },
        'request-timestamp': {
          type: 'apiKey',
          in: 'header',
          name: 'x-signage-request-timestamp',
          description: 'Milliseconds since the epoch, 13 digits.',
        },
        'request-signature': {
          type: 'apiKey',
          in: 'header',
          name: 'x-signage-request-signature',
          description: 'As described under Signed requests.',
        },
      },
    },
  });
};
