import { describe, expect, it } from 'vitest';
import { isHtml, mediaIn, withMedia } from '../../../renderer/player/slides/markup.ts';

describe('a body', () => {
  it.each([
    '<p>Hello</p>',
    'Soup <b>of the day</b>',
    'one<br>two',
    'one<br/>two',
    '<IMG SRC="x" onerror=alert(1)>',
    '<!-- nothing -->',
    '<script>alert(1)</script>',
  ])('%j is HTML', (text) => {
    expect(isHtml(text)).toBe(true);
  });

  it.each(['', 'Hello', '1 < 2 and 3 > 2', 'I <3 you', 'Fish & chips', 'a<b', '<beer>', 'if (a<b && b>c)'])(
    '%j is plain text',
    (text) => {
      expect(isHtml(text)).toBe(false);
    },
  );
});

describe('the media of a markup', () => {
  it.each([
    ['<img src="/media/a.jpg">', ['/media/a.jpg']],
    ["<img src='/media/a.jpg'><img src=/media/b.jpg>", ['/media/a.jpg', '/media/b.jpg']],
    ['<i style="background: url(/media/a.jpg)">', ['/media/a.jpg']],
    ['<i style="background: url(&quot;/media/a.jpg&quot;)">', ['/media/a.jpg']],
    ['<img srcset="/media/a.jpg 1x,/media/b.jpg 2x">', ['/media/a.jpg', '/media/b.jpg']],
    ['<img src="/media/a.jpg"><img src="/media/a.jpg">', ['/media/a.jpg']],
    ['<img src="/media/salt&amp;pepper.jpg">', ['/media/salt&pepper.jpg']],
    ['<img src="https://example.org/media/a.jpg">', []],
  ])('%s: %j', (html, expected) => {
    expect(mediaIn(html)).toEqual(expected);
  });

  it('are replaced where another address is known, and left where none is', () => {
    const html = '<img src="/media/a&amp;b.jpg"><img src="/media/c.jpg">';
    expect(withMedia(html, new Map([['/media/a&b.jpg', 'blob:1']]))).toBe('<img src="blob:1"><img src="/media/c.jpg">');
  });
});
