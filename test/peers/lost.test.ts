/** Boxes agree although the network loses a share of what they tell each other. */
import type * as Http from 'node:http';
import { expect, test, vi } from 'vitest';
import { lobbyWith } from '../content/samples.ts';
import { patience, titlesOf } from '../support/observe.ts';
import { postTo, secret, startSite } from './support.ts';

const loss = vi.hoisted(() => ({ isOn: false, sent: 0, there: 0, back: 0 }));

vi.mock('node:http', async (original) => {
  const http = await original<typeof Http>();
  const request = (url: URL, options: Http.RequestOptions): Http.ClientRequest => {
    const made = http.request(url, options);
    const isTold = /^\/api\/(onboarding$|peers\/(gossip|members|news|bindings))/.test(url.pathname);
    const lose = (): void => void made.destroy(Object.assign(new Error('lost'), { code: 'ECONNRESET' }));
    if (!loss.isOn || !isTold || loss.sent++ % 2 === 0) return made;
    // In turn the request is lost, or its answer.
    if (loss.there > loss.back) {
      loss.back += 1;
      made.prependOnceListener('response', lose);
    } else {
      loss.there += 1;
      process.nextTick(lose);
    }
    return made;
  };
  return { ...http, request };
});

test('an edit, bindings and what boxes say of themselves reach all boxes while every other message is lost', {
  timeout: 60_000,
}, async () => {
  const boxes = await startSite({ env: { SIGNAGE_SHARED_SECRET: secret } }, 2);
  const [first, second] = boxes;
  loss.isOn = true;
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
  expect(loss.there + loss.back).toBeGreaterThan(3);
});
