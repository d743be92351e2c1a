/** Where redirects lead, by their addresses alone. */
import { expect, test } from 'vitest';
import { redirectTarget } from '../../service/domain/redirect.ts';

const targetOf = (url: string) => redirectTarget(url, ({ host }) => host === 'box:8080');

test.each([
  ['/screen/bar', '/screen/bar'],
  ['/screen/b%61r?a=1', '/screen/bar?a=1'],
  ['/screen/bar#top', '/screen/bar'],
  ['/healthz/../screen/bar', '/screen/bar'],
  ['http://box:8080/screen/bar?a=1', '/screen/bar?a=1'],
  ['HTTP://BOX:8080/screen/bar', '/screen/bar'],
  ['http://operator:pass@box:8080/screen/bar', '/screen/bar'],
])('%s leads to a screen', (url, path) => {
  expect(targetOf(url)).toEqual({ kind: 'screen', url: path });
});

test.each([
  ['/media/menu.pdf', 'menu.pdf'],
  ['/media/a%20b.png?v=2#page=3', 'a b.png'],
  ['http://box:8080/media/menu.pdf', 'menu.pdf'],
])('%s leads to a file', (url, name) => {
  const { pathname, search, hash } = new URL(url, 'http://box:8080');
  expect(targetOf(url)).toEqual({ kind: 'media', url: pathname + search + hash, name });
});

test.each(['http://example.com', 'https://box/screen/bar', 'http://box:8080@example.com/screen/bar', 'http://box/'])(
  '%s leads to a page of others, as it was given',
  (url) => {
    expect(targetOf(url)).toEqual({ kind: 'external', url });
  },
);

test.each([
  '/',
  '/onboard?deviceId=x',
  '/healthz',
  '/console',
  '/api/screens',
  '/screen/',
  '/screen/bar/',
  '/screen/bar/x',
  '/screen/Bar',
  '/screen/%',
  '/screen/bar%2f..',
  '/screen/%2e%2e/healthz',
  '/screen/..\\healthz',
  '/media/',
  '/media/../healthz',
  '/media/a/b.png',
  '/assets/player.js',
  'http://box:8080',
  'http://box:8080/onboard',
  'http://user@BOX:8080/healthz',
  'http://box:8080\\healthz',
  'http:\\\\box:8080\\healthz',
  'http://%62ox:8080/healthz',
  'http://box:8080/media/../healthz',
])('%s leads nowhere that a screen may be', (url) => {
  expect(targetOf(url)).toBeNull();
});
