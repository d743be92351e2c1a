import { expect, it } from 'vitest';
import { framing } from '../../../renderer/player/slides/frame.ts';

it.each([
  [null, 'cover', [0.5, 0.5]],
  [{}, 'cover', [0.5, 0.5]],
  [{ fit: 'contain' }, 'contain', [0.5, 0.5]],
  [{ fit: 'stretch' }, 'cover', [0.5, 0.5]],
  [{ focus: [0, 1] }, 'cover', [0, 1]],
  [{ focus: [-3, 7] }, 'cover', [0, 1]],
  [{ focus: ['left', Number.NaN] }, 'cover', [0.5, 0.5]],
  [{ focus: [0.2] }, 'cover', [0.2, 0.5]],
  [{ focus: 'top' }, 'cover', [0.5, 0.5]],
])('content %j is framed as %s at %j', (content, fit, focus) => {
  expect(framing(content)).toEqual({ fit, focus });
});
