import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNonces, type Sender } from '../../service/auth/nonces.ts';
import { outcome } from './support.ts';

const operator: Sender = { kind: 'operator', name: '192.0.2.1' };
const peer = (name: string): Sender => ({ kind: 'peer', name });
const limitsOf = (total: number, each = total, guaranteed = 0) => ({ total, each, guaranteed });
const setUp = (operators = limitsOf(10), peers = limitsOf(10)) => {
  const nonces = createNonces({ operator: operators, peer: peers, person: operators });
  let count = 0;
  return {
    nonces,
    use: (sender: Sender, nonce = String(count++), timestamp = 5_000, oldest = 0) =>
      outcome(() => nonces.use(nonce, timestamp, oldest, sender)),
  };
};

test('a nonce is accepted once, for all timestamps and senders', async () => {
  const { use } = setUp();
  expect(await use(operator, 'first', 5_000)).toBe('accepted');
  expect(await use(operator, 'first', 5_000)).toBe('signature_replayed');
  expect(await use(operator, 'first', 9_000)).toBe('signature_replayed');
  expect(await use(peer('a'), 'first')).toBe('signature_replayed');
});

test('a full memory refuses nonces until old ones have left the window', async () => {
  const { use } = setUp(limitsOf(3));
  for (const [index, nonce] of ['a', 'b', 'c'].entries()) await use(operator, nonce, 10_000 + index * 1000);
  expect(await use(operator, 'd', 13_000)).toBe('busy');
  expect(await use(operator, 'a', 10_000, 10_000)).toBe('signature_replayed');
  expect(await use(operator, 'd', 13_000, 11_000)).toBe('accepted');
  expect(await use(operator, 'e', 13_000, 11_000)).toBe('busy');
  expect(await use(operator, 'e', 13_000, 20_000)).toBe('accepted');
});

describe('the memory of peers', () => {
  test('and the memory of operators are separate', async () => {
    const { use } = setUp(limitsOf(2), limitsOf(2));
    for (let count = 0; count < 3; count++) await use(peer('a'));
    expect([await use(peer('a')), await use(operator), await use(operator)]).toEqual(['busy', 'accepted', 'accepted']);
    expect(await use(operator)).toBe('busy');
  });

  test('is bounded for each peer', async () => {
    const { use } = setUp(limitsOf(10), limitsOf(10, 4));
    for (let count = 0; count < 4; count++) expect(await use(peer('a'))).toBe('accepted');
    expect([await use(peer('a')), await use(peer('b'))]).toEqual(['busy', 'accepted']);
  });

  test('accepts the guaranteed nonces of a sender even when others have filled it', async () => {
    const { use } = setUp(limitsOf(10), limitsOf(10, 6, 2));
    for (const name of ['a', 'b']) for (let count = 0; count < 9; count++) await use(peer(name));
    expect([await use(peer('c')), await use(peer('c')), await use(peer('c'))]).toEqual([
      'accepted',
      'accepted',
      'busy',
    ]);
  });

  test('is bounded by default to 100,000 nonces plus 2,000 for each of 256 senders', async () => {
    const nonces = createNonces();
    let accepted = 0;
    const isAccepted = (sender: number): boolean => {
      try {
        nonces.use(String(accepted), 5_000, 0, peer(`sender ${sender}`));
        accepted += 1;
        return true;
      } catch {
        return false;
      }
    };
    // All of them at first, and then each as long as it is accepted: refusals are what takes time.
    for (let sender = 0; sender < 1_000; sender += 1) for (let count = 0; count < 100; count += 1) isAccepted(sender);
    for (let sender = 0; sender < 1_000; sender += 1) while (isAccepted(sender));
    // The first 256 had used 100 of theirs while there was room for all.
    expect(accepted).toBe(100_000 + 256 * (2_000 - 100));
    expect(await outcome(() => nonces.use('more', 5_000, 0, operator))).toBe('accepted');
  });
});

test('a hundred thousand nonces of operators are remembered', async () => {
  const nonces = createNonces();
  for (let count = 0; count < 100_000; count += 1) nonces.use(String(count), 5000, 0, operator);
  expect(await outcome(() => nonces.use('0', 5000, 0, operator))).toBe('signature_replayed');
  expect(await outcome(() => nonces.use('more', 5000, 0, operator))).toBe('busy');
  expect(await outcome(() => nonces.use('more', 5000, 0, peer('a')))).toBe('accepted');
});

test('fresh nonces are never forgotten, and forgotten ones use no memory', async () => {
  const uses = fc.array(
    fc.record({ nonce: fc.nat(5), ahead: fc.nat(5000), passed: fc.nat(2000), from: fc.constantFrom('a', 'b', null) }),
    { maxLength: 50 },
  );
  await fc.assert(
    fc.asyncProperty(uses, async (moves) => {
      const { use } = setUp(limitsOf(1_000), limitsOf(1_000));
      const accepted = new Map<string, number>();
      let oldest = 0;
      for (const { nonce, ahead, passed, from } of moves) {
        oldest += passed;
        const before = accepted.get(String(nonce));
        const said = await use(from === null ? operator : peer(from), String(nonce), oldest + ahead, oldest);
        if (before !== undefined && before >= oldest) expect(said).toBe('signature_replayed');
        if (said === 'accepted') accepted.set(String(nonce), oldest + ahead);
      }
      const full = Array.from({ length: 1_000 }, () => use(peer('c'), undefined, oldest + 20_000, oldest + 10_000));
      expect(await Promise.all(full)).not.toContain('busy');
    }),
  );
});
