/** Every operation, as everybody: each answer is the one of its record. */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { signAsPerson, signRequest } from '../../service/auth/sign.ts';
import type { FullRule, Operation } from '../../service/contract/operations/index.ts';
import { operations } from '../../service/contract/operations/index.ts';
import { rules, socketRules } from '../../service/contract/operations/rules.ts';
import { includesRole, type Role } from '../../service/contract/roles.ts';
import { lobby } from '../content/samples.ts';
import { createOperator, operatorSecret, pageCredentials, secretSettings } from '../support/operator.ts';
import { addPerson, localHeaders, type TestKey } from '../support/people.ts';
import { startTestService } from '../support/service.ts';

interface Caller {
  /** Null: no person. */
  role: Role | null;
  tags?: readonly string[];
  isDisabled?: true;
  isPage?: true;
  isSecret?: true;
  headers(method: string, path: string): Promise<Record<string, string>>;
}

/** The code with which a caller is refused before anything else; null: they are let in. */
const refusalFor = (
  { access, role: needed, scope }: FullRule,
  { role, tags, isDisabled, isPage, isSecret }: Caller,
) => {
  if (access === 'public') return null;
  if (isDisabled) return [401, 'key_unknown'];
  if (isPage) return access === 'signed' ? [403, 'signature_required'] : null;
  if (isSecret) return access === 'page' ? [401, 'credentials_required'] : null;
  if (role === null) return [401, 'credentials_required'];
  if (needed === 'secret') return [403, 'secret_required'];
  if (needed !== null && !includesRole(role, needed)) return [403, 'role_required'];
  return tags !== undefined && scope === 'refused' ? [403, 'out_of_scope'] : null;
};

const gates = ['credentials_required', 'key_unknown', 'signature_required', 'secret_required', 'role_required'];
const isRefusal = (status: number, code: string): boolean =>
  status === 401 || (status === 403 && gates.includes(code)) || code === 'person_required';

/** What a handler itself may refuse: an editor's medium, another person's key. */
const judges = new Set([
  ...['DELETE /api/media/:filename', 'POST /console/api/people/:id/keys', 'DELETE /console/api/people/:id/keys/:keyId'],
]);

const pathOf = (name: string): string => {
  const { examples = {} } = operations[name as keyof typeof operations] as Operation;
  const path = name.slice(name.indexOf(' ') + 1);
  return path.replace(/[:*](\w+)/g, (_, key: string) => encodeURIComponent(examples[key] ?? 'lobby'));
};

test('each operation lets in whom its record names, and refuses the others as its record says', {
  timeout: 60_000,
}, async () => {
  const box = await startTestService({ content: lobby, env: secretSettings(operatorSecret) });
  const admin = createOperator(box, operatorSecret);
  await addPerson(box, 'admin', { id: 'keeper' });
  const byKey = (key: TestKey) => (method: string, path: string) =>
    signAsPerson(key, { method, url: box.url + path, body: '', recipient: box.nodeId });
  const person = async (role: Role, more: Partial<Caller> & { tags?: string[] } = {}): Promise<Caller> => {
    const { key } = await addPerson(box, role, { tags: more.tags ?? [] });
    return { role, headers: byKey(key), ...more };
  };
  const disabled = await addPerson(box, 'admin', { id: 'gone' });
  await admin('DELETE', '/console/api/people/gone');
  const page = await pageCredentials(operatorSecret);
  const callers: Record<string, Caller> = {
    nobody: { role: null, headers: async () => ({}) },
    page: { role: null, isPage: true, headers: async () => page },
    viewer: await person('viewer'),
    editor: await person('editor'),
    publisher: await person('publisher'),
    'publisher with tags': await person('publisher', { tags: ['elsewhere'] }),
    admin: await person('admin'),
    secret: {
      role: null,
      isSecret: true,
      headers: async (method, path) =>
        signRequest({ secret: operatorSecret, method, url: box.url + path, body: '', recipient: box.nodeId }),
    },
    // The token is no signature.
    'the box itself': { role: null, headers: async () => localHeaders(box) },
    'a disabled person': { role: 'admin', isDisabled: true, headers: byKey(disabled.key) },
  };

  const wrong: unknown[] = [];
  for (const [name, rule] of Object.entries(rules)) {
    const [method = ''] = name.split(' ');
    const path = pathOf(name);
    for (const [who, caller] of Object.entries(callers)) {
      const response = await fetch(box.url + path, {
        method,
        redirect: 'manual',
        headers: await caller.headers(method, path),
      });
      const text = await response.text();
      const { status } = response;
      const code = /"code":"(\w+)"/.exec(text)?.[1] ?? '';
      const expected = refusalFor(rule, caller);
      if (expected !== null) {
        if (status !== expected[0] || code !== expected[1]) wrong.push([name, who, expected, status, code]);
        continue;
      }
      const isJudged = caller.tags !== undefined && rule.scope === 'judged' && code === 'out_of_scope';
      const isOwnJudgement = judges.has(name) && ['role_required', 'person_required'].includes(code);
      if (status >= 500 || (isRefusal(status, code) && !isJudged && !isOwnJudgement))
        wrong.push([name, who, 'let in', status, code]);
    }
  }
  expect(wrong).toEqual([]);

  for (const [path, rule] of Object.entries(socketRules)) {
    const target = `${path.replace(':slug', 'lobby')}?deviceId=d1`;
    for (const [who, caller] of Object.entries(callers)) {
      const socket = new WebSocket(box.url.replace('http', 'ws') + target, ['signage.v1'], {
        headers: await caller.headers('GET', target),
      });
      onTestFinished(() => socket.terminate());
      const status = await Promise.race([
        once(socket, 'open').then(() => 101),
        once(socket, 'unexpected-response').then(([, response]) => (response as { statusCode: number }).statusCode),
      ]);
      socket.on('error', () => undefined);
      expect([path, who, status]).toEqual([path, who, refusalFor(rule, caller)?.[0] ?? 101]);
      socket.terminate();
    }
  }
});

test('headers and bodies of boxes are refused to people', async () => {
  const box = await startTestService({ content: lobby, env: secretSettings(operatorSecret) });
  const { ask } = await addPerson(box, 'admin');
  const codeOf = async (headers: Record<string, string>) => {
    const response = await ask('POST', '/api/screens/lobby/commands', '{"command":"next"}', headers);
    return [response.status, (await response.json()).error?.code];
  };
  expect(await codeOf({ 'x-signage-relay': 'a' })).toEqual([403, 'secret_required']);
  expect(await codeOf({ 'x-signage-command-id': 'a' })).toEqual([401, 'signature_invalid']);
  expect(await codeOf({ 'Content-Type': 'application/jose' })).toEqual([403, 'secret_required']);
});
