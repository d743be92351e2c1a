/** Short content travels with the news of it, where boxes have a secret. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { lobbyWith } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import type { TestService } from '../support/service.ts';
import { walks } from '../support/soak.ts';
import { secret, startSite } from './support.ts';

/** Collects the requests that the boxes in this process get from now on. */
const collectRequests = (): string[] => {
  const requests: string[] = [];
  const onRequest = (message: unknown): void => {
    const { method, url } = (message as { request: IncomingMessage }).request;
    requests.push(`${method} ${url?.split('?')[0]}`);
  };
  subscribe('http.server.request.start', onRequest);
  onTestFinished(() => void unsubscribe('http.server.request.start', onRequest));
  return requests;
};

const long = 'Much to read. '.repeat(2_000);

const contentOf = async (box: TestService): Promise<string | undefined> =>
  ((await (await box.get('/healthz')).json()) as Health).replication.content?.sha256;

type Row = [title: string, env: Record<string, string>, body: string, isFetched: boolean];

test.each<Row>([
  ['short content is sent with the news of it', { SIGNAGE_SHARED_SECRET: secret }, 'Short', false],
  ['long content is fetched', { SIGNAGE_SHARED_SECRET: secret }, long, true],
  ...walks<Row>(['without a secret even short content is fetched from the box that has it', {}, 'Short', true]),
])('%s', { timeout: 60_000 }, async (_, env, body, isFetched) => {
  const boxes = await startSite({ env, content: lobbyWith([{ kind: 'text', title: 'Before' }]) }, 1);
  const versions = async () => [...new Set(await Promise.all(boxes.map(contentOf)))];
  await expect.poll(async () => (await versions()).length, patience).toBe(1);
  let edits = 0;
  const fetchesOfAnEdit = async (): Promise<boolean> => {
    const before = await versions();
    const requests = collectRequests();
    boxes[0].writeContent(lobbyWith([{ kind: 'text', title: `Edit ${++edits}`, body }]));
    await expect.poll(contentOf.bind(null, boxes[0]), patience).not.toBe(before[0]);
    await expect.poll(async () => (await versions()).length, patience).toBe(1);
    return requests.includes('GET /api/peers/content');
  };
  const fetched: boolean[] = [];
  for (let n = 0; n < (isFetched ? 3 : 5); n++) fetched.push(await fetchesOfAnEdit());
  // A box that happens to compare with another one during an edit fetches what is carried, too.
  expect(fetched.filter(Boolean).length).toSatisfy((count: number) => (isFetched ? count === 3 : count <= 1));
});
