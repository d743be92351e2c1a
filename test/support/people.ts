/** People with keys of their own, as the console and the command line make them. */
import { createHmac, generateKeyPairSync, hkdfSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { keyIdOf } from '../../service/auth/person-keys.ts';
import { signAsPerson } from '../../service/auth/sign.ts';
import type { Role } from '../../service/contract/roles.ts';
import { joinInfo, joinText } from '../../service/domain/joining.ts';
import type { PersonSigner } from '../../service/domain/request-signature.ts';
import { type Ask, createOperator, operatorSecret } from './operator.ts';
import type { TestService } from './service.ts';

export interface TestKey extends PersonSigner {
  publicKey: string;
  privateKey: KeyObject;
}

export const makeKey = (): TestKey => {
  const { privateKey, publicKey: key } = generateKeyPairSync('ed25519');
  const publicKey = String(key.export({ format: 'jwk' }).x);
  return {
    keyId: keyIdOf(publicKey),
    publicKey,
    privateKey,
    sign: (bytes) => sign(null, Buffer.from(bytes, 'latin1'), privateKey).toString('base64url'),
  };
};

/** Sends requests that are signed with the key of a person. */
export const createPerson =
  (
    { url, get, nodeId }: Pick<TestService, 'url' | 'get' | 'nodeId'>,
    key: PersonSigner,
    now: () => number = Date.now,
  ): Ask =>
  async (method, path, given, headers = {}) => {
    const isReady = given === undefined || typeof given === 'string' || given instanceof Uint8Array;
    const body = isReady ? (given as string | Uint8Array<ArrayBuffer> | undefined) : JSON.stringify(given);
    const sent = { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers };
    const signable = { method, url: url + path, body: body ?? '', headers: sent, recipient: nodeId, now: now() };
    const signed = await signAsPerson(key, signable);
    return get(path, { method, headers: { ...signed, ...sent }, ...(body !== undefined && { body }) });
  };

/** Begins a request of a person, whose body is sent later. @returns sends it; resolves with status and code of the answer */
export const holdBody = async (
  { url, nodeId }: Pick<TestService, 'url' | 'nodeId'>,
  key: PersonSigner,
  [method, path, given]: readonly [method: string, path: string, body: object],
): Promise<() => Promise<[status: number, code: string | undefined]>> => {
  const body = JSON.stringify(given);
  const signed = await signAsPerson(key, { method, url: url + path, body, recipient: nodeId });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const sent = request(url + path, { method, headers: { ...signed, ...headers, Expect: '100-continue' } });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.flushHeaders();
  await once(sent, 'continue');
  return async () => {
    sent.end(body);
    const [response] = await answered;
    const answer = (await json(response)) as { error?: { code: string } };
    return [response.statusCode ?? 0, answer.error?.code];
  };
};

/** The header that proves that a request comes from the box itself. */
export const localHeaders = ({ dataDir }: Pick<TestService, 'dataDir'>): Record<string, string> => ({
  'x-signage-local': readFileSync(join(dataDir, 'local-token'), 'utf8').trim(),
});

export const proofOf = (code: string, person: string, publicKey: string, device: string): string =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', code, '', joinInfo, 32)))
    .update(joinText(person, publicKey, device))
    .digest('hex');

export const invite = async (
  box: TestService,
  id: string,
  secret = operatorSecret,
  now: () => number = Date.now,
): Promise<string> => {
  const ask = createOperator(box, secret, now);
  const answer = await ask('POST', `/console/api/people/${id}/invitations`, undefined, localHeaders(box));
  return ((await answer.json()) as { code: string }).code;
};

export const joinWith = (
  box: TestService,
  code: string,
  person: string,
  key: TestKey,
  device = 'phone',
): Promise<Response> =>
  box.post('/console/api/join', {
    person,
    public_key: key.publicKey,
    device,
    proof: proofOf(code, person, key.publicKey, device),
  });

export interface TestPerson {
  key: TestKey;
  ask: Ask;
}

/** Makes a person, who joins with a key. */
export const addPerson = async (
  box: TestService,
  role: Role,
  given: { id?: string; tags?: string[]; name?: string; secret?: string; now?: () => number } = {},
): Promise<TestPerson & { id: string }> => {
  const { id = `p-${randomBytes(4).toString('hex')}`, tags = [], secret = operatorSecret } = given;
  const { name = id, now = Date.now } = given;
  const ask = createOperator(box, secret, now);
  const made = await ask('PUT', `/console/api/people/${id}`, { name, role, tags });
  if (!made.ok) throw new Error(await made.text());
  const key = makeKey();
  const joined = await joinWith(box, await invite(box, id, secret, now), id, key);
  if (joined.status !== 201) throw new Error(await joined.text());
  return { id, key, ask: createPerson(box, key, now) };
};
