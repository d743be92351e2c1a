import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startService } from '/work/wt/infra/service/index.ts';
import { readOptions } from '/work/wt/infra/service/platform/options/index.ts';

const content =
  process.argv[2] === 'lobby'
    ? {
        screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
        playlists: [{ id: 'main', slides: [{ kind: 'text', title: 'a' }] }],
      }
    : undefined;
const one = async () => {
  const dir = mkdtempSync(join(tmpdir(), 'probe-'));
  if (content) writeFileSync(join(dir, 'content.json'), JSON.stringify(content));
  const options = readOptions({
    env: { PATH: process.env.PATH, SIGNAGE_HOST: '127.0.0.1', SIGNAGE_PORT: '0', SIGNAGE_DATA_DIR: dir },
  });
  const s = await startService(options, {
    log: pino({ level: 'silent' }),
    rendererDir: '/work/wt/infra/dist/renderer',
    resourcesDir: '/work/wt/infra/resources',
  });
  await s.close();
  rmSync(dir, { recursive: true });
};
await one();
await one();
const c = process.cpuUsage();
const t = performance.now();
for (let i = 0; i < 20; i++) await one();
const d = process.cpuUsage(c);
console.log('cpu ms', d.user / 20000, d.system / 20000, 'wall', (performance.now() - t) / 20);
