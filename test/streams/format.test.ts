import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFormatWatch } from '../../service/streams/watch.ts';

const tag = (type: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(11);
  head.writeUInt8(type, 0);
  head.writeUIntBE(body.length, 1, 3);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(head.length + body.length);
  return Buffer.concat([head, body, size]);
};

const begin = Buffer.from('464c5601010000000900000000', 'hex');
const parameters = (text: string) => tag(9, Buffer.concat([Buffer.from([0x17, 0, 0, 0, 0]), Buffer.from(text)]));
const keyframe = (length = 500) =>
  tag(9, Buffer.concat([Buffer.from([0x17, 1, 0, 0, 0]), Buffer.alloc(length, 'parameters')]));
const metadata = tag(18, Buffer.from('onMetaData'));
const sound = tag(8, Buffer.from([0xaf, 0, 0x12, 0x10]));

const judge = (...tags: Buffer[]): boolean => createFormatWatch().isOther(Buffer.concat([begin, ...tags]));

describe('a format', () => {
  it.each([
    ['there are no parameters', [metadata, sound, keyframe()]],
    ['there are some', [metadata, parameters('a'), sound, keyframe(), keyframe(100_000)]],
    ['they are repeated', [parameters('a'), keyframe(), parameters('a'), keyframe()]],
  ])('stays the same where %s', (_, tags) => {
    expect(judge(...tags)).toBe(false);
  });

  it.each([
    ['other parameters come', [parameters('a'), keyframe(), parameters('b'), keyframe()]],
    ['longer ones come', [parameters('a'), keyframe(), parameters('ab')]],
  ])('is another one where %s', (_, tags) => {
    expect(judge(...tags)).toBe(true);
  });

  it('is seen as soon as its parameters are whole, however they arrive', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1 });
    fc.assert(
      fc.property(sizes, (lengths) => {
        const before = Buffer.concat([begin, metadata, parameters('a'), keyframe(1000)]);
        const bytes = Buffer.concat([before, parameters('b')]);
        const watch = createFormatWatch();
        for (let at = 0, n = 0; at < bytes.length; n += 1) {
          const length = lengths[n % lengths.length] ?? 1;
          const isOther = watch.isOther(bytes.subarray(at, at + length));
          at += length;
          expect(isOther).toBe(at >= bytes.length);
        }
      }),
    );
  });
});
