/** The service as others run it: a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface BenchService {
  url: string;
  process: ChildProcess;
  /** From the start of the process to its ready line, ms. */
  startMs: number;
  stop(): Promise<void>;
}

/** A lobby of a few slides, as most are. */
const content = {
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
  playlists: [
    {
      id: 'main',
      slides: Array.from({ length: 12 }, (_, index) => ({
        kind: 'text',
        title: `Slide ${index}`,
        body: 'Good morning. '.repeat(8),
      })),
    },
  ],
};

/**
 * @param settings SIGNAGE_ settings beyond those that every bench shares
 * @param fill puts media into the data directory, and answers the content
 */
export const startBenchService = async (
  settings: Record<string, string> = {},
  fill: (dataDir: string) => object = () => content,
): Promise<BenchService> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'signage-bench-'));
  writeFileSync(join(dataDir, 'content.json'), JSON.stringify(fill(dataDir)));
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['dist/service/headless.js'], {
    env: {
      PATH: process.env.PATH,
      SIGNAGE_HOST: '127.0.0.1',
      SIGNAGE_PORT: '0',
      SIGNAGE_DATA_DIR: dataDir,
      SIGNAGE_LOG_LEVEL: 'silent',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  let url: string | undefined;
  for await (const chunk of child.stdout) {
    output += String(chunk);
    url = /listening on (\S+)/.exec(output)?.[1];
    if (url !== undefined) break;
  }
  if (url === undefined) throw new Error('the service did not start');
  return {
    url,
    process: child,
    startMs: performance.now() - startedAt,
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};
