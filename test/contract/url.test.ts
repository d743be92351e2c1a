import { expect, test } from 'vitest';
import { parseUrl } from '../../service/contract/url.ts';

test('letters beyond ASCII are an address, however often one is read', () => {
  const refused = Array.from({ length: 50_000 }, () => parseUrl('http://bücher.example/ä')).filter((url) => !url);
  expect(refused).toEqual([]);
});

test.each<[string, string | undefined, string | null]>([
  ['/media/a.png', 'http://player', 'http://player/media/a.png'],
  ['http://EXAMPLE.com:80', undefined, 'http://example.com/'],
  ['/media/a.png', undefined, null],
  ['http://', undefined, null],
  ['', undefined, null],
])('%j from %j is %j', (text, base, expected) => {
  expect(parseUrl(text, base)?.href ?? null).toBe(expected);
});
