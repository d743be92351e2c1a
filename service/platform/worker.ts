/** Runs work on untrusted input in a worker thread: it cannot block the service, and has a deadline. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

/** The reply of a thread; `error` completes the sentence "... could not be read: ". */
export type Reply = { value: unknown } | { error: string };

/** The input could not be read; the message is a clause for the operator. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

interface WorkerOptions {
  /** The bundle of the thread in `dist/service`, without extension. */
  bundle: string;
  /** The source file of the thread, relative to `service/`; used if there is no bundle, or an older one. */
  source: string;
  /** The deadline for a request, from when the thread has started. */
  patienceMs: number;
  /** The thread ends after this time without a request. */
  idleMs: number;
}

export interface QuestionWorker<Question> {
  /**
   * Processes requests one after the other.
   * @throws UnreadableError
   */
  ask(question: Question): Promise<unknown>;
  close(): Promise<void>;
}

/** Where a bundle may be: beside the bundle of the service, or where the build of a checkout puts it. */
export const bundlePaths = (bundle: string): [own: string, built: string] => {
  const pathOf = (folder: string) => fileURLToPath(new URL(`${folder}/${bundle}.cjs`, import.meta.url));
  return [pathOf('../service'), pathOf('../../dist/service')];
};

/** @throws if the bundle is older than a file in the folder of its source */
const readFresh = async (path: string, source: string): Promise<string> => {
  const folder = dirname(source);
  const times = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).mtimeMs);
  if (Math.max(...(await Promise.all(times))) > (await stat(path)).mtimeMs) throw new Error('The bundle is stale');
  return readFile(path, 'utf8');
};

/**
 * The CommonJS script of the thread: a bundle. It is passed as text, because a thread cannot load a file from an asar. In a
 * checkout without bundles, or where a file beside the source of the thread is newer, the sources are compiled instead.
 */
const loadScript = async ({ bundle, source }: Pick<WorkerOptions, 'bundle' | 'source'>): Promise<string> => {
  const { resolve } = createRequire(import.meta.url);
  const sources = () =>
    ['tsx/cjs', `../${source}`].map((name) => `require(${JSON.stringify(resolve(name))});`).join('');
  const [own, built] = bundlePaths(bundle);
  return readFile(own, 'utf8')
    .catch(() => readFresh(built, resolve(`../${source}`)))
    .catch(sources);
};

/** Within this time a thread starts, also where a slow machine starts everything else, too, ms. */
const START_MS = 60_000;
/** What a thread says before it takes the first request. */
const READY = 'ready';

/** A thread that starts with the first request and ends when it is idle or a request exceeds its deadline. */
export const createWorker = <Question>({ patienceMs, idleMs, ...script }: WorkerOptions): QuestionWorker<Question> => {
  let loaded: string | undefined;
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  const start = (text: string): Worker => {
    const announced = `${text}\n;require('node:worker_threads').parentPort.postMessage('${READY}');`;
    const started = new Worker(announced, {
      eval: true,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    });
    started.unref();
    started.on('exit', () => {
      if (thread === started) thread = undefined;
    });
    // An error of a thread without a request must not end the service.
    started.on('error', () => {});
    return started;
  };

  /** The next request gets a thread of its own at once: one that is ending takes a request, and never answers it. */
  const end = (own: Worker): void => {
    if (thread === own) thread = undefined;
    void own.terminate();
  };

  const run = async (question: Question): Promise<unknown> => {
    loaded ??= await loadScript(script);
    const text = loaded;
    return new Promise((resolve, reject) => {
      if (closed) throw new UnreadableError('the service is closing');
      clearTimeout(idle);
      const isNew = thread === undefined;
      thread ??= start(text);
      const own = thread;
      const settle = (how: () => void): void => {
        clearTimeout(late);
        // Not all listeners: `terminate` listens for the exit too.
        own.off('message', onMessage).off('error', onError).off('exit', onExit);
        idle = setTimeout(() => end(own), idleMs).unref();
        how();
      };
      const fail = (why: string): void => settle(() => reject(new UnreadableError(why)));
      const onMessage = (reply: Reply | typeof READY): void => {
        if (reply === READY) {
          clearTimeout(late);
          late = giveUpAfter(patienceMs);
        } else if ('error' in reply) fail(reply.error);
        else settle(() => resolve(reply.value));
      };
      const onError = (): void => {
        thread = undefined;
        fail('it cannot be read');
      };
      const onExit = (): void => fail('reading it was broken off');
      const giveUpAfter = (ms: number): NodeJS.Timeout =>
        setTimeout(() => {
          end(own);
          fail(`reading it took longer than ${ms / 1000} s`);
        }, ms);
      let late = giveUpAfter(isNew ? START_MS : patienceMs);
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
