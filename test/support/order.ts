/**
 * The order of test files: what waits longest starts early, so that no worker is left alone with it at the end, and in turn
 * with what is quick, so that not every worker has a browser or a compositor at the same time.
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
    const sorted = shuffle
      ? ranked.toSorted(byLot)
      : inTurn(ranked.toSorted((a, b) => a.rank - b.rank || b.size - a.size));
    return sorted.map(({ file }) => file);
  }
}
