/** Many people, and three boxes of which one was cut off for an hour. */
import { expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { addPerson, createPerson, invite, joinWith, makeKey, type TestKey } from '../support/people.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { isSoak, repeats } from '../support/soak.ts';

const env = secretSettings(operatorSecret);
const api = '/console/api';
let ahead = 0;
const now = (): number => Date.now() + ahead;
const adminOf = (box: TestService) => createOperator(box, operatorSecret, now);

interface Listed {
  id: string;
  name: string;
  role: string;
  disabled_at: string | null;
  keys: { id: string }[];
}
const listAt = async (box: TestService): Promise<Listed[]> =>
  (await (await adminOf(box)('GET', `${api}/people`)).json()).people;
const summary = async (box: TestService) =>
  (await listAt(box)).map(({ id, name, role, disabled_at, keys }) => [
    ...[id, name, role, disabled_at],
    ...keys.map((key) => key.id),
  ]);

test('as many people as there may be join, and are known at the next box', async () => {
  ahead = 0;
  const box = await startBox([], { content: lobby, env });
  const admin = adminOf(box);
  const joined: TestKey[] = [];
  const count = repeats(16, 1_000);
  for (let index = 0; index < count; index += 8) {
    const added = await Promise.all(
      Array.from({ length: Math.min(8, count - index) }, (_, more) =>
        addPerson(box, 'editor', { id: `p-${index + more}` }),
      ),
    );
    joined.push(...added.map(({ key }) => key));
  }
  if (isSoak)
    expect(await refusalOf(await admin('PUT', `${api}/people/more`, { name: 'More', role: 'viewer' }))).toEqual([
      409,
      'too_many_people',
    ]);
  const [first] = joined as [TestKey];
  const ask = createPerson(box, first);
  const add = () => ask('POST', `${api}/people/p-0/keys`, { public_key: makeKey().publicKey, device: 'x' });
  for (let keys = 1; keys < 10; keys += 1) expect((await add()).status).toBe(201);
  expect(await refusalOf(await add())).toEqual([409, 'too_many_keys']);

  const next = await startBox([box], { content: lobby, env });
  const isKnown = async () => (await summary(next)).length;
  await expect.poll(isKnown, { ...patience, timeout: isSoak ? 600_000 : 20_000 }).toBe(count);
  await expect.poll(() => summary(next), patience).toEqual(await summary(box));
  for (const key of joined.slice(-4)) expect((await createPerson(next, key)('GET', `${api}/me`)).status).toBe(200);
});

test('three boxes of which one was cut off for an hour list the same people, and nobody is back', {
  timeout: 120_000,
}, async () => {
  ahead = 0;
  const dataDir = temporaryFolder();
  const setup = { content: lobby, env, wall: now };
  const one = await startBox([], setup);
  const two = await startBox([one], setup);
  const three = await startBox([one], { ...setup, dataDir });
  await untilTogether([one, two, three]);
  const add = (id: string, role: 'admin' | 'editor' = 'editor') => addPerson(one, role, { id, now });
  const [anna, bert] = [await add('anna', 'admin'), await add('bert', 'admin')];
  const [gone, worn, back] = [await add('gone'), await add('worn'), await add('back')];
  await adminOf(one)('PUT', `${api}/people/late`, { name: 'Late', role: 'viewer' });
  const code = await invite(one, 'late', operatorSecret, now);
  await expect.poll(() => summary(three), patience).toEqual(await summary(one));
  await three.close();

  // As on a cable that was pulled: it goes on alone.
  const apart = await startBox([], { ...setup, dataDir, env: { ...env, SIGNAGE_SITE: 'elsewhere' } });
  const [here, there] = [adminOf(one), adminOf(apart)];
  const named = (name: string, more: object = {}) => ({ name, role: 'editor', ...more });
  const [firstKey, secondKey] = [makeKey(), makeKey()];
  const events: (() => Promise<Response>)[] = [
    () => anna.ask('DELETE', `${api}/people/bert`),
    () => createPerson(apart, bert.key, now)('DELETE', `${api}/people/anna`),
    () => here('DELETE', `${api}/people/gone`),
    () => there('PUT', `${api}/people/gone`, named('Gone, changed later')),
    () => here('DELETE', `${api}/people/worn/keys/${worn.key.keyId}`),
    () => createPerson(apart, worn.key, now)('GET', `${api}/me`),
    () => there('DELETE', `${api}/people/back`),
    () => here('DELETE', `${api}/people/back`),
    // Here nobody knows of the other disabling.
    () => here('PUT', `${api}/people/back`, named('Back', { disabled: false })),
    () => joinWith(one, code, 'late', firstKey),
    () => joinWith(apart, code, 'late', secondKey),
    () => here('PUT', `${api}/people/both`, named('Here')),
    () => there('PUT', `${api}/people/both`, named('There')),
    () => here('PUT', `${api}/people/new-here`, named('New')),
    () => there('PUT', `${api}/people/new-there`, named('New')),
  ];
  const renames = repeats(15, 200);
  for (let index = 0; index < renames; index += 1) {
    ahead += Math.ceil(3_600_000 / renames);
    const event = events[index];
    if (event !== undefined) expect([index, (await event()).ok]).toEqual([index, true]);
    await (index % 2 === 0 ? here : there)('PUT', `${api}/people/worn`, named(`Name ${index}`));
  }
  await apart.close();
  const again = await startBox([one], { ...setup, dataDir });
  const boxes = [one, two, again];
  await untilTogether(boxes);
  const stateOf = async (box: TestService, id: string) => {
    const found = (await listAt(box)).find((each) => each.id === id);
    return [found?.name, found?.disabled_at !== null, found?.keys.map((key) => key.id)];
  };
  const expected = {
    anna: ['anna', true, [anna.key.keyId]],
    bert: ['bert', true, [bert.key.keyId]],
    gone: ['Gone, changed later', true, [gone.key.keyId]],
    worn: [`Name ${renames - 1}`, false, []],
    back: ['Back', true, [back.key.keyId]],
    late: ['Late', false, [[firstKey.keyId, secondKey.keyId].toSorted()[0]]],
    both: ['There', false, []],
    'new-here': ['New', false, []],
    'new-there': ['New', false, []],
  };
  for (const box of boxes) {
    for (const [id, state] of Object.entries(expected))
      await expect.poll(() => stateOf(box, id), { ...patience, message: id }).toEqual(state);
    for (const { key } of [anna, bert, gone, worn, back]) {
      const answer = await createPerson(box, key, now)('GET', `${api}/me`);
      expect(await refusalOf(answer)).toEqual([401, 'key_unknown']);
    }
  }
  expect(await summary(two)).toEqual(await summary(one));
  expect(await summary(again)).toEqual(await summary(one));
});
