import { describe, expect, it } from 'vitest';
import { isHtml } from '../../../renderer/player/slides/markup.ts';

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
