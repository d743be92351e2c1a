/** Boxes agree although the network loses a share of what they tell each other. */
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test } from 'vitest';
import { lobbyWith } from '../content/samples.ts';
import { patience, titlesOf } from '../support/observe.ts';
import { postTo, secret, startSite } from './support.ts';

/** Has every other message between boxes lost, in turn the request and its answer, until the test ends. */
const loseMessages = () => {
  const { request } = http;
  const lost = { requests: 0, answers: 0 };
  let sent = 0;
  const put = (made: typeof request): void => {
    http.request = made;
    syncBuiltinESMExports();
  };
  put(((url: URL, options: http.RequestOptions) => {
    const made = request(url, options);
    const isMessage = /^\/api\/(onboarding$|peers\/(gossip|members|news|bindings))/.test(url.pathname);
    const lose = (): void => void made.destroy(Object.assign(new Error('lost'), { code: 'ECONNRESET' }));
    if (!isMessage || sent++ % 2 === 0) return made;
    if (lost.requests > lost.answers) {
      lost.answers += 1;
      made.prependOnceListener('response', lose);
    } else {
      lost.requests += 1;
      process.nextTick(lose);
    }
    return made;
  }) as typeof request);
  onTestFinished(() => put(request));
  return lost;
};

test('an edit, bindings and what boxes say of themselves reach all boxes while every other message is lost', {
  timeout: 60_000,
}, async () => {
  const boxes = await startSite({ env: { SIGNAGE_SHARED_SECRET: secret } }, 2);
  const [first, second] = boxes;
  const lost = loseMessages();
  for (let n = 0; n < 8; n++) {
    const body = { deviceId: `d${n}`, clientName: 'Desk', screenSlug: 'lobby' };
    expect((await postTo(boxes[n % boxes.length] ?? first, '/api/onboarding', body)).status).toBe(200);
  }
  second.writeContent(lobbyWith([{ kind: 'text', title: 'for all' }]));
  const bound = async (url: string): Promise<number> => {
    const answers = Array.from({ length: 8 }, (_, n) => fetch(`${url}/api/onboarding/status?deviceId=d${n}`));
    const told = await Promise.all(answers.map(async (each) => (await each).json()));
    return told.filter(({ onboarded }) => onboarded).length;
  };
  for (const box of boxes) {
    await expect.poll(() => titlesOf(box), patience).toEqual(['for all']);
    await expect.poll(() => bound(box.url), patience).toBe(8);
  }
  expect(lost.requests + lost.answers).toBeGreaterThan(3);
});
