/**
 * The order of test files: those with a browser or a compositor in turn with those that start a service alone, so that not
 * every worker has a browser at the same time, and at the end those that start nothing: they are quick, and no worker is
 * left alone with one that waits.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** From the slowest: what a test file imports tells what it starts. */
const kinds = [
  /support\/(kiosk|compositor)\.ts/,
  /support\/(browser|player)\.ts/,
  /support\/service\.ts|node:child_process/,
];

const rankOf = (text: string): number => {
  const kind = kinds.findIndex((each) => each.test(text));
  return kind < 0 ? kinds.length : kind;
};

/** The first, the last, the second, the last but one, and so on. */
const inTurn = <Each>(list: readonly Each[]): Each[] =>
  list.map((_, at) => list.at(at % 2 === 0 ? at / 2 : -(at + 1) / 2) as Each);

export class SlowInTurn extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { shuffle, seed } = this.ctx.config.sequence;
    const ranked = files.map((file) => {
      const text = readFileSync(file.moduleId, 'utf8');
      const lot = createHash('sha1').update(`${seed} ${file.moduleId}`).digest('hex');
      return { file, rank: rankOf(text), size: text.length, lot };
    });
    const byLot = (a: { lot: string }, b: { lot: string }): number => (a.lot < b.lot ? -1 : 1);
    if (shuffle) return ranked.toSorted(byLot).map(({ file }) => file);
    const sorted = ranked.toSorted((a, b) => a.rank - b.rank || b.size - a.size);
    const slow = sorted.filter(({ rank }) => rank < kinds.length);
    return [...inTurn(slow), ...sorted.slice(slow.length)].map(({ file }) => file);
  }
}
