/** The service as others run it: a process of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer } from './harness/process.ts';

export interface BenchService extends Server {
  dataDir: string;
  /** From the start of the process to its ready line, ms. */
  startMs: number;
}

/** A lobby with one playlist of text slides. */
export const lobby = (slides = 12): object => ({
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
  playlists: [
    {
      id: 'main',
      slides: Array.from({ length: slides }, (_, index) => ({
        kind: 'text',
        title: `Slide ${index}`,
        body: 'Good morning. '.repeat(8),
      })),
    },
  ],
});

/**
 * @param settings SIGNAGE_ settings beyond those that every bench shares
 * @param fill puts media into the data directory, and answers the content
 */
export const startBenchService = async (
  settings: Record<string, string> = {},
  fill: (dataDir: string) => object = () => lobby(),
): Promise<BenchService> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'signage-bench-'));
  writeFileSync(join(dataDir, 'content.json'), JSON.stringify(fill(dataDir)));
  const startedAt = performance.now();
  const server = await startServer([process.execPath, 'dist/service/headless.js'], {
    SIGNAGE_HOST: '127.0.0.1',
    SIGNAGE_PORT: '0',
    SIGNAGE_DATA_DIR: dataDir,
    SIGNAGE_LOG_LEVEL: 'silent',
    ...settings,
  });
  return {
    ...server,
    dataDir,
    startMs: performance.now() - startedAt,
    stop: async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};
