import { expect, it } from 'vitest';
import { textsFor } from '../../renderer/player/texts.ts';

it.each([
  [['de-AT', 'en'], 'de'],
  [['en-GB', 'de'], 'en'],
  [['fr', 'de'], 'de'],
  [['fr'], 'en'],
  [[], 'en'],
])('the first of %j that there is: %s', (wanted, tag) => {
  expect(textsFor(wanted).tag).toBe(tag);
});
