/** A real service on a free port, over a data directory of its own. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Ports } from '../../service/context.ts';
import { type Service, startService } from '../../service/index.ts';
import { findOnPath } from '../../service/platform/ffmpeg.ts';
import { readOptions } from '../../service/platform/options/index.ts';
import type { Tempo } from '../../service/tempo.ts';
import { starts } from './cost.ts';
import { answerCheckOf } from './openapi.ts';
import { testTempo } from './tempo.ts';

const root = join(import.meta.dirname, '..', '..');

const path = process.env.PATH ?? '';
const programs = [
  ...[
    'bwrap',
    'ffmpeg',
    'heif-convert',
    'ionice',
    'nice',
    'prlimit',
    'ps',
    'setpriv',
    'soffice',
    'taskset',
    'timedatectl',
  ],
  'unshare',
];
let withoutFlock: Promise<string> | undefined;
/**
 * A PATH with the programs that a service starts, but for flock(1): no other process knows the data directories of
 * tests, which are locked by name here, and each start of a program copies the page tables of a large process.
 */
const servicePath = (): Promise<string> =>
  (withoutFlock ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signage-programs-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    for (const name of programs) {
      const found = await findOnPath(name, { PATH: path });
      if (found !== null) symlinkSync(found, join(folder, name));
    }
    return folder;
  })());

/** One screen with one text: of the shipped demo each service would hash a film, and read a template in a thread. */
const lightDemo = {
  screens: [{ name: 'Demo', slug: 'demo', tags: ['public'], playlist_id: 'day' }],
  playlists: [{ id: 'day', slides: [{ id: 'hero', kind: 'text', title: 'Hello', duration_seconds: 7 }] }],
};
let lightDir: string | undefined;
/** Resources whose demo is {@link lightDemo}. Content of peers replaces it, as it does a demo that nobody has edited. */
const lightResources = (): string => {
  if (lightDir !== undefined) return lightDir;
  const folder = mkdtempSync(join(tmpdir(), 'signage-resources-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'demo', 'media'), { recursive: true });
  writeFileSync(join(folder, 'demo', 'content.json'), JSON.stringify(lightDemo));
  lightDir = folder;
  return folder;
};

interface Setup {
  /** What stands in content.json; text is written as it is; absent: the demo of a first start. */
  content?: unknown;
  /** Whether the demo is the shipped one; default: false, it is a single text. */
  isDemoShipped?: boolean;
  /** SIGNAGE_ settings beyond port and data directory. */
  env?: Record<string, string>;
  /** The time of day by the machine, ms since the epoch. */
  wall?: () => number;
  /** Whether the system calls that synchronized; default: false. */
  isSynchronized?: () => boolean;
  /** How long the service waits; default: {@link testTempo}. */
  tempo?: Tempo;
  /** What the host of the service can do: tell of its displays, photograph one, restart the player. */
  host?: Pick<Ports, 'capture' | 'hotspot' | 'kiosk' | 'operate' | 'restart'>;
  /** A data directory that outlives the service; else one that is removed with the test. */
  dataDir?: string;
}

export interface TestService extends Pick<Service, 'hours' | 'nodeId' | 'pageHeaders' | 'recover' | 'updateFeeds'> {
  url: string;
  dataDir: string;
  /** What the service logged, one JSON object a line. */
  log(): string;
  /** Replaces content.json, as most editors do: in place. */
  writeContent(content: unknown): void;
  /** Sends a request, and compares the answer with the variant's OpenAPI document. */
  get(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

/** Puts something off until what uses a service or a folder is over. */
export type OnEnd = (end: () => void | Promise<void>) => void;

/** A folder that is removed when the test is over. */
export const temporaryFolder = (onEnd: OnEnd = onTestFinished): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-'));
  // A process that is ending, such as a browser, may still write into it.
  onEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  return folder;
};

/** Starts a service that ends with the test. */
export const startTestService = async (
  {
    content,
    isDemoShipped = false,
    env = {},
    wall = Date.now,
    isSynchronized = () => false,
    tempo = testTempo,
    host = {},
    dataDir: givenDir,
  }: Setup = {},
  onEnd: OnEnd = onTestFinished,
): Promise<TestService> => {
  starts.services += 1;
  const dataDir = givenDir ?? temporaryFolder(onEnd);
  const lines: string[] = [];
  const writeContent = (next: unknown): void =>
    writeFileSync(join(dataDir, 'content.json'), typeof next === 'string' ? next : JSON.stringify(next));
  if (content !== undefined) writeContent(content);
  const options = readOptions({
    env: {
      PATH: await servicePath(),
      SIGNAGE_HOST: '127.0.0.1',
      SIGNAGE_PORT: '0',
      SIGNAGE_DATA_DIR: dataDir,
      SIGNAGE_LOG_LEVEL: 'debug',
      ...env,
    },
  });
  const checkAnswer = answerCheckOf(options.variant);
  const service = await startService(options, {
    log: pino(
      { level: options.logLevel, timestamp: pino.stdTimeFunctions.isoTime },
      { write: (line) => lines.push(line) },
    ),
    logLines: () => lines,
    rendererDir: join(root, 'dist', 'renderer'),
    resourcesDir: isDemoShipped ? join(root, 'resources') : lightResources(),
    now: wall,
    reserveBytes: 4096,
    isSynchronized,
    tempo,
    ...host,
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= service.close());
  onEnd(close);

  const get: TestService['get'] = async (path, init) => {
    const response = await fetch(service.url + path, init);
    await checkAnswer(init?.method ?? 'GET', path, response);
    return response;
  };
  return {
    url: service.url,
    hours: service.hours,
    pageHeaders: service.pageHeaders,
    nodeId: service.nodeId,
    recover: service.recover,
    updateFeeds: service.updateFeeds,
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

/** One service for all the tests of a file or a group, where they leave it as it was. */
export const shareTestService = (setup: Setup = {}): (() => TestService) => {
  const ends: (() => void | Promise<void>)[] = [];
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(setup, (end) => ends.unshift(end));
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => service;
};
