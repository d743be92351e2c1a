/** Many people, and three boxes of which one was cut off for an hour. */
import { expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { addPerson, createPerson, invite, joinWith, makeKey } from '../support/people.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { isSoak, repeats, walk } from '../support/soak.ts';

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

/** The number of answers by kind: the status, or what refusalOf says of a refusal. A lost connection rejects. */
const tally = async (answers: Promise<Response>[]): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const answer of await Promise.all(answers)) {
    const kind = answer.ok ? String(answer.status) : (await refusalOf(answer)).join(' ');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
};

test('more people than there may be are made, invited, and join, all at once, and are known at the next box', async () => {
  ahead = 0;
  const box = await startBox([], { content: lobby, env });
  const admin = adminOf(box);
  const count = repeats(16, 1_000);
  const ids = Array.from({ length: isSoak ? count + 200 : count }, (_, index) => `p-${index}`);
  const made = await tally(ids.map((id) => admin('PUT', `${api}/people/${id}`, { name: id, role: 'editor' })));
  expect(made).toEqual({ 201: count, ...(isSoak && { '409 too_many_people': 200 }) });

  const people = await Promise.all((await listAt(box)).map(async ({ id }) => ({ id, key: makeKey() })));
  const codes = await Promise.all(people.map(({ id }) => invite(box, id)));
  const joining = people.flatMap(({ id, key }, index) => [
    joinWith(box, codes[index] ?? '', id, key),
    // The same code for another key, in the same moment.
    joinWith(box, codes[index] ?? '', id, makeKey()),
  ]);
  const firstAnswers = Promise.all(joining.filter((_, index) => index % 2 === 0));
  const joined = await tally(joining);
  expect(joined).toEqual({ 201: count, '403 invitation_invalid': count });
  // One who knew the code has guessed nothing.
  expect(await tally(ids.map(() => joinWith(box, 'A'.repeat(26), 'p-0', makeKey())))).toEqual({
    '403 invitation_invalid': 10,
    '429 too_many_requests': ids.length - 10,
  });
  const isFirst = (await firstAnswers).map(({ status }) => status === 201);
  const known = people.filter((_, index) => isFirst[index]);
  expect(known.length).toBeGreaterThan(0);
  const [some] = known as [(typeof known)[number]];
  const ask = createPerson(box, some.key);
  const add = () => ask('POST', `${api}/people/${some.id}/keys`, { public_key: makeKey().publicKey, device: 'x' });
  expect(await tally(ids.map(add))).toEqual({ 201: 9, '409 too_many_keys': ids.length - 9 });

  const next = await startBox([box], { content: lobby, env });
  const isKnown = async () => (await summary(next)).length;
  await expect.poll(isKnown, { ...patience, timeout: isSoak ? 600_000 : 20_000 }).toBe(count);
  await expect.poll(() => summary(next), patience).toEqual(await summary(box));
  for (const { key } of known.slice(-4)) expect((await createPerson(next, key)('GET', `${api}/me`)).status).toBe(200);
});

test('three boxes of which one was cut off for an hour list the same people, and nobody is back', {
  ...walk,
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
