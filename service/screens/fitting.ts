/** The connections that fit into an answer to another box. */
import { perObject } from '../domain/collections.ts';

/** What most displays report is smaller: 10,000 of them fit into the 16 MiB that boxes read. */
const SMALL_BYTES = 1_200;
/** Larger ones are sent up to this sum: a box answers within a second over a network of 100 Mbit/s. */
const MAX_BYTES = 4 * 1024 ** 2;

/** The length of a record as JSON; records are replaced, never mutated. */
const bytesOf = perObject((record: object): number => Buffer.byteLength(JSON.stringify(record)) + 1);

/**
 * The items in their order, without the largest ones where they exceed together what is sent to another box: texts that
 * strangers report in their pages must not keep the displays of this box out of its answers.
 * @param partsOf what is sent of an item
 */
export const fitting = <Item>(items: readonly Item[], partsOf: (item: Item) => readonly (object | null)[]): Item[] => {
  const sized = items.map((item) => ({
    item,
    bytes: partsOf(item).reduce((sum, part) => sum + (part === null ? 0 : bytesOf(part)), 0),
  }));
  let sum = 0;
  const kept = new Set(
    sized
      .toSorted((a, b) => a.bytes - b.bytes)
      .filter(({ bytes }) => {
        sum += bytes;
        return bytes <= SMALL_BYTES || sum <= MAX_BYTES;
      }),
  );
  return sized.filter((each) => kept.has(each)).map(({ item }) => item);
};
