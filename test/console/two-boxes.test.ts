/** People who publish on two boxes at once. */
import { expect, test } from 'vitest';
import type { ContentVersions, EditedContent, PublishedContent } from '../../service/contract/console/content.ts';
import { lobbyWith } from '../content/samples.ts';
import { startSite } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { createOperator } from '../support/operator.ts';
import type { TestService } from '../support/service.ts';

const path = '/console/api/content';

test('of two people who publish on two boxes at once one wins everywhere, and the other finds the work among the versions', async () => {
  const boxes = await startSite();
  const asks = boxes.map((box) => createOperator(box, null));
  const read = async <T>(at: number, from: string): Promise<T> =>
    (await (await createOperator(boxes[at] as TestService, null)('GET', from)).json()) as T;
  const etags = () => Promise.all(asks.map(async (ask) => (await ask('GET', path)).headers.get('ETag') ?? ''));
  const untilOne = () => expect.poll(async () => new Set(await etags()).size, patience).toBe(1);
  for (let round = 0; round < 3; round++) {
    await untilOne();
    const before = await etags();
    const answers = await Promise.all(
      asks.map((ask, at) =>
        ask('PUT', path, lobbyWith([{ kind: 'text', title: `${round} by ${at}` }]), { 'If-Match': before[at] ?? '' }),
      ),
    );
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    await untilOne();
    const playing = await read<EditedContent>(0, path);
    const published: string[] = [];
    for (const [at, answer] of answers.entries()) {
      if (answer.status !== 200) {
        expect(answer.status).toBe(412);
        continue;
      }
      const { sha256 } = (await answer.json()) as PublishedContent;
      published.push(sha256);
      const { versions } = await read<ContentVersions>(at, `${path}/versions`);
      expect(versions.map((version) => version.sha256)).toContain(sha256);
    }
    expect(published).toContain(playing.sha256);
  }
});
