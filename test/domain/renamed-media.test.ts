/** Documents follow a medium that is renamed, and nothing else in them changes. */
import { expect, test } from 'vitest';
import { withRenamedMedium } from '../../service/domain/renamed-media.ts';

const rename = (value: unknown) => withRenamedMedium(value, 'alte Halle.jpg', 'Große Halle.jpg');
const [old, now] = ['/media/alte%20Halle.jpg', '/media/Gro%C3%9Fe%20Halle.jpg'];

test.each([
  [old, now],
  [`${old}?v=2#t=3`, `${now}?v=2#t=3`],
  ['/media/alte Halle.jpg', now],
  ['/media/%61lte%20Halle.jpg', now],
  [`<img src="${old}"><p>${old}</p>`, `<img src="${now}"><p>${old}</p>`],
  [`<style>a{background:url(${old})}</style>`, `<style>a{background:url(${now})}</style>`],
  [`<img srcset="${old} 1x, /media/b.jpg 2x">`, `<img srcset="${now} 1x, /media/b.jpg 2x">`],
])('%s becomes %s', (before, after) => {
  expect(rename(before)).toBe(after);
});

test('a name with brackets or quotes is one address in markup, and is found there again', () => {
  const [from, to] = ['alte Halle.jpg', "Halle (1)!'.jpg"];
  const page = `<img src='${old}'><style>a{background:url(${old})}</style>`;
  const renamed = withRenamedMedium(page, from, to);
  const address = '/media/Halle%20%281%29%21%27.jpg';
  expect(renamed).toBe(page.replaceAll(old, address));
  expect(withRenamedMedium(renamed, to, from)).toBe(page);
});

test.each([
  '/media/alte%20Halle.jpg.png',
  '/media/x/alte%20Halle.jpg',
  'https://example.com/media/alte%20Halle.jpg',
  'alte Halle.jpg',
  '/media/%zz',
  'See /media/ for more',
])('%s stays', (text) => {
  expect(rename(text)).toBe(text);
});

test('what does not name the file is returned as it is, and what does is not changed in place', () => {
  const other = { slides: [{ media_url: '/media/b.jpg', n: 1, none: null, on: true }] };
  expect(rename(other)).toBe(other);
  const one = { slides: [{ media_url: old, content: { list: [{ deep: old }] } }, other] };
  const copy = structuredClone(one);
  const renamed = rename(one) as typeof one;
  expect(renamed).toEqual({ slides: [{ media_url: now, content: { list: [{ deep: now }] } }, other] });
  expect(renamed.slides[1]).toBe(other);
  expect(one).toEqual(copy);
});
