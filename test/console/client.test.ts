/** The console against a box whose answers are wrong, late, or without an end. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { createClient, createLimiter } from '../../renderer/console/api/client.ts';
import { createBoxClock } from '../../renderer/console/api/clock.ts';
import { Refusal, reasonOf, Unproven, Unreachable, Unreadable } from '../../renderer/console/api/errors.ts';
import type { PersonKey } from '../../renderer/console/api/person-key.ts';
import type { ConsoleTexts } from '../../renderer/console/texts/box.ts';
import { createFormat } from '../../renderer/console/texts/format.ts';
import { sha256Hex, signAnswer } from '../../service/auth/sign.ts';
import { errorTable } from '../../service/contract/errors.ts';
import {
  answerHeader,
  clockHeader,
  recipientHeader,
  signatureHeader,
  timestampHeader,
} from '../../service/domain/request-signature.ts';
import { itBrowser } from '../support/browser.ts';
import { startTestService } from '../support/service.ts';
import { openConsole } from './browser.ts';
import { signedIn } from './signed-in.ts';

/** A client of a box that answers with `bodyOf`, and the requests that are under way. */
const clientOf = (bodyOf: (signal: AbortSignal) => BodyInit | ReadableStream | null, secret: string | null = null) => {
  const session = signedIn(secret);
  const fetch = vi.fn(async (_: RequestInfo | URL, { signal }: RequestInit = {}) =>
    Promise.resolve(new Response(bodyOf(signal as AbortSignal))),
  );
  const told = (path: RequestInfo | URL, init?: RequestInit): Promise<Response> =>
    path === '/healthz' ? Promise.resolve(Response.json({ nodeId: 'node-1' })) : fetch(path, init);
  return { fetch, client: createClient({ session, clock: createBoxClock(), fetch: told, host: 'box' }) };
};

/** A body that begins, and never ends. */
const stalled = (signal: AbortSignal): ReadableStream =>
  new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('{"site":'));
      signal.addEventListener('abort', () => controller.error(signal.reason));
    },
  });

test('an answer that stalls in its middle is given up like one that never came, streamed or not', async () => {
  const { client } = clientOf(stalled);
  await expect(client.json('/console/api/site', { timeout: 50 })).rejects.toBeInstanceOf(Unreachable);
  const response = await client.stream('/console/api/plays', { timeout: 50 });
  await expect(response.text()).rejects.toThrow();
});

test('an answer that comes slowly is read as long as something comes, and for two minutes at most', async () => {
  const part = new TextEncoder().encode('1');
  const slow = (signal: AbortSignal, parts: number): ReadableStream =>
    new ReadableStream({
      pull: (controller) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => controller.error(signal.reason));
          setTimeout(() => {
            resolve();
            if (signal.aborted) return;
            if (parts-- > 0) controller.enqueue(part);
            else controller.close();
          }, 5_000);
        }),
    });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const whole = clientOf((signal) => slow(signal, 12)).client.json('/console/api/content');
  const endless = clientOf((signal) => slow(signal, 1_000)).client.json('/console/api/content');
  const given = expect(endless).rejects.toBeInstanceOf(Unreachable);
  await vi.advanceTimersByTimeAsync(125_000);
  expect(await whole).toBe(111_111_111_111);
  await given;
});

test('an answer without an end is not read beyond its limit', async () => {
  let sent = 0;
  const endless = (): ReadableStream =>
    new ReadableStream({
      pull: (controller) => {
        sent += 1024;
        controller.enqueue(new Uint8Array(1024));
      },
    });
  const { client } = clientOf(endless);
  await expect(client.request('/console/api/site', { limit: 10_240 })).rejects.toBeInstanceOf(Unreachable);
  expect(sent).toBeLessThan(20_000);
});

test('at most four requests are under way, and one that waits is signed when its turn comes', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const open: (() => void)[] = [];
  const held = (): ReadableStream =>
    new ReadableStream({
      start: (controller) => {
        open.push(() => {
          controller.enqueue(new TextEncoder().encode('{}'));
          controller.close();
        });
      },
    });
  const { client, fetch } = clientOf(held, 'a secret of this test');
  const answers = Promise.allSettled(Array.from({ length: 5 }, () => client.json('/console/api/site')));
  await vi.waitFor(() => expect(open).toHaveLength(4));
  vi.setSystemTime(Date.now() + 20_000);
  open.shift()?.();
  await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(5));
  const times = fetch.mock.calls.map(([, init]) => Number(new Headers(init?.headers).get(timestampHeader)));
  expect((times[4] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(20_000);
  for (const answer of open) answer();
  // Nothing proves the answers.
  for (const each of await answers) expect(each).toMatchObject({ reason: { name: 'Unproven' } });
});

