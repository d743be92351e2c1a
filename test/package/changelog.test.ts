import { expect, test } from 'vitest';
import { notesOf } from '../../.scripts/changelog.ts';

test('the notes of a release list by type what an operator notices, and incompatible changes first', () => {
  const notes = notesOf([
    'fix(player): show the first frame',
    'chore: regenerate the lock file',
    'feat(console): serve the wall',
    'feat(options)!: rename the port',
    'Merge branch x',
    'perf: start faster',
  ]);
  expect(notes).toBe(
    [
      '## Incompatible\n\n- **options:** rename the port\n',
      '## New\n\n- **console:** serve the wall\n',
      '## Fixed\n\n- **player:** show the first frame\n',
      '## Faster\n\n- start faster\n',
    ].join('\n'),
  );
});

test('a release without a change for operators says so', () => {
  expect(notesOf(['test: wait longer', ''])).toBe('Maintenance only.\n');
});
