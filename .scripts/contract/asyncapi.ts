/** The AsyncAPI document of the pages' sockets, from their records. */
import type { z } from 'zod';
import { createDocument } from 'zod-openapi';
import packageJson from '../../package.json' with { type: 'json' };
import { ruleOf, type SocketOperation, sockets } from '../../service/contract/operations/index.ts';
import { errorsOf } from './errors.ts';
import type { Node } from './variant.ts';

type Direction = 'receives' | 'sends';

const idOf = (schema: z.ZodType): string => String(schema.meta()?.['id']);
const typeOf = (example: unknown): string => (example as { type: string }).type;

/** The schemas of all messages, as JSON Schema under `components`: AsyncAPI 3 refers to them as OpenAPI 3.1 does. */
const schemasOf = (records: readonly SocketOperation[]): Node => {
  const contents = (direction: Direction) =>
    Object.fromEntries(
      records
        .flatMap((record) => record[direction])
        .map(({ schema }) => [`application/${idOf(schema)}`, { schema }] as const),
    );
  const { components } = createDocument({
    openapi: '3.1.0',
    info: { title: '', version: '' },
    paths: {
      '/': {
        post: {
          requestBody: { content: contents('receives') },
          responses: { 200: { description: '', content: contents('sends') } },
        },
      },
    },
  });
  return components?.schemas ?? {};
};

const parametersOf = ({ params }: SocketOperation) =>
  params && {
    parameters: Object.fromEntries(
      Object.keys(params.shape).map((name) => [name, { description: 'Slug of the screen.' }]),
    ),
  };

const queryOf = ({ query }: SocketOperation) =>
  query && {
    bindings: {
      ws: {
        method: 'GET',
        query: {
          type: 'object',
          required: Object.keys(query.shape),
          properties: Object.fromEntries(Object.keys(query.shape).map((name) => [name, { type: 'string' }])),
        },
      },
    },
  };

/** `/api/screens/:slug/socket` is `screens`, `/api/onboarding/socket` is `onboarding`. */
const nameOf = (path: string): string => path.split('/')[2] ?? '';

/** The upgrade is a GET that is refused to other origins. */
const refusalsOf = (path: string, record: SocketOperation): string => {
  const codes = [...errorsOf('GET', path, { ...record, acts: true, answer: {} })];
  const texts = codes.flatMap(([status, of]) => of.map((code) => `${status} \`${code}\``));
  return `An upgrade is refused as a request is, with the error body that openapi.yaml describes: ${texts.join(', ')}.`;
};

const channelOf = (path: string, record: SocketOperation) => ({
  address: path.replace(/:(\w+)/g, '{$1}'),
  title: record.summary,
  description: `${record.description}\n\n${refusalsOf(path, record)}`,
  ...(ruleOf(path, record).isExtended && { 'x-variant': 'extended' }),
  messages: Object.fromEntries(
    [...record.receives, ...record.sends].map(({ schema }) => [
      idOf(schema),
      { $ref: `#/components/messages/${idOf(schema)}` },
    ]),
  ),
  ...parametersOf(record),
  ...queryOf(record),
});

const operationsOf = (path: string, record: SocketOperation) => {
  const channel = nameOf(path);
  const operation = (direction: Direction, action: 'receive' | 'send', title: string) =>
    record[direction].length === 0
      ? []
      : [
          [
            `${channel}.${action}`,
            {
              action,
              title,
              channel: { $ref: `#/channels/${channel}` },
              security: ['page-token', 'request-signature'].map((name) => ({
                $ref: `#/components/securitySchemes/${name}`,
              })),
              messages: record[direction].map(({ schema }) => ({
                $ref: `#/channels/${channel}/messages/${idOf(schema)}`,
              })),
            },
          ],
        ];
  return [
    ...operation('receives', 'receive', 'What the page sends to the service'),
    ...operation('sends', 'send', 'What the service sends to the page'),
  ];
};

export const createAsyncApi = () => {
  const records = Object.entries<SocketOperation>(sockets);
  const messages = records.flatMap(([, { receives, sends }]) => [...receives, ...sends]);
  return {
    asyncapi: '3.0.0',
    info: {
      title: `${packageJson.name}: sockets of the pages`,
      version: packageJson.version,
      description: 'HTTP operations, errors, variants and signed requests are described in `openapi.yaml`.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    defaultContentType: 'application/json',
    servers: {
      box: {
        host: '{host}:{port}',
        protocol: 'ws',
        description: 'Any box of the site',
        variables: { host: { default: 'localhost' }, port: { default: '8080' } },
      },
    },
    channels: Object.fromEntries(records.map(([path, record]) => [nameOf(path), channelOf(path, record)])),
    operations: Object.fromEntries(records.flatMap(([path, record]) => operationsOf(path, record))),
    components: {
      messages: Object.fromEntries(
        messages.map(({ schema, example }) => [
          idOf(schema),
          {
            name: typeOf(example),
            title: idOf(schema),
            summary: String(schema.meta()?.description),
            payload: { $ref: `#/components/schemas/${idOf(schema)}` },
            examples: [{ payload: example }],
          },
        ]),
      ),
      schemas: schemasOf(records.map(([, record]) => record)),
      securitySchemes: {
        'page-token': {
          type: 'httpApiKey',
          in: 'header',
          name: 'sec-websocket-protocol',
          description: 'With a secret: the page token as a second subprotocol, `token.TOKEN`.',
        },
        'request-signature': {
          type: 'httpApiKey',
          in: 'header',
          name: 'x-signage-request-signature',
          description: 'With a secret: a signed upgrade request, as openapi.yaml describes it.',
        },
      },
    },
  };
};
