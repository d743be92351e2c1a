import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CodedError } from '../../service/contract/errors.ts';
import { isMediaName, mediaName, mediaNameIn } from '../../service/domain/media-names.ts';

const refused = [
  '',
  '.',
  '..',
  '.hidden',
  '.upload-1',
  'a/b',
  '/a',
  'a\\b',
  'a:b',
  'a*b',
  'a?b',
  'a"b',
  'a<b',
  'a>b',
  'a|b',
]
  .concat([
    'a\0',
    'a\n.png',
    '\u007f',
    '\u0085',
    'lone\ud800',
    'trailing.',
    'trailing ',
    '…'.repeat(86),
    'a'.repeat(256),
  ])
  .concat([
    'con',
    'CON',
    'Con.txt',
    'con.tar.gz',
    'prn',
    'aux.png',
    'nul',
    'nul .txt',
    'com1',
    'LPT9.x',
    'com¹',
    'CONIN$',
  ]);

const allowed = [
  'a',
  'photo.jpg',
  'No dot',
  'a..b',
  'größe – 日本.png',
  '\u00e9.png',
  '👩‍👩‍👧.gif',
  "it's (1) [x] #1 100% & +.mp4",
].concat(['console', 'con-x.png', 'com10', 'nullable.svg', '-rf', '__proto__', 'a'.repeat(255), '…'.repeat(85)]);

describe('mediaName', () => {
  it.each(refused)('refuses %j', (name) => {
    expect(isMediaName(name)).toBe(false);
    expect(() => mediaName(name)).toThrow(expect.objectContaining({ code: 'invalid_field', field: 'filename' }));
  });

  it.each(allowed)('takes %j as it is', (name) => {
    expect(mediaName(name)).toBe(name);
  });

  it('composes letters, so that names that look the same are the same', () => {
    expect(mediaName('e\u0301.png')).toBe('\u00e9.png');
    expect(mediaNameIn('/media/e%CC%81.png?x')).toBe('\u00e9.png');
  });

  it('lets through nothing that could be another path, whatever it is given', () => {
    const text = fc.uint16Array().map((units) => String.fromCharCode(...units));
    const nasty = fc.string({ unit: fc.constantFrom(...'./\\:con \0') });
    fc.assert(
      fc.property(fc.oneof(text, nasty), (raw) => {
        try {
          expect(mediaName(raw)).toBe(raw.normalize('NFC'));
        } catch (error) {
          expect(error).toBeInstanceOf(CodedError);
          return;
        }
        expect(raw).not.toMatch(/[/\\:\u0000-\u001f]|^\.|[. ]$/);
        expect(Buffer.byteLength(raw)).toBeGreaterThan(0);
        expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(255);
        expect(decodeURIComponent(encodeURIComponent(raw))).toBe(raw);
      }),
    );
  });
});
