/** A real service on a free port, over a data directory of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { startService } from '../../service/index.ts';
import { readOptions } from '../../service/options.ts';

const root = join(import.meta.dirname, '..', '..');

interface Setup {
  /** What stands in content.json; text is written as it is; absent: the demo of a first start. */
  content?: unknown;
  /** SIGNAGE_ settings beyond port and data directory. */
  env?: Record<string, string>;
  /** A data directory that outlives the service; else one that is removed with the test. */
  dataDir?: string;
}

export interface TestService {
  url: string;
  dataDir: string;
  /** What the service logged, one JSON object a line. */
  log(): string;
  /** Replaces content.json, as most editors do: in place. */
  writeContent(content: unknown): void;
  get(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

/** A folder that is removed when the test is over. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Starts a service that ends with the test. */
export const startTestService = async ({
  content,
  env = {},
  dataDir = temporaryFolder(),
}: Setup = {}): Promise<TestService> => {
  const lines: string[] = [];
  const writeContent = (next: unknown): void =>
    writeFileSync(join(dataDir, 'content.json'), typeof next === 'string' ? next : JSON.stringify(next));
  if (content !== undefined) writeContent(content);
  const options = readOptions({
    env: {
      SIGNAGE_HOST: '127.0.0.1',
      SIGNAGE_PORT: '0',
      SIGNAGE_DATA_DIR: dataDir,
      SIGNAGE_LOG_LEVEL: 'debug',
      ...env,
    },
  });
  const service = await startService(options, {
    log: pino({ level: options.logLevel }, { write: (line) => lines.push(line) }),
    rendererDir: join(root, 'dist', 'renderer'),
    resourcesDir: join(root, 'resources'),
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= service.close());
  onTestFinished(close);

  const get: TestService['get'] = (path, init) => fetch(service.url + path, init);
  return {
    url: service.url,
    dataDir,
    log: () => lines.join(''),
    writeContent,
    get,
    post: (path, body, headers = {}) =>
      get(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    close,
  };
};
