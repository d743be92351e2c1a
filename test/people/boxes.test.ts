/** People at several boxes: the same list everywhere, and nobody back who was removed. */
import { expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { addPerson, createPerson, invite, joinWith, makeKey } from '../support/people.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';

const env = secretSettings(operatorSecret);
const api = '/console/api';

const listAt = async (box: TestService) => {
  const { people, behind } = await (await createOperator(box, operatorSecret)('GET', `${api}/people`)).json();
  const keys = people.map(
    ({ id, disabled_at, keys: own }: { id: string; disabled_at: string | null; keys: { id: string }[] }) => [
      id,
      disabled_at !== null,
      own.map((key) => key.id),
    ],
  );
  return { keys, behind };
};

test('a person joins at one box and is known at the next, and is removed at both', async () => {
  const one = await startBox([], { content: lobby, env });
  const two = await startBox([one], { content: lobby, env });
  await untilTogether([one, two]);
  const maria = await addPerson(one, 'editor', { id: 'maria' });
  const there = createPerson(two, maria.key);
  expect((await there('GET', `${api}/me`)).status).toBe(200);
  expect((await listAt(two)).keys).toEqual((await listAt(one)).keys);
  // What was signed for one box is not taken by the other.
  const elsewhere = createPerson({ ...two, nodeId: one.nodeId }, maria.key);
  expect(await refusalOf(await elsewhere('GET', `${api}/me`))).toEqual([421, 'misdirected']);
  await createOperator(one, operatorSecret)('DELETE', `${api}/people/maria`);
  expect(await refusalOf(await there('GET', `${api}/me`))).toEqual([401, 'key_unknown']);

  // An invitation that was made here is used there, once.
  await createOperator(one, operatorSecret)('PUT', `${api}/people/eve`, { name: 'Eve', role: 'viewer' });
  const code = await invite(one, 'eve');
  const [first, second] = [makeKey(), makeKey()];
  const answers = await Promise.all([joinWith(one, code, 'eve', first), joinWith(two, code, 'eve', second)]);
  const joined = [first, second].filter((_, index) => answers[index]?.status === 201).map(({ keyId }) => keyId);
  expect(joined.length).toBeGreaterThan(0);
  const expected = joined.toSorted().slice(0, 1);
  for (const box of [one, two]) {
    await expect.poll(async () => (await listAt(box)).keys[0], patience).toEqual(['eve', false, expected]);
  }
});

test('a box that was off while somebody was removed does not bring them back', async () => {
  const [dataDir, one] = [temporaryFolder(), await startBox([], { content: lobby, env })];
  const two = await startBox([one], { content: lobby, env, dataDir });
  await untilTogether([one, two]);
  const maria = await addPerson(one, 'editor', { id: 'maria' });
  const gone = await addPerson(one, 'editor', { id: 'gone' });
  await expect.poll(async () => (await listAt(two)).keys.length, patience).toBe(2);
  await two.close();
  const admin = createOperator(one, operatorSecret);
  await admin('DELETE', `${api}/people/gone`);
  await admin('DELETE', `${api}/people/maria/keys/${maria.key.keyId}`);
  expect((await listAt(one)).behind).toEqual([two.url]);
  // Its clock is years ahead.
  const again = await startBox([one], { content: lobby, env, dataDir, wall: () => Date.now() + 3 * 365 * 86_400_000 });
  await untilTogether([one, again]);
  const signed = createPerson(again, gone.key, () => Date.now() + 3 * 365 * 86_400_000);
  await expect.poll(async () => refusalOf(await signed('GET', `${api}/me`)), patience).toEqual([401, 'key_unknown']);
  await expect
    .poll(async () => (await listAt(one)).keys, patience)
    .toEqual([
      ['gone', true, [gone.key.keyId]],
      ['maria', false, []],
    ]);
});
