import { Worker } from 'node:worker_threads';

/**
 * The hashing worker thread. SHA-256 takes more CPU time than everything else in an upload and would block the main
 * thread's sockets. The worker reads the written bytes back, usually from the page cache, one block per file in turn:
 * memory stays constant, and a long file does not delay a short one.
 *
 * It is CommonJS in a string, so that it runs the same from sources, from a bundle and from an archive.
 */
const script = `
const { createHash } = require('node:crypto');
const { closeSync, openSync, readSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');

const block = Buffer.allocUnsafe(1 << 20);
const files = new Map();
let busy = false;

const end = (id, answer) => {
  const { fd } = files.get(id);
  if (fd !== undefined) closeSync(fd);
  files.delete(id);
  if (answer) parentPort.postMessage({ id, ...answer });
};

const advance = (file) => {
  file.fd ??= openSync(file.path, 'r');
  const bytes = readSync(file.fd, block, 0, Math.min(block.length, file.upTo - file.at), file.at);
  if (bytes === 0) throw new Error('The file is shorter than its stated size.');
  file.hash.update(block.subarray(0, bytes));
  file.at += bytes;
};

const turn = () => {
  busy = false;
  for (const [id, file] of files) {
    try {
      if (file.at < file.upTo && !file.error) advance(file);
    } catch (error) {
      file.error = String(error);
    }
    if (file.at < file.upTo && !file.error) busy = true;
    else if (file.last) end(id, file.error ? { error: file.error } : { sha256: file.hash.digest('hex') });
  }
  if (busy) setImmediate(turn);
};

parentPort.on('message', ({ id, path, upTo, last, stop }) => {
  if (path !== undefined) files.set(id, { path, at: 0, hash: createHash('sha256') });
  if (stop && files.has(id)) end(id);
  const file = files.get(id);
  if (!file) return;
  file.upTo = upTo;
  file.last = last;
  if (!busy) turn();
});
`;

const ended = 'The hashing thread ended.';

type Answer = { id: number } & ({ sha256: string } | { error: string });

interface Waiting {
  resolve(sha256: string): void;
  reject(error: Error): void;
}

/** The hash of one file, computed while the file still grows. */
export interface FileHash {
  /** Allows the first `bytes` bytes of the file to be read. */
  upTo(bytes: number): void;
  /** Resolves to the SHA-256 (hex) of the first `bytes` bytes, after the file is closed. */
  digest(bytes: number): Promise<string>;
  /** Cancels the hashing and closes the file. */
  stop(): void;
}

/** Hashes files in a worker thread, which starts with the first file. */
export const createHasher = () => {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | undefined;
  let lastId = 0;

  const start = (): Worker => {
    const started = new Worker(script, { eval: true, execArgv: [] });
    started.unref();
    started.on('message', (answer: Answer) => {
      const { resolve, reject } = waiting.get(answer.id) ?? {};
      waiting.delete(answer.id);
      if ('sha256' in answer) resolve?.(answer.sha256);
      else reject?.(new Error(answer.error));
    });
    started.on('error', () => undefined);
    started.on('exit', () => {
      thread = undefined;
      for (const { reject } of waiting.values()) reject(new Error(ended));
      waiting.clear();
    });
    return started;
  };

  return {
    hashFile(path: string): FileHash {
      thread ??= start();
      const own = thread;
      const id = ++lastId;
      own.postMessage({ id, path, upTo: 0, last: false });
      return {
        upTo: (bytes) => own.postMessage({ id, upTo: bytes, last: false }),
        digest: (bytes) =>
          new Promise((resolve, reject) => {
            if (thread !== own) return reject(new Error(ended));
            waiting.set(id, { resolve, reject });
            own.postMessage({ id, upTo: bytes, last: true });
          }),
        stop: () => own.postMessage({ id, stop: true }),
      };
    },
    async close(): Promise<void> {
      await thread?.terminate();
    },
  };
};
export type Hasher = Pick<ReturnType<typeof createHasher>, 'hashFile'>;
