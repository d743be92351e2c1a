/** `npm run dev`: the service from its sources, restarted on change; the pages rebuilt on change. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..');

await build({ configFile: join(root, 'renderer', 'vite.config.ts'), build: { watch: {}, minify: false } });
const service = spawn(process.execPath, ['--watch', '--import', 'tsx', join(root, '.scripts', 'serve.ts')], {
  stdio: 'inherit',
});
service.on('exit', (code) => process.exit(code ?? 1));
