import fc from 'fast-check';
import { expect, it } from 'vitest';
import { excess, richness, textLimit } from '../../service/domain/markup-limits.ts';

it.each([
  ['', 0, 0],
  ['Good morning', 12, 0],
  ['<p>one<br>two</p>', 6, 2],
  ['1 < 2', 5, 0],
  ['<!-- note --><b class="a">x</b>', 1, 1],
  ['<STYLE>p > b { color: red }</style ><p>x', 1, 2],
  ['<p><b><i>x</i></b></p>', 1, 3],
  ['<b><b><b><b><b><b>x<p>', 1, 13],
  ['<script>if (a<b) c>d</script>y', 1, 1],
])('%j has %i characters and %i elements', (markup, characters, elements) => {
  expect(richness(markup)).toEqual({ characters, elements });
});

it('counts what no parser would close in linear time', () => {
  for (const part of ['<', '<b', '<style', '<style>', '<!--', '<b>']) {
    const since = performance.now();
    richness(part.repeat(2_000_000 / part.length));
    expect([part, performance.now() - since < 2_000]).toEqual([part, true]);
  }
});

it('counts every character of a text without tags', () => {
  fc.assert(
    fc.property(fc.string(), (given) => {
      const text = given.replaceAll('<', '');
      expect(richness(text)).toEqual({ characters: text.length, elements: 0 });
    }),
  );
});

it('names what exceeds a limit', () => {
  expect(excess({ characters: 8_000, elements: 400 }, textLimit)).toBeNull();
  expect(excess({ characters: 9_000, elements: 0 }, textLimit)).toContain('9000 characters');
  expect(excess({ characters: 9_000, elements: 500 }, textLimit)).toContain('500 elements');
});
