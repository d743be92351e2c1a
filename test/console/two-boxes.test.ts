/** People who publish on two boxes at once. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { ContentVersions, PublishedContent } from '../../service/contract/console/content.ts';
import { signage } from '../cli/support.ts';
import { lobbyWith } from '../content/samples.ts';
import { listenOn, startBox, startSite } from '../peers/support.ts';
import { isSkipped } from '../support/browser.ts';
import { healthOf, patience, titlesOf } from '../support/observe.ts';
import { createOperator, secretSettings, withAndWithoutSecret } from '../support/operator.ts';
import type { TestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { openConsole } from './browser.ts';

const path = '/console/api/content';
const titled = (title: string) => lobbyWith([{ kind: 'text', title }]);

/** Two boxes; of edits of the same moment that of the second wins, because its id is the greater one. */
const startOrdered = async (env: Record<string, string> = {}): Promise<[TestService, TestService]> => {
  const [one, other] = await startSite({ env });
  const [id, otherId] = [(await healthOf(one)).nodeId, (await healthOf(other)).nodeId];
  return id < otherId ? [one, other] : [other, one];
};

type Secret = string | null;

const etagAt = async (box: TestService, secret: Secret = null): Promise<string> =>
  (await createOperator(box, secret)('GET', path)).headers.get('ETag') ?? '';

const publishAt = (box: TestService, title: string, match: string, operator: string, secret: Secret = null) =>
  createOperator(box, secret)('PUT', path, titled(title), { 'If-Match': match, 'x-signage-operator': operator });

const versionsAt = async (box: TestService, secret: Secret) =>
  ((await (await createOperator(box, secret)('GET', `${path}/versions`)).json()) as ContentVersions).versions;

test.each(withAndWithoutSecret)(
  'of two people who publish on two boxes at once, each box names both versions, %s',
  async (_, secret) => {
    const env = secretSettings(secret);
    const [loser, winner] = await startOrdered(env);
    const boxes = [loser, winner];
    const replaced: object[] = [];
    for (let round = 0; round < 3; round++) {
      const etag = await etagAt(loser, secret);
      await expect.poll(() => etagAt(winner, secret), patience).toBe(etag);
      const answers = await Promise.all(
        boxes.map((box, at) => publishAt(box, `${round} by ${at}`, etag, `Person ${at}`, secret)),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const [lost, won] = (await Promise.all(answers.map((answer) => answer.json()))) as PublishedContent[];
      await expect.poll(() => etagAt(loser, secret), patience).toBe(`"${won?.sha256}"`);
      expect(await etagAt(winner, secret)).toBe(`"${won?.sha256}"`);
      replaced.unshift({
        sha256: lost?.sha256,
        replaced_by: won?.sha256,
        at: expect.any(String),
        operator: 'Person 0',
      });
      expect((await healthOf(loser)).content.replaced).toEqual(replaced);
      for (const box of boxes) {
        await expect.poll(async () => (await healthOf(box)).content.replaced, patience).toEqual(replaced);
        const versions = await versionsAt(box, secret);
        expect(versions.find(({ sha256 }) => sha256 === lost?.sha256)).toMatchObject({ replaced_by: won?.sha256 });
        expect(versions.find(({ sha256 }) => sha256 === won?.sha256)).toMatchObject({ replaced_by: null });
        const text = await (await createOperator(box, secret)('GET', `${path}/versions/${lost?.sha256}`)).text();
        expect(text).toContain(`${round} by 0`);
      }
    }

    // An edit of what plays is no surprise to anybody.
    const next = (await (
      await publishAt(winner, 'next', await etagAt(winner, secret), 'Zoë', secret)
    ).json()) as PublishedContent;
    await expect.poll(() => etagAt(loser, secret), patience).toBe(`"${next.sha256}"`);
    await expect.poll(async () => (await healthOf(loser)).content.replaced, patience).toEqual(replaced);
    await loser.close();
    const later = (await (
      await publishAt(winner, 'later', await etagAt(winner, secret), 'Zoë', secret)
    ).json()) as PublishedContent;
    const again = await startBox([winner], { env, dataDir: loser.dataDir, content: undefined });
    expect((await healthOf(again)).content.replaced).toEqual(replaced);
    // Nor is what a box still has that was away.
    await expect.poll(() => etagAt(again, secret), patience).toBe(`"${later.sha256}"`);
    for (const box of [again, winner]) expect((await healthOf(box)).content.replaced).toEqual(replaced);
  },
);

test('the command line ends with 1 and both versions if the document that it pushed was replaced in the same moment', async () => {
  const [loser, winner] = await startOrdered();
  const base = await etagAt(loser);
  const through = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const body = method === 'GET' ? null : await text(request);
    const given = Object.entries(headers).flatMap(([name, value]) =>
      ['host', 'connection', 'content-length', 'expect'].includes(name) ? [] : [[name, String(value)]],
    );
    const [answer] = await Promise.all([
      fetch(loser.url + url, { method, body, headers: Object.fromEntries(given) }),
      method === 'PUT' ? publishAt(winner, 'the other one', base, 'Maria') : null,
    ]);
    const { etag = '', ...rest } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, { 'content-type': rest['content-type'] ?? '', etag });
    response.end(await answer.text());
  });
  const box = await listenOn(through);
  const pushed = await signage(['--box', box, 'content', 'push', '-', '--yes'], {
    input: JSON.stringify(titled('mine')),
  });
  const [lost] = (await healthOf(loser)).content.replaced;
  expect(pushed).toMatchObject({ code: 1, stdout: '' });
  expect(pushed.stderr).toContain(`Version ${lost?.sha256} was replaced by ${lost?.replaced_by}`);
  expect(await etagAt(loser)).toBe(`"${lost?.replaced_by}"`);
});

test.skipIf(isSkipped)(
  'the console asks what to keep if what it published was replaced in the same moment',
  walk,
  async () => {
    const [loser, winner] = await startOrdered({ SIGNAGE_HOST: '0.0.0.0' });
    const base = await etagAt(loser);
    const { page, go } = await openConsole(loser.url);
    await page.route('**/console/api/drafts/*/publish', async (route) => {
      const request = route.request();
      // Both are sent from here: on its way through the browser one would come after the news of the other.
      const { 'content-length': _, ...headers } = request.headers();
      const [answer] = await Promise.all([
        fetch(request.url(), { method: 'POST', headers }),
        publishAt(winner, 'theirs', base, 'Maria'),
      ]);
      await route.fulfill({
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: await answer.text(),
      });
    });
    await go('content/playlists/welcome');
    await page.getByLabel('Title', { exact: true }).fill('mine');
    await page.getByRole('button', { name: 'Publish …' }).click();
    await page.getByRole('button', { name: 'Publish now' }).click();
    const dialog = page.getByRole('dialog', { name: 'Someone else published in the meantime' });
    await dialog.getByText(/^One thing was changed by both/).waitFor();
    for (const side of ['mine', 'theirs'])
      await dialog.locator('.side').getByText(side, { exact: true }).last().waitFor();
    await page.getByText(/^Someone published on another box at the same time/).waitFor();
    await page.unroute('**/console/api/drafts/*/publish');
    await dialog.getByRole('button', { name: 'Go on with both, then publish' }).click();
    await page.getByRole('button', { name: 'Publish now' }).click();
    await expect.poll(() => titlesOf(winner), patience).toEqual(['mine']);
    expect(await titlesOf(loser)).toEqual(['mine']);
  },
);
