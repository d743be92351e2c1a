import { describe, expect, it } from 'vitest';
import { createAddresses, mediaIn } from '../../../renderer/player/slides/markup.ts';

describe('the media of a markup', () => {
  it.each([
    ['<img src="/media/a.jpg">', ['/media/a.jpg']],
    ["<img src='/media/a.jpg'><img src=/media/b.jpg>", ['/media/a.jpg', '/media/b.jpg']],
    ['<i style="background: url(/media/a.jpg)">', ['/media/a.jpg']],
    ['<i style="background: url(&quot;/media/a.jpg&quot;)">', ['/media/a.jpg']],
    ['<img srcset="/media/a.jpg 1x,/media/b.jpg 2x">', ['/media/a.jpg', '/media/b.jpg']],
    ['<img src="/media/a.jpg"><img src="/media/a.jpg">', ['/media/a.jpg']],
    ['<img src="/media/salt&amp;pepper.jpg">', ['/media/salt&pepper.jpg']],
    ['<img src="https://example.org/a.jpg?a=1&amp;b=2">', ['https://example.org/a.jpg?a=1&b=2']],
    ['<a href="https://example.org/">https://example.org/a.html</a>', []],
  ])('%s: %j', (html, expected) => {
    expect(mediaIn(html)).toEqual(expected);
  });

  it('are replaced where they can be had, and left where they can not', async () => {
    const html = '<img src="/media/a&amp;b.jpg"><img src="/media/c.jpg">';
    const addresses = createAddresses((url) =>
      url === '/media/a&b.jpg' ? Promise.resolve('blob:1') : Promise.reject(),
    );
    expect(addresses.know(html)).toBe(false);
    await addresses.learn(html);
    expect(addresses.know(html)).toBe(true);
    expect(addresses.apply(html)).toBe('<img src="blob:1"><img src="/media/c.jpg">');
  });

  it('are forgotten once the markup has others, which may change each second', async () => {
    const asked: string[] = [];
    const addresses = createAddresses(async (url) => {
      asked.push(url);
      return url;
    });
    for (const second of [1, 2, 1])
      await addresses.learn(`<img src="/media/a.jpg?t=${second}"><img src="/media/b.jpg">`);
    expect(asked).toEqual(['/media/a.jpg?t=1', '/media/b.jpg', '/media/a.jpg?t=2', '/media/a.jpg?t=1']);
  });
});
