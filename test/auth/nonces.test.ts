import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNonces, type Sender } from '../../service/auth/nonces.ts';
import { outcome } from './support.ts';

const setUp = (most = 10) => {
  const nonces = createNonces(most);
  let count = 0;
  return (sender: Sender, nonce = String(count++), timestamp = 5_000, oldest = 0) =>
    outcome(() => nonces.use(nonce, timestamp, oldest, sender));
};

test('a nonce is accepted once, for all timestamps and senders', async () => {
  const use = setUp();
  expect(await use('operator', 'first', 5_000)).toBe('accepted');
  expect(await use('operator', 'first', 5_000)).toBe('signature_replayed');
  expect(await use('operator', 'first', 9_000)).toBe('signature_replayed');
  expect(await use('peer signed', 'first')).toBe('signature_replayed');
});

test('a full memory refuses nonces until old ones have left the window', async () => {
  const use = setUp(3);
  for (const [index, nonce] of ['a', 'b', 'c'].entries()) await use('operator', nonce, 10_000 + index * 1000);
  expect(await use('operator', 'd', 13_000)).toBe('busy');
  expect(await use('operator', 'a', 10_000, 10_000)).toBe('signature_replayed');
  expect(await use('operator', 'd', 13_000, 11_000)).toBe('accepted');
  expect(await use('operator', 'e', 13_000, 11_000)).toBe('busy');
  expect(await use('operator', 'e', 13_000, 20_000)).toBe('accepted');
});

test.each([
  ['peer signed', 'operator'],
  ['relay signed', 'peer signed'],
  ['relay public', 'relay signed'],
  ['person viewer', 'person admin'],
] satisfies [Sender, Sender][])('the memory of a %s and that of a %s are separate', async (one, other) => {
  const use = setUp(2);
  for (let count = 0; count < 3; count++) await use(one);
  expect([await use(one), await use(other), await use(other)]).toEqual(['busy', 'accepted', 'accepted']);
  expect(await use(other)).toBe('busy');
});

test('a hundred thousand nonces of operators are remembered', async () => {
  const nonces = createNonces();
  for (let count = 0; count < 100_000; count += 1) nonces.use(String(count), 5000, 0, 'operator');
  expect(await outcome(() => nonces.use('0', 5000, 0, 'operator'))).toBe('signature_replayed');
  expect(await outcome(() => nonces.use('more', 5000, 0, 'operator'))).toBe('busy');
  expect(await outcome(() => nonces.use('more', 5000, 0, 'peer signed'))).toBe('accepted');
});

test('fresh nonces are never forgotten, and forgotten ones use no memory', async () => {
  const uses = fc.array(
    fc.record({
      nonce: fc.nat(5),
      ahead: fc.nat(5000),
      passed: fc.nat(2000),
      from: fc.constantFrom<Sender>('peer signed', 'peer page', 'operator'),
    }),
    { maxLength: 50 },
  );
  await fc.assert(
    fc.asyncProperty(uses, async (moves) => {
      const use = setUp(1_000);
      const accepted = new Map<string, number>();
      let oldest = 0;
      for (const { nonce, ahead, passed, from } of moves) {
        oldest += passed;
        const before = accepted.get(String(nonce));
        const said = await use(from, String(nonce), oldest + ahead, oldest);
        if (before !== undefined && before >= oldest) expect(said).toBe('signature_replayed');
        if (said === 'accepted') accepted.set(String(nonce), oldest + ahead);
      }
      const full = Array.from({ length: 1_000 }, () => use('peer page', undefined, oldest + 20_000, oldest + 10_000));
      expect(await Promise.all(full)).not.toContain('busy');
    }),
  );
});
