/** Warnings about the systems of an image. */
import { expect, it } from 'vitest';
import { systemNotes } from '../../service/health/index.ts';

const settled = { slot: 'A' as const, version: '2.0.0', onTrial: false, left: null, fault: null };

it('says nothing of a box that has none, and of one whose system is settled', () => {
  expect(systemNotes(null)).toEqual([]);
  expect(systemNotes(settled)).toEqual([]);
});

it.each([
  ['trial', 'The system in slot B did not play in three starts; slot A runs, with 2.0.0.'],
  ['starts', 'The system in slot B did not reach the player in ten starts; slot A runs, with 2.0.0.'],
  ['unreadable', 'The system in slot B could not be read; slot A runs, with 2.0.0.'],
] as const)('says which slot was given up: %s', (why, sentence) => {
  expect(systemNotes({ ...settled, left: { slot: 'B', why } })).toEqual([sentence]);
});

it('says why a bundle was not installed', () => {
  expect(systemNotes({ ...settled, fault: 'x.raucb: signature verification failed' })).toEqual([
    'An update of the system was not installed: x.raucb: signature verification failed',
  ]);
});
