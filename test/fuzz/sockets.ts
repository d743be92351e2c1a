/** Messages for the sockets of pages, from the AsyncAPI document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { socketProtocol, tokenProtocol } from '../../service/contract/socket.ts';
import { anyOfSchema, hostile, type Schema, valid } from './values.ts';

interface AsyncApi {
  channels: Record<string, { messages: Record<string, unknown> }>;
  operations: Record<string, { messages: { $ref: string }[] }>;
  components: { schemas: Record<string, Schema> };
}

const file = join(import.meta.dirname, '..', '..', 'resources', 'asyncapi.yaml');
const document = parse(readFileSync(file, 'utf8')) as AsyncApi;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, 'asyncapi');

const resolve = (schema: Schema): Schema => {
  const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
};

const namesOf = (operation: string): string[] =>
  (document.operations[operation]?.messages ?? []).map(({ $ref }) => $ref.split('/').at(-1) ?? '');

const schemaOf = (name: string): Schema => document.components.schemas[name] ?? {};

type Message = string | Buffer;

/** What a page sends in the life of one socket; most begin with a hello, as the document asks for. */
export const conversations: fc.Arbitrary<Message[]> = fc
  .tuple(
    fc.oneof(
      { weight: 8, arbitrary: valid(schemaOf('Hello'), resolve) },
      { weight: 2, arbitrary: anyOfSchema(schemaOf('Hello'), resolve) },
    ),
    fc.array(
      fc.oneof(
        ...namesOf('screens.receive').map((name) => ({
          weight: 3,
          arbitrary: anyOfSchema(schemaOf(name), resolve).map((value): Message => JSON.stringify(value)),
        })),
        { weight: 1, arbitrary: hostile.map((value): Message => JSON.stringify(value)) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 50 }).map((bytes): Message => Buffer.from(bytes)) },
        { weight: 1, arbitrary: fc.constantFrom<Message>('', '{', 'x'.repeat(70_000), '['.repeat(20_000)) },
      ),
      { maxLength: 12 },
    ),
  )
  .map(([hello, messages]) => [JSON.stringify(hello), ...messages]);

/** Close codes that blame the service (RFC 6455, 7.4.1). */
const serviceErrors = [1006, 1011];

/**
 * Holds a conversation on the socket of a page.
 * @returns what is wrong with the service's part of it
 */
export const converse = (url: string, token: string | null, messages: readonly Message[]): Promise<string[]> =>
  new Promise((done) => {
    const faults: string[] = [];
    const protocols = [socketProtocol, ...(token === null ? [] : [tokenProtocol + token])];
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/screens/lobby/socket`, protocols);
    const known = namesOf('screens.send');
    socket.on('message', (data) => {
      const text = String(data);
      const isKnown = known.some((name) =>
        ajv.validate({ $ref: `asyncapi#/components/schemas/${name}` }, JSON.parse(text)),
      );
      if (!isKnown) faults.push(`the service sends what asyncapi.yaml does not know: ${text}`);
    });
    socket.on('open', () => {
      for (const message of messages) socket.send(message);
      setTimeout(() => socket.close(1000), 50);
    });
    socket.on('error', (error) => faults.push(error.message));
    socket.on('close', (code) => {
      if (serviceErrors.includes(code)) faults.push(`the service closes with ${code}`);
      done(faults);
    });
  });
