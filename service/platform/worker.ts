/** Work that outsiders can make long, done in a thread of its own: it can neither hold up a socket nor outlive its time. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** What a thread answers; `error`: why it can't, a clause for a person. */
export type Reply = { value: unknown } | { error: string };

/** What can't be read; the message is a clause for a person. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

interface WorkerOptions {
  /** The thread's bundle in `dist/service`, without its extension. */
  bundle: string;
  /** The thread's source file, relative to `service/`; used where there is no bundle. */
  source: string;
  /** One question may take this long. */
  patienceMs: number;
  /** The thread ends after this long without a question. */
  idleMs: number;
}

export interface QuestionWorker<Question> {
  /**
   * Answers questions one after the other.
   * @throws UnreadableError
   */
  ask(question: Question): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * What the thread runs, as CommonJS: a bundle beside this one. It is handed over as text, since that is the same from a
 * folder and from an archive. Where there is none, as in the sources, they are compiled on the way.
 */
const loadScript = async ({ bundle, source }: Pick<WorkerOptions, 'bundle' | 'source'>): Promise<string> => {
  const { resolve } = createRequire(import.meta.url);
  const sources = () =>
    ['tsx/cjs', `../${source}`].map((name) => `require(${JSON.stringify(resolve(name))});`).join('');
  return readFile(new URL(`../service/${bundle}.cjs`, import.meta.url), 'utf8').catch(sources);
};

/** A thread that starts with the first question and ends when it has been idle, or with a question that takes too long. */
export const createWorker = <Question>({ patienceMs, idleMs, ...script }: WorkerOptions): QuestionWorker<Question> => {
  let loaded: string | undefined;
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
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
    loaded ??= await loadScript(script);
    const text = loaded;
    return new Promise((resolve, reject) => {
      if (closed) throw new UnreadableError('the service is closing');
      clearTimeout(idle);
      thread ??= start(text);
      const own = thread;
      const settle = (how: () => void): void => {
        clearTimeout(late);
        // These alone: whoever ends the thread waits for its exit too.
        own.off('message', onMessage).off('error', onError).off('exit', onExit);
        idle = setTimeout(() => void own.terminate(), idleMs).unref();
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

  return {
    ask: (question) => {
      const next = last.then(() => run(question));
      last = next.catch(() => {});
      return next;
    },
    close: async () => {
      closed = true;
      clearTimeout(idle);
      await thread?.terminate();
    },
  };
};
