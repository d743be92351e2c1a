import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNonces } from '../../service/auth/nonces.ts';
import { outcome } from './support.ts';

test('a nonce is used once, whatever its timestamp', async () => {
  const nonces = createNonces(10);
  expect(await outcome(() => nonces.use('first', 5000, 0))).toBe('accepted');
  expect(await outcome(() => nonces.use('first', 5000, 0))).toBe('signature_replayed');
  expect(await outcome(() => nonces.use('first', 9000, 0))).toBe('signature_replayed');
});

test('a full memory refuses, and takes new ones once old ones have left the window', async () => {
  const nonces = createNonces(3);
  for (const [index, nonce] of ['a', 'b', 'c'].entries()) nonces.use(nonce, 10_000 + index * 1000, 0);
  expect(await outcome(() => nonces.use('d', 13_000, 0))).toBe('busy');
  expect(await outcome(() => nonces.use('a', 10_000, 10_000))).toBe('signature_replayed');
  expect(await outcome(() => nonces.use('d', 13_000, 11_000))).toBe('accepted');
  expect(await outcome(() => nonces.use('e', 13_000, 11_000))).toBe('busy');
  expect(await outcome(() => nonces.use('e', 13_000, 20_000))).toBe('accepted');
});

test('a hundred thousand are remembered', async () => {
  const nonces = createNonces();
  for (let count = 0; count < 100_000; count += 1) nonces.use(String(count), 5000, 0);
  expect(await outcome(() => nonces.use('0', 5000, 0))).toBe('signature_replayed');
  expect(await outcome(() => nonces.use('more', 5000, 0))).toBe('busy');
});

test('what is still fresh is never forgotten', async () => {
  const uses = fc.array(fc.record({ nonce: fc.nat(5), ahead: fc.nat(5000), passed: fc.nat(2000) }), { maxLength: 50 });
  await fc.assert(
    fc.asyncProperty(uses, async (moves) => {
      const nonces = createNonces(1000);
      const accepted = new Map<string, number>();
      let oldest = 0;
      for (const { nonce, ahead, passed } of moves) {
        oldest += passed;
        const before = accepted.get(String(nonce));
        const said = await outcome(() => nonces.use(String(nonce), oldest + ahead, oldest));
        if (before !== undefined && before >= oldest) expect(said).toBe('signature_replayed');
        if (said === 'accepted') accepted.set(String(nonce), oldest + ahead);
      }
    }),
  );
});
