/**
 * What runs in the thread of the reader: reads what others have written, one question after the other. A bundle of its
 * own. Memory is bounded by what is let in: a thread that meets its limit can take the process with it.
 */
import { parentPort } from 'node:worker_threads';
import { parseFeed } from 'feedsmith';
import { jsonpath } from 'json-p3';
import type { Nearness } from '../domain/network-scope.ts';
import type { Reply } from '../platform/worker.ts';
import { type FeedItem, itemsOf, MOST_ITEMS, type ParsedFeed, titleOf } from './rss.ts';

export type Question =
  | {
      kind: 'rss';
      text: string;
      /** Where the feed came from. */
      base: string;
      nearness: Nearness;
    }
  | { kind: 'api'; text: string; select: string | null };

/** Of an API source's data, as JSON. It is part of every playlist payload. */
const LONGEST_DATA = 256 * 1024;
const DEEPEST_DATA = 64;
const MOST_RESULTS = 20_000;
/** Elements and attributes, or values: what is made of them takes up to a hundred times the room of their text. */
const MOST_PARTS = 250_000;

class Unreadable extends Error {}

const within = (levels: number, value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((each) => within(levels - 1, each)));

const refuseTooMany = (text: string, characters: string): void => {
  let count = 0;
  for (const character of text) if (characters.includes(character)) count += 1;
  if (count > MOST_PARTS) throw new Unreadable('it has too many parts');
};

/** A feed as it is shown. */
export interface ReadFeed {
  title: string | null;
  items: FeedItem[];
}

const readFeed = ({ text, base, nearness }: Extract<Question, { kind: 'rss' }>): ReadFeed => {
  refuseTooMany(text, text.trimStart().startsWith('{') ? ',[{' : '<=');
  let feed: ParsedFeed;
  try {
    feed = parseFeed(text, { maxItems: MOST_ITEMS * 2 });
  } catch (error) {
    const isNone = (error as Error).name === 'DetectError';
    throw new Unreadable(isNone ? 'it is no RSS, Atom, RDF or JSON feed' : 'its XML or JSON is broken');
  }
  return { title: titleOf(feed), items: itemsOf(feed, base, nearness) };
};

const pick = (data: unknown, select: string): unknown => {
  const path = jsonpath.compile(select);
  const values: unknown[] = [];
  for (const { value } of path.lazyQuery(data as Parameters<typeof path.lazyQuery>[0])) {
    if (values.push(value) > MOST_RESULTS) throw new Unreadable('select finds too much in it');
  }
  if (!path.singularQuery()) return values;
  if (values.length === 0) throw new Unreadable('select finds nothing in it');
  return values[0];
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text.trim());
  } catch {
    throw new Unreadable('it is not JSON');
  }
};

const readData = (text: string, select: string | null): unknown => {
  refuseTooMany(text, ',[{');
  const all = parseJson(text);
  if (!within(DEEPEST_DATA, all)) throw new Unreadable(`it is nested more than ${DEEPEST_DATA} levels deep`);
  const data = select === null ? all : pick(all, select);
  const size = JSON.stringify(data).length;
  if (size > LONGEST_DATA) {
    throw new Unreadable(`its data are ${size} characters long, more than ${LONGEST_DATA}; select less`);
  }
  return data;
};

const answer = (question: Question): Reply => {
  try {
    return { value: question.kind === 'rss' ? readFeed(question) : readData(question.text, question.select) };
  } catch (error) {
    return { error: (error as Error).message };
  }
};

parentPort?.on('message', (question: Question) => parentPort?.postMessage(answer(question)));
