import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { MOST_ITEMS, type ParsedFeed } from './rss.ts';

/** Of an API source's data, as JSON. It is part of every playlist payload. */
const LONGEST_DATA = 256 * 1024;
const DEEPEST_DATA = 64;
const MOST_RESULTS = 20_000;
/** Elements and attributes, or values: what is made of them takes up to a hundred times the room of their text. */
const MOST_PARTS = 250_000;
const PATIENCE_MS = 10_000;
const IDLE_MS = 30_000;

/**
 * The thread that reads what others have written. Five megabytes of XML take a second, a hostile expression in a path
 * takes for ever: in a thread of its own neither holds up a socket, and what takes too long ends with the thread. Memory
 * is bounded by what is let in: a thread that meets its limit can take the process with it.
 *
 * CommonJS in a string, after that of its libraries, because it then runs the same from sources, from a bundle and from
 * an archive.
 */
const script = `
const { parentPort, workerData } = require('node:worker_threads');
const { parseFeed, jsonpath } = module.exports;

const within = (levels, value) =>
  typeof value !== 'object' || value === null || (levels > 0 && Object.values(value).every((each) => within(levels - 1, each)));

const countOf = (text, characters) => {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) if (characters.includes(text[at])) count += 1;
  return count;
};

const readFeed = (text) => {
  if (countOf(text, text.trimStart()[0] === '{' ? ',[{' : '<=') > workerData.mostParts) throw 'it has too many parts';
  try {
    return parseFeed(text, { maxItems: workerData.mostItems });
  } catch (error) {
    throw error.name === 'DetectError' ? 'it is no RSS, Atom, RDF or JSON feed' : 'its XML or JSON is broken';
  }
};

const readData = (text, select) => {
  if (countOf(text, ',[{') > workerData.mostParts) throw 'it has too many parts';
  let data;
  try {
    data = JSON.parse(text.trim());
  } catch {
    throw 'it is not JSON';
  }
  if (!within(workerData.deepest, data)) throw 'it is nested more than ' + workerData.deepest + ' levels deep';
  if (select !== null) {
    const path = jsonpath.compile(select);
    const values = [];
    for (const { value } of path.lazyQuery(data)) {
      if (values.push(value) > workerData.mostResults) throw 'select finds too much in it';
    }
    if (path.singularQuery() && values.length === 0) throw 'select finds nothing in it';
    data = path.singularQuery() ? values[0] : values;
  }
  const size = JSON.stringify(data).length;
  if (size > workerData.longest) throw 'its data are ' + size + ' characters long, more than ' + workerData.longest + '; select less';
  return data;
};

parentPort.on('message', ({ kind, text, select }) => {
  try {
    parentPort.postMessage({ value: kind === 'rss' ? readFeed(text) : readData(text, select) });
  } catch (error) {
    parentPort.postMessage({ error: typeof error === 'string' ? error : String(error && error.message) });
  }
});
`;

/** The libraries as CommonJS: the bundle of them beside this one or, where this is the source, themselves. */
const loadLibraries = async (): Promise<string> => {
  const { resolve } = createRequire(import.meta.url);
  const named = () => ['feedsmith', 'json-p3'].map((name) => `...require(${JSON.stringify(resolve(name))})`);
  const bundle = new URL('../service/parsers.cjs', import.meta.url);
  return readFile(bundle, 'utf8').catch(() => `module.exports = {${named().join(', ')}};`);
};

/** What can't be read; the message is a clause for a person. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

type Job = { kind: 'rss'; text: string } | { kind: 'api'; text: string; select: string | null };

/** Reads feeds and JSON, one after the other, in a thread that starts with the first and ends when it has rested. */
export const createReader = ({ patienceMs = PATIENCE_MS } = {}) => {
  let libraries: string | undefined;
  let thread: Worker | undefined;
  let rest: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  const start = (libraries: string): Worker => {
    const started = new Worker(`${libraries}\n{${script}}`, {
      eval: true,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 512 },
      workerData: {
        mostItems: MOST_ITEMS * 2,
        mostParts: MOST_PARTS,
        mostResults: MOST_RESULTS,
        longest: LONGEST_DATA,
        deepest: DEEPEST_DATA,
      },
    });
    started.unref();
    started.on('exit', () => {
      if (thread === started) thread = undefined;
    });
    // An error of a thread that nobody waits for must not be the service's end.
    started.on('error', () => {});
    return started;
  };

  const run = async (job: Job): Promise<unknown> => {
    libraries ??= await loadLibraries();
    const text = libraries;
    return new Promise((resolve, reject) => {
      if (closed) throw new UnreadableError('the service is closing');
      clearTimeout(rest);
      thread ??= start(text);
      const own = thread;
      const settle = (how: () => void): void => {
        clearTimeout(late);
        // These alone: whoever ends the thread waits for its exit too.
        own.off('message', onMessage).off('error', onError).off('exit', onExit);
        rest = setTimeout(() => void own.terminate(), IDLE_MS).unref();
        how();
      };
      const fail = (why: string): void => settle(() => reject(new UnreadableError(why)));
      const onMessage = ({ value, error }: { value?: unknown; error?: string }): void => {
        if (error === undefined) settle(() => resolve(value));
        else fail(error);
      };
      const onError = (): void => {
        thread = undefined;
        fail("it can't be read");
      };
      const onExit = (): void => fail('reading it was broken off');
      const late = setTimeout(() => {
        thread = undefined;
        void own.terminate();
        fail(`reading it took longer than ${patienceMs / 1000} s`);
      }, patienceMs);
      own.on('message', onMessage).on('error', onError).on('exit', onExit);
      own.postMessage(job);
    });
  };

  const queue = (job: Job): Promise<unknown> => {
    const next = last.then(() => run(job));
    last = next.catch(() => {});
    return next;
  };

  return {
    /** @throws UnreadableError */
    feed: (text: string) => queue({ kind: 'rss', text }) as Promise<ParsedFeed>,
    /**
     * The JSON, or what `select` (RFC 9535) finds in it: the value itself for a singular query, else the list.
     * @throws UnreadableError
     */
    data: (text: string, select: string | null) => queue({ kind: 'api', text, select }),
    async close(): Promise<void> {
      closed = true;
      clearTimeout(rest);
      await thread?.terminate();
    },
  };
};
export type Reader = ReturnType<typeof createReader>;
