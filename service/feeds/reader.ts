import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Nearness } from '../outbound/networks.ts';
import type { Question, ReadFeed, Reply } from './thread.ts';

const PATIENCE_MS = 10_000;
const IDLE_MS = 30_000;

/**
 * What the thread runs, as CommonJS: a bundle beside this one. It is handed over as text, since that is the same from a
 * folder and from an archive. Where there is none, as in the sources, they are compiled on the way.
 */
const loadScript = async (): Promise<string> => {
  const { resolve } = createRequire(import.meta.url);
  const bundle = new URL('../service/feeds-thread.cjs', import.meta.url);
  const sources = () => ['tsx/cjs', './thread.ts'].map((name) => `require(${JSON.stringify(resolve(name))});`).join('');
  return readFile(bundle, 'utf8').catch(sources);
};

/** What can't be read; the message is a clause for a person. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

/**
 * Reads feeds and JSON, one after the other, in a thread that starts with the first and ends when it has rested. Five
 * megabytes of XML take a second, a hostile expression in a path takes for ever: in a thread of its own neither holds up
 * a socket, and what takes too long ends with the thread.
 */
export const createReader = ({ patienceMs = PATIENCE_MS } = {}) => {
  let script: string | undefined;
  let thread: Worker | undefined;
  let rest: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  const start = (text: string): Worker => {
    const started = new Worker(text, { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 512 } });
    started.unref();
    started.on('exit', () => {
      if (thread === started) thread = undefined;
    });
    // An error of a thread that nobody waits for must not be the service's end.
    started.on('error', () => {});
    return started;
  };

  const run = async (question: Question): Promise<unknown> => {
    script ??= await loadScript();
    const text = script;
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
      const onMessage = (reply: Reply): void => {
        if ('error' in reply) fail(reply.error);
        else settle(() => resolve(reply.value));
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
      own.postMessage(question);
    });
  };

  const queue = (question: Question): Promise<unknown> => {
    const next = last.then(() => run(question));
    last = next.catch(() => {});
    return next;
  };

  return {
    /**
     * A feed: its title and its items.
     * @param base where it came from
     * @param nearness how near that is: its pictures may be as near
     * @throws UnreadableError
     */
    feed: (text: string, base: string, nearness: Nearness) =>
      queue({ kind: 'rss', text, base, nearness }) as Promise<ReadFeed>,
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
