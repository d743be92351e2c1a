/** Requests for every operation of an OpenAPI document, and for what lies beside them. */
import fc from 'fast-check';
import { bodyOf, inTarget, oddHeaders, pooled } from './parts.ts';
import { hostileString, type Resolve, type Schema, valid } from './values.ts';

/** How a request says who sends it. */
export const credentials = [
  'none',
  'signed',
  'page',
  'wrong signature',
  'stale signature',
  'malformed signature',
  'wrong page token',
  'replayed signature',
] as const;
export type Credentials = (typeof credentials)[number];

export interface FuzzRequest {
  method: string;
  /** Path and query, as sent. */
  target: string;
  headers: Record<string, string>;
  body: Buffer | null;
  credentials: Credentials;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
  example?: string;
}

interface OperationObject {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

export interface OpenApi {
  paths: Record<string, Record<string, OperationObject>>;
}

const queryOf = (parameters: readonly Parameter[]): fc.Arbitrary<string> => {
  if (parameters.length === 0) return fc.constantFrom('', '', '', '?', '?x=1', '?__proto__=1', '?a[]=1&a[]=2');
  const each = parameters.map(({ name, schema }) =>
    fc
      .tuple(
        fc.integer({ min: 0, max: 11 }),
        inTarget(
          pooled(
            name,
            valid(schema, (same) => same),
          ),
        ),
        inTarget(hostileString),
      )
      .map(([how, value, bad]) => {
        if (how === 0) return [];
        if (how === 1) return [`${name}=${bad}`];
        if (how === 2) return [`${name}=${value}`, `${name}=${bad}`];
        if (how === 3) return [`${name}[]=${value}`];
        return [`${name}=${value}`];
      }),
  );
  return fc.tuple(...each).map((parts) => {
    const all = parts.flat();
    return all.length === 0 ? '' : `?${all.join('&')}`;
  });
};

const pathOf = (template: string, parameters: readonly Parameter[]): fc.Arbitrary<string> => {
  const values = parameters.map(({ name, schema }) =>
    fc.oneof(
      {
        weight: 9,
        arbitrary: inTarget(
          pooled(
            name,
            valid(schema, (same) => same),
          ),
        ),
      },
      { weight: 1, arbitrary: inTarget(hostileString) },
    ),
  );
  return fc.tuple(fc.integer({ min: 0, max: 60 }), ...values).map(([how, ...given]) => {
    const path = parameters.reduce((text, { name }, at) => text.replace(`{${name}}`, () => given[at] ?? ''), template);
    if (how === 0) return `${path}/`;
    if (how === 1) return path.replace('/', '//');
    if (how === 2) return `/x/..${path}`;
    if (how === 3) return path.toUpperCase();
    return path;
  });
};

const credentialsOf = (secret: boolean): fc.Arbitrary<Credentials> =>
  secret
    ? fc.oneof(
        { weight: 6, arbitrary: fc.constant<Credentials>('signed') },
        { weight: 3, arbitrary: fc.constant<Credentials>('page') },
        { weight: 3, arbitrary: fc.constantFrom(...credentials) },
      )
    : fc.oneof(
        { weight: 9, arbitrary: fc.constant<Credentials>('none') },
        { weight: 1, arbitrary: fc.constantFrom(...credentials) },
      );

const otherMethods = ['OPTIONS', 'PATCH', 'DELETE', 'PUT', 'POST', 'GET', 'TRACE', 'PROPFIND', 'PURGE'];

/** Requests for the operations of a document, all as likely. @param secret whether the service has one */
export const requestsOf = (document: OpenApi, resolve: Resolve, secret: boolean): fc.Arbitrary<FuzzRequest> => {
  const each = Object.entries(document.paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const of = (place: Parameter['in']) => (operation.parameters ?? []).filter((parameter) => parameter.in === place);
      const bodies = bodyOf(operation, resolve);
      return fc
        .tuple(
          fc.oneof(
            { weight: 30, arbitrary: fc.constant(method.toUpperCase()) },
            { weight: 1, arbitrary: fc.constantFrom(...otherMethods) },
          ),
          pathOf(template, of('path')),
          queryOf(of('query')),
          oddHeaders,
          bodies,
          credentialsOf(secret),
        )
        .map(
          ([verb, path, query, headers, { body, type }, who]): FuzzRequest => ({
            method: verb,
            target: `${path}${query}`.slice(0, 6_000) || '/',
            headers: { ...(type !== null && { 'content-type': type }), ...headers },
            body,
            credentials: who,
          }),
        );
    }),
  );
  return fc.oneof(...each);
};
