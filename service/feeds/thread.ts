/**
 * Worker thread of the reader: parses untrusted feeds and JSON, one request at a time. A separate bundle. Memory
 * is bounded by limits on the input, because a thread that exceeds its heap limit can crash the process.
 */
import { parentPort } from 'node:worker_threads';
import { parseFeed } from 'feedsmith';
import { jsonpath } from 'json-p3';
import type { NetworkScope } from '../domain/network-scope.ts';
import type { Reply } from '../platform/worker.ts';
import { type FeedItem, itemsOf, MAX_ITEMS, type ParsedFeed, titleOf } from './rss.ts';

export type Question =
  | {
      kind: 'rss';
      text: string;
      /** URL of the feed. */
      base: string;
      nearness: NetworkScope;
    }
  | { kind: 'api'; text: string; select: string | null };

/** Maximum characters of an API source's data as JSON: it is part of every playlist payload. */
const MAX_DATA = 256 * 1024;
const MAX_DEPTH = 64;
const MAX_RESULTS = 20_000;
/** Maximum elements and attributes, or values: parsed, they take up to 100 times the memory of their text. */
const MAX_PARTS = 250_000;

class Unreadable extends Error {}

const within = (levels: number, value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((each) => within(levels - 1, each)));

const refuseTooMany = (text: string, characters: string): void => {
  let count = 0;
  for (const character of text) if (characters.includes(character)) count += 1;
  if (count > MAX_PARTS) throw new Unreadable('it has too many parts');
};

export interface ReadFeed {
  title: string | null;
  items: FeedItem[];
}

/** The end of RSS, Atom or RDF, which comments and what servers add may follow. */
const XML_END = /<\/(?:[\w.-]+:)?(?:rss|feed|rdf)\s*>/i;

const readFeed = ({ text, base, nearness }: Extract<Question, { kind: 'rss' }>): ReadFeed => {
  refuseTooMany(text, text.trimStart().startsWith('{') ? ',[{' : '<=');
  let feed: ParsedFeed;
  try {
    feed = parseFeed(text, { maxItems: MAX_ITEMS * 2 });
  } catch (error) {
    const isNone = (error as Error).name === 'DetectError';
    throw new Unreadable(isNone ? 'it is no RSS, Atom, RDF or JSON feed' : 'its XML or JSON is broken');
  }
  // The parser closes open elements by itself, so a program that failed halfway would take most headlines away.
  if (feed.format !== 'json' && !XML_END.test(text)) throw new Unreadable('the answer was cut off');
  return { title: titleOf(feed), items: itemsOf(feed, base, nearness) };
};

const pick = (data: unknown, select: string): unknown => {
  const path = jsonpath.compile(select);
  const values: unknown[] = [];
  for (const { value } of path.lazyQuery(data as Parameters<typeof path.lazyQuery>[0])) {
    if (values.push(value) > MAX_RESULTS) throw new Unreadable('select finds too much in it');
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
  if (!within(MAX_DEPTH, all)) throw new Unreadable(`it is nested more than ${MAX_DEPTH} levels deep`);
  const data = select === null ? all : pick(all, select);
  const size = JSON.stringify(data).length;
  if (size > MAX_DATA) {
    throw new Unreadable(`its data are ${size} characters long, more than ${MAX_DATA}; select less`);
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
