/** nginx with its rtmp module, where it is installed. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { end } from '../../streams/publishing.ts';
import { freePort, untilListening } from '../../support/ports.ts';
import { findProgram } from '../../support/program.ts';
import { scratch } from './files.ts';

const nginxConfig = (folder: string, port: number, module: string) => `
load_module ${module};
daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
events {}
rtmp { access_log off; server { listen 127.0.0.1:${port};
  application default { live on; hls on; hls_path ${folder}/default; }
  application tuned { live on; hls on; hls_path ${folder}/tuned; hls_fragment 500ms; hls_playlist_length 3s; }
} }
`;

export const startNginx = async () => {
  const program = findProgram('nginx');
  const module = join(dirname(program ?? ''), '../lib/nginx/modules/ngx_rtmp_module.so');
  if (program === undefined || !existsSync(module)) return null;
  const folder = scratch();
  for (const name of ['default', 'tuned']) mkdirSync(join(folder, name), { mode: 0o777 });
  const port = await freePort();
  writeFileSync(join(folder, 'conf'), nginxConfig(folder, port, module));
  const child = spawn(program, ['-p', folder, '-c', join(folder, 'conf')], { stdio: 'inherit' });
  await untilListening(port);
  return {
    port,
    folder,
    async close() {
      await end(child);
      rmSync(folder, { recursive: true });
    },
  };
};
