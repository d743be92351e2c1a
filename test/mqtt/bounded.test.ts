import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundedPackets } from '../../service/mqtt/bounded.ts';

/** A packet with a body of `size` bytes. */
const packet = (size: number, fill: number, first = 0x30): Buffer => {
  const length: number[] = [];
  for (let rest = size; length.length === 0 || rest > 0; rest = Math.floor(rest / 128)) {
    length.push((rest % 128) + (rest >= 128 ? 128 : 0));
  }
  return Buffer.concat([Buffer.from([first, ...length]), Buffer.alloc(size, fill)]);
};

test('packets up to the limit pass byte for byte, however they arrive, and larger ones are left out', async () => {
  const sizes = fc.array(fc.constantFrom(0, 1, 127, 128, 200, 201, 16_383, 20_000), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.integer({ min: 1, max: 700 }), async (given, step) => {
      const packets = given.map((size, index) => packet(size, index));
      const dropped: number[] = [];
      const bounded = boundedPackets(200, (bytes) => dropped.push(bytes));
      const reading = buffer(bounded);
      const all = Buffer.concat(packets);
      for (let at = 0; at < all.length; at += step) bounded.write(all.subarray(at, at + step));
      bounded.end();
      expect(await reading).toEqual(Buffer.concat(packets.filter((_, index) => (given[index] ?? 0) <= 200)));
      expect(dropped).toEqual(given.filter((size) => size > 200));
    }),
    { numRuns: 60 },
  );
});

test('answers and messages that need none pass, and what would be kept or acknowledged is left out', async () => {
  const passed = [0x20, 0x30, 0x31, 0x38, 0x40, 0x90, 0xd0];
  const bounded = boundedPackets(200, () => undefined);
  const reading = buffer(bounded);
  for (const first of [...passed, 0x32, 0x34, 0x3d, 0x50, 0x62, 0x70]) bounded.write(packet(2, 7, first));
  bounded.end(packet(3, 8));
  expect(await reading).toEqual(Buffer.concat([...passed.map((first) => packet(2, 7, first)), packet(3, 8)]));
});

test('what is no MQTT ends the connection', async () => {
  const bounded = boundedPackets(200, () => undefined);
  const reading = buffer(bounded);
  bounded.write(Buffer.alloc(20, 0xff));
  await expect(reading).rejects.toThrow('it does not speak MQTT');
});
