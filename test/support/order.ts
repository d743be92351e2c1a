/** The order of test files: what waits longest starts first, so that no worker is left alone with it at the end. */
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

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { shuffle, seed } = this.ctx.config.sequence;
    const ranked = files.map((file) => {
      const text = readFileSync(file.moduleId, 'utf8');
      const lot = createHash('sha1').update(`${seed} ${file.moduleId}`).digest('hex');
      return { file, rank: rankOf(text), size: text.length, lot };
    });
    const byLot = (a: { lot: string }, b: { lot: string }): number => (a.lot < b.lot ? -1 : 1);
    const sorted = shuffle ? ranked.toSorted(byLot) : ranked.toSorted((a, b) => a.rank - b.rank || b.size - a.size);
    return sorted.map(({ file }) => file);
  }
}