/** A client of a box with the secret `secret` whose node ids are `ids`, one after the other, and what it was asked. */
const clientOfBox = (
  ids: string[],
  ahead: number,
  meddle: (response: Response) => Response = (response) => response,
  key: PersonKey | null = null,
) => {
  const secret = 'a secret of this test';
  const session = signedIn(secret, 'Zoë');
  if (key !== null) session.joined(key);
  const asked: Headers[] = [];
  const clock = String(Date.now() + ahead);
  const fetch = async (_: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (!headers.has(signatureHeader)) return Response.json({ nodeId: ids.length > 1 ? ids.shift() : ids[0] });
    asked.push(headers);
    const isMeant = headers.get(recipientHeader) === ids[0];
    const isFresh = Math.abs(Number(headers.get(timestampHeader)) - Number(clock)) < 30_000;
    const [status, code] = isFresh ? (isMeant ? [200, ''] : [421, 'misdirected']) : [401, 'signature_stale'];
    const body = JSON.stringify(code === '' ? { site: 'default' } : { error: { code, message: 'No.' } });
    const request = headers.get(signatureHeader) ?? '';
    const proof = signAnswer(secret, { request, status: Number(status), sha256: sha256Hex(body), clock });
    const answer = new Response(body, {
      status: Number(status),
      headers: { [answerHeader]: proof, [clockHeader]: clock },
    });
    return meddle(answer);
  };
  return { asked, session, fetch, client: createClient({ session, clock: createBoxClock(), fetch, host: 'box' }) };
};

test('a request names the box, and is sent once more by its clock, and to the box that is there by now', async () => {
  const { asked, client } = clientOfBox(['node-1', 'node-2'], 3_600_000);
  expect(await client.json('/console/api/site')).toEqual({ site: 'default' });
  expect(asked.map((headers) => headers.get(recipientHeader))).toEqual(['node-1', 'node-1', 'node-2']);
  expect(await client.json('/console/api/site')).toEqual({ site: 'default' });
  expect(asked).toHaveLength(4);
});

test.each([
  ['over https a key is used once more by the clock of the box', true],
  ['over http the clock of the box is shown, and what it refuses for that says by how much it differs', false],
])('%s', async (_, isHttps) => {
  const key: PersonKey = { keyId: '0'.repeat(32), name: 'Zoë', sign: () => Promise.resolve('S') };
  const { fetch, session } = clientOfBox(['node-1'], 600_000, undefined, key);
  const clock = createBoxClock();
  const client = createClient({ session, clock, fetch, host: 'box', isHttps: () => isHttps });
  const asked = await client.json('/console/api/site').catch((error: unknown) => error);
  expect(Math.round(clock.difference.value / 10_000)).toBe(60);
  expect(Math.round((clock.signingTime() - Date.now()) / 10_000)).toBe(isHttps ? 60 : 0);
  if (isHttps) return expect(asked).toEqual({ site: 'default' });
  expect(asked).toMatchObject({ code: 'signature_stale', clockOff: clock.difference.value });
  // The key is kept.
  expect(session.credential.value).toBe(key);
});

test('a change is signed by the clock of the box that it is for, and a refusal without proof does not repeat it', async () => {
  const { asked, client } = clientOfBox(['node-1'], 3_600_000);
  await client.json('/console/api/site', { method: 'PUT', body: {} });
  // The question for the time, refused and once more, and the change.
  const nonces = asked.map((headers) => /nonce=[^;]+/.exec(headers.get(signatureHeader) ?? '')?.[0]);
  expect(nonces).toHaveLength(3);
  expect([nonces[1], nonces[2] === nonces[0]]).toEqual([nonces[0], false]);
  const stale = clientOfBox(['node-1'], 3_600_000, ({ body, status }) => new Response(body, { status }));
  const change = stale.client.json('/console/api/site', { method: 'PUT', body: {} });
  await expect(change).rejects.toBeInstanceOf(Unproven);
  expect(stale.asked).toHaveLength(1);
});

test.each<[string, (response: Response) => Response]>([
  ['no proof', ({ body, status }) => new Response(body, { status })],
  ['another body', ({ status, headers }) => new Response('{}', { status, headers })],
  ['another status', ({ body, headers }) => new Response(body, { status: 404, headers })],
  [
    'a later clock',
    ({ body, headers }) =>
      new Response(body, { headers: { ...Object.fromEntries(headers), [clockHeader]: '1999999999999' } }),
  ],
])('an answer with %s is not used, and the secret is kept', async (_, meddle) => {
  const { client, session } = clientOfBox(['node-1'], 0, meddle);
  await expect(client.json('/console/api/site')).rejects.toBeInstanceOf(Unproven);
  expect(session.credential.value).not.toBeNull();
});

