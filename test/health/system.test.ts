/** Warnings about updates, and the systems of an image. */
import { expect, it } from 'vitest';
import { updateNotes } from '../../service/health/index.ts';
import { inGerman } from '../support/sentences.ts';

const updates = { ready: null, onTrial: false, failed: [], fault: null };
const settled = { slot: 'A' as const, version: '2.0.0', onTrial: false, left: null, fault: null };

it('says nothing of a box that has none, and of one whose system is settled', () => {
  expect(updateNotes({ updates, system: null })).toEqual([]);
  expect(updateNotes({ updates, system: settled })).toEqual([]);
});

it.each([
  ['trial', 'The system in slot B did not play in three starts; slot A runs, with 2.0.0.'],
  ['starts', 'The system in slot B did not reach the player in ten starts; slot A runs, with 2.0.0.'],
  ['unreadable', 'The system in slot B could not be read; slot A runs, with 2.0.0.'],
] as const)('says which slot was given up: %s', (why, sentence) => {
  expect(updateNotes({ updates, system: { ...settled, left: { slot: 'B', why } } })).toEqual([sentence]);
  expect(inGerman(sentence)).toMatch(/^Das System in Slot B .*Slot A mit 2/);
});

it('says why a bundle was not installed', () => {
  expect(updateNotes({ updates, system: { ...settled, fault: 'x.raucb: signature verification failed' } })).toEqual([
    'An update of the system was not installed: x.raucb: signature verification failed',
  ]);
});

it('says why one is not downloaded', () => {
  const fault = 'version 2.0.0 needs 300 MB more than the disk has free';
  const notes = updateNotes({ updates: { ...updates, fault }, system: null });
  expect(notes).toEqual([`An update is not installed: ${fault}`]);
  expect(notes.map(inGerman)).toEqual([
    'Ein Update wird nicht installiert: Version 2.0.0 braucht 300 MB mehr, als auf der Platte frei sind',
  ]);
});
