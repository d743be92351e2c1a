/** Who may use the console's API, and where it is not offered. */
import { signal } from '@preact/signals';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Unreachable } from '../../renderer/console/api/errors.ts';
import type { Credential } from '../../renderer/console/api/session.ts';
import { createAccess } from '../../renderer/console/stores/access.ts';
import { operations } from '../../service/contract/operations/index.ts';
import { lobby } from '../content/samples.ts';
import {
  createOperator,
  operatorSecret,
  pageCredentials,
  refusalOf,
  secretSettings,
  withAndWithoutSecret,
} from '../support/operator.ts';
import { startTestService } from '../support/service.ts';

/** Every operation under `/console/api`, with something in place of its parameters. */
const everyOperation = Object.keys(operations)
  .filter((name) => name.includes(' /console/api/'))
  .map((name) => name.replace(/:\w+/g, 'x').split(' ') as [method: string, path: string]);

test('with a secret every operation needs a signed request, and a page token is not enough', async () => {
  const service = await startTestService({ content: lobby, env: { SIGNAGE_SHARED_SECRET: operatorSecret } });
  const anyone = createOperator(service, null);
  const page = await pageCredentials(operatorSecret);
  expect(everyOperation.length).toBeGreaterThan(3);
  // Joining and signing in need no key: an invitation or the provider proves who it is.
  const keyless = ['/console/api/join', '/console/api/oidc', '/console/api/oidc/x'];
  const signedOnes = everyOperation.filter(([, path]) => !keyless.includes(path));
  for (const [method, path] of signedOnes) {
    expect([path, ...(await refusalOf(await anyone(method, path)))]).toEqual([path, 401, 'credentials_required']);
    expect([path, ...(await refusalOf(await anyone(method, path, undefined, page)))]).toEqual([
      ...[path, 403, 'signature_required'],
    ]);
  }
});

test.each(
  withAndWithoutSecret.flatMap(([which, secret]) => [
    ['SIGNAGE_CONSOLE=off', which, { ...secretSettings(secret), SIGNAGE_CONSOLE: 'off' }] as const,
    ['the baseline variant', which, { ...secretSettings(secret), SIGNAGE_VARIANT: 'baseline' }] as const,
  ]),
)('with %s there is no console, %s', async (_, __, env) => {
  const service = await startTestService({ content: lobby, env });
  expect((await fetch(`${service.url}/console`)).status).toBe(404);
  for (const [method, path] of everyOperation) {
    const response = await fetch(service.url + path, { method });
    expect([path, ...(await refusalOf(response))]).toEqual([path, 404, 'not_found']);
  }
});

test.each(withAndWithoutSecret)('a page of another origin can change nothing, %s', async (_, secret) => {
  const service = await startTestService({ content: lobby, env: secretSettings(secret) });
  const headers = { Origin: 'http://example.com', 'If-Match': '*' };
  const response = await createOperator(service, secret)('PUT', '/console/api/content', lobby, headers);
  expect(await refusalOf(response)).toEqual([403, 'origin_refused']);
});

test('the role of a person is asked for again soon until the box has told it, then now and then', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const eve = { person: { id: 'eve', name: 'Eve' }, role: 'editor', tags: [] };
  const json = vi.fn().mockRejectedValueOnce(new Unreachable('No answer came.')).mockResolvedValue(eve);
  const credential = signal<Credential | null>('secret');
  const access = createAccess({ json }, { credential }, { hidden: false } as Document);
  expect([access.isKnown.value, access.me.value.role]).toEqual([true, 'admin']);
  credential.value = { keyId: 'k1' } as Credential;
  for (const [ms, asked, isKnown, role] of [
    [1_000, 1, false, 'viewer'],
    [1_000, 2, true, 'editor'],
    [14_000, 2, true, 'editor'],
    [1_000, 3, true, 'editor'],
  ] as const) {
    await vi.advanceTimersByTimeAsync(ms);
    expect([json.mock.calls.length, access.isKnown.value, access.me.value.role]).toEqual([asked, isKnown, role]);
  }
  credential.value = null;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([json.mock.calls.length, access.isKnown.value]).toEqual([3, true]);
});