test('a change is not continued with a secret that comes after the box has forgotten the nonce of the first attempt', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { asked, client, session } = clientOfBox(['node-1'], 0, () =>
    Response.json({ error: { code: 'signature_invalid', message: 'No.' } }, { status: 401 }),
  );
  const change = client.json('/console/api/takeovers/fire', { method: 'DELETE' }).catch((error: unknown) => error);
  await vi.waitFor(() => expect(session.isAsking.value).toBe(true));
  const count = asked.length;
  vi.advanceTimersByTime(300_000);
  session.signIn('a secret of this test', 'Zoë');
  expect(await change).toMatchObject({ name: 'Unproven', mayHappen: true });
  expect(asked).toHaveLength(count);
});

test('the jobs of a limiter are run in their order, and the newest first where that is what is seen', async () => {
  const orderOf = async (first: 'newest' | 'oldest'): Promise<number[]> => {
    const limited = createLimiter(1, first);
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((job) => limited(async () => void order.push(job))));
    return order;
  };
  expect(await orderOf('oldest')).toEqual([1, 2, 3]);
  expect(await orderOf('newest')).toEqual([1, 3, 2]);
});

const refusal = (message: string, after: number | null = null): Refusal =>
  new Refusal(429, { code: 'too_many_requests', message }, after);
const errors = {
  tooMany: ({ seconds }: { seconds: number }) => `wrong, ${seconds} s`,
  refused: ({ reason }: { reason: string }) => `refused: ${reason}`,
  unreadable: 'unreadable',
  fault: 'fault',
} as unknown as ConsoleTexts['errors'];
test.each([
  [refusal(errorTable.too_many_requests[1], 7), 'wrong, 7 s'],
  [
    refusal('The site takes no more new takeovers for 20 s.', 20),
    'refused: The site takes no more new takeovers for 20 s.',
  ],
  [new Unreadable('NotFoundError'), 'unreadable'],
  [new Error('x'), 'fault'],
])('what went wrong is told: %s', (error, told) => {
  expect(reasonOf(error, { errors, ofBox: (sentence) => sentence })).toBe(told);
});

test.each(['Pacific/Kiritimati', 'UTC', 'Pacific/Pago_Pago'])('a date is the same day in %s', (timeZone) => {
  expect(createFormat('en-GB', timeZone).date('2026-11-23')).toBe('23 Nov 2026');
});

test('what is no time is a dash, and a sentence ends with one full stop', () => {
  const format = createFormat('de-AT', 'Europe/Vienna');
  for (const wrong of ['', 'yesterday', '+999999-01-01T00:00:00Z']) expect(format.when(wrong, 0)).toBe('–');
  expect([format.time(Number.NaN), format.moment(1e300)]).toEqual(['–', '–']);
  expect(['2026-11-23', '2026-02-30x', ''].map(format.date)).toEqual(['23. Nov. 2026', '–', '–']);
  expect(format.sentence(`Pause: ${format.duration(180_000)}`)).toBe('Pause: 3 Min.');
  expect(format.sentence('Pause: 3 Stunden')).toBe('Pause: 3 Stunden.');
});

itBrowser(
  'a page that cannot show what came says so, in the language of its reader, and the others go on',
  async () => {
    const service = await startTestService({ env: { SIGNAGE_HOST: '0.0.0.0' } });
    const { page, go } = await openConsole(service.url, { locale: 'de-DE' });
    await page.route('**/console/api/media', (route) => route.fulfill({ json: { media: 'none', used_bytes: null } }));
    await go('media');
    await page.getByText(/^Diese Seite kann nicht zeigen, was die Box geantwortet hat: /).waitFor();
    await page.unroute('**/console/api/media');
    await go('boxes');
    await page.getByRole('heading', { name: 'Boxen', level: 1 }).waitFor();
    await go('history/figures');
    await page.getByRole('heading', { name: 'Wiedergaben', level: 1 }).waitFor();
    expect(await page.getByRole('link', { name: 'Wiedergaben' }).getAttribute('aria-current')).toBe('page');
  },
);

itBrowser(
  'an upload whose answer has no end, or does not come, has failed, and may still have been taken',
  async () => {
    const service = await startTestService({ env: { SIGNAGE_HOST: '0.0.0.0' } });
    const { page, go } = await openConsole(service.url);
    await page.clock.install();
    await go('media');
    const failed = page.getByText('The box does not answer. What you asked for may still happen within 30 seconds.');
    const upload = (name: string) =>
      page.getByLabel('Upload').setInputFiles({ name, mimeType: 'image/png', buffer: Buffer.from(name) });
    await page.route('**/api/media/endless.png', (route) => route.fulfill({ body: 'x'.repeat(1_000_000) }));
    await upload('endless.png');
    await failed.waitFor();
    const asked = page.waitForRequest('**/api/media/silent.png');
    await page.route('**/api/media/silent.png', () => undefined);
    await upload('silent.png');
    await asked;
    await page.clock.fastForward(61_000);
    await failed.nth(1).waitFor();
  },
);
