import { describe, expect, it } from 'vitest';
import { type Candidate, chooseReference, mayEstablish } from '../../service/clock/majority.ts';

const known = (nodeId: string): Candidate => ({ nodeId, established: true });
const fresh = (nodeId: string): Candidate => ({ nodeId, established: false });
const unknown = (nodeId: string): Candidate => ({ nodeId, established: null });

describe('the reference', () => {
  it.each([
    ['is the box itself where it is alone', true, [], 'm'],
    ['is the lowest id that is up', true, [known('z'), known('c'), known('b')], 'b'],
    ['is the box itself where it is the lowest', true, [known('z'), known('n')], 'm'],
    ['is a lower one of which nothing is known, until that has said otherwise', true, [unknown('b')], 'b'],
    ['is no box that has just come up', true, [fresh('b'), known('c')], 'c'],
    ['is any that has the time, for a box that has just come up', false, [known('z'), known('y')], 'y'],
    ['is the box itself where no box has the time', false, [fresh('b'), fresh('z')], 'm'],
  ])('%s', (_, established, others, expected) => {
    expect(chooseReference({ nodeId: 'm', established }, others)).toBe(expected);
  });
});

describe('a box that has just come up', () => {
  it.each([
    ['gives the time where all have just come up, and it is the lowest', [fresh('n'), fresh('z')], false, true],
    ['waits for a lower one', [fresh('a'), fresh('z')], false, false],
    ['waits for a higher one that has not answered yet', [unknown('z')], false, false],
    ['waits a while for others', [], false, false],
    ['does not wait for ever', [fresh('a')], true, true],
  ])('%s', (_, others, waited, expected) => {
    expect(mayEstablish('m', others, waited)).toBe(expected);
  });
});
