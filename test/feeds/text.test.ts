import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeDocument, plainText, plainTitle, unfolded } from '../../service/feeds/text.ts';

const utf16 = (text: string, isBig: boolean, mark: boolean): Buffer => {
  const bytes = Buffer.from((mark ? '\ufeff' : '') + text, 'utf16le');
  return isBig ? bytes.swap16() : bytes;
};
const xml = (encoding: string, text: string): string => `<?xml version="1.0" encoding="${encoding}"?><a>${text}</a>`;

describe('a document is read', () => {
  it.each<[string, Buffer, string | null, string]>([
    ['as UTF-8', Buffer.from('<a>é</a>'), null, '<a>é</a>'],
    ['without its mark', Buffer.from('\ufeff<a/>'), null, '<a/>'],
    ['as UTF-8, though it says otherwise', Buffer.from(xml('iso-8859-1', 'é')), 'iso-8859-1', xml('iso-8859-1', 'é')],
    ['by its media type', Buffer.from([0x3c, 0xe9]), 'iso-8859-2', '<é'],
    ['by its declaration', Buffer.from(xml('windows-1251', 'ß'), 'latin1'), null, xml('windows-1251', 'Я')],
    [
      'by its declaration, where its media type makes no sense',
      Buffer.from(xml('windows-1251', 'ß'), 'latin1'),
      'x-y',
      xml('windows-1251', 'Я'),
    ],
    ['as Windows-1252, where it says nothing', Buffer.from([0x3c, 0x80, 0xe9]), null, '<€é'],
    ['as UTF-16, with a mark', utf16('<ä>', false, true), null, '<ä>'],
    ['as UTF-16 of the other end', utf16('<ä>', true, true), 'utf-8', '<ä>'],
    ['as UTF-16, without a mark', utf16('<a>ä', true, false), null, '<a>ä'],
    ['as what is not valid at all', Buffer.from([0xff]), 'shift_jis', '\ufffd'],
    ['as Shift_JIS', Buffer.from([0x3c, 0x93, 0xfa, 0x96, 0x7b]), 'Shift_JIS', '<日本'],
    [
      'by its declaration, where its media type says UTF-8 and is wrong',
      Buffer.from(xml('iso-8859-1', 'Grüße'), 'latin1'),
      'UTF-8',
      xml('iso-8859-1', 'Grüße'),
    ],
    [
      'as Windows-1252, where all that it says is UTF-8',
      Buffer.from(xml('utf8', 'Grüße'), 'latin1'),
      'utf-8',
      xml('utf8', 'Grüße'),
    ],
    [
      'as UTF-8, though a character of it is broken',
      Buffer.concat([Buffer.from('Größe'), Buffer.from([0xc3, 0x21])]),
      null,
      'Größe\ufffd!',
    ],
    ['as nothing', Buffer.alloc(0), null, ''],
  ])('%s', (_, bytes, charset, expected) => {
    expect(decodeDocument(bytes, charset)).toBe(expected);
  });

  it('whatever its bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.option(fc.string()), (bytes, charset) => {
        expect(typeof decodeDocument(bytes, charset)).toBe('string');
      }),
    );
  });
});

it('a calendar is read that is folded inside of a character', () => {
  const [before, after] = ['SUMMARY:Gr\u00c3', '\u00bcn'];
  for (const fold of ['\r\n ', '\n\t']) {
    expect(decodeDocument(unfolded(Buffer.from(before + fold + after, 'latin1')), null)).toBe('SUMMARY:Grün');
  }
});

describe('plain text', () => {
  it.each([
    ['Tom &amp; Jerry', 'Tom & Jerry'],
    ['<p>One</p><p>two</p>', 'One two'],
    ['A <b>bold</b>er plan', 'A bolder plan'],
    ['1 < 2 and <3', '1 < 2 and <3'],
    ['W&eacute;lt &#8211; &#x4e16;&nbsp;x', 'Wélt – 世 x'],
    ['&unknown; &#0; &#xd800; &#99999999;', '&unknown; &#99999999;'],
    ['<script>alert(1)</script>safe<style>b{}</style>', 'safe'],
    ['a<script>never closed', 'a'],
    ['a<!-- never closed', 'a'],
    ['a<img src=x onerror=alert(1)', 'a'],
    ['o\u0000k\u202e\u0007', 'ok'],
    ['  much \n\t space  ', 'much space'],
    ['&lt;b&gt;', '<b>'],
  ])('of %j is %j', (markup, expected) => {
    expect(plainText(markup, 100)).toBe(expected);
  });

  it.each([
    ['Call <Smith> about x<y', 'Call <Smith> about x<y'],
    ['Mail to <a@example.com>, <b.c>', 'Mail to <a@example.com>, <b.c>'],
    ['<p class="x">A <b>bold</b>er<br/>plan</P>', 'A bolder plan'],
    ['a <!-- b', 'a <!-- b'],
    ['<script>alert(1)</script>safe', 'safe'],
    ['Tom &amp; <i>Jerry</i> &lt;3', 'Tom & Jerry <3'],
  ])('of the title %j is %j', (text, expected) => {
    expect(plainTitle(text, 100)).toBe(expected);
  });

  it('of nothing is null', () => {
    expect([undefined, '', ' ', '<p></p>', '&#0;'].map((markup) => plainText(markup, 10))).toEqual(Array(5).fill(null));
  });

  it('is never longer than it may be, and never cut inside a character', () => {
    expect(plainText('the quick brown fox jumps', 14)).toBe('the quick…');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 2, max: 60 }), (text, longest) => {
        const plain = plainText(text, longest) ?? '';
        expect([...plain].length).toBeLessThanOrEqual(longest);
        expect(plain).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  it('takes time by length alone', () => {
    // Where it took time by the square of the length, the test would run out of its own.
    for (const part of ['<script', '<style>', '<!--', '<a ', '&#', '<', '&amp;']) {
      expect(plainText(part.repeat(1e6), 1000)?.length ?? 0).toBeLessThanOrEqual(1000);
    }
  });
});
