import { readFile } from 'node:fs/promises';
import type { LoadHook } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

export const load: LoadHook = async (url, context, nextLoad) => {
  if (!url.startsWith('file:') || !new URL(url).pathname.endsWith('.ts')) return nextLoad(url, context);
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), { loader: 'ts', target: 'node20' });
  return { format: 'module', source: code, shortCircuit: true };
};
