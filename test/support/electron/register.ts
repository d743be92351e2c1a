/** Makes the double of Electron what `electron` means to every module of this process, of either kind. */
import Module, { register, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { extname } from 'node:path';
import * as electron from './index.ts';

const double = new URL(`./index${extname(import.meta.url)}`, import.meta.url).href;
const hooks = `export const resolve = (name, context, next) =>
  next(name === 'electron' ? ${JSON.stringify(double)} : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

// The machine's, in bytes, so that a page can exceed its share of it.
const memory = process.env['DOUBLE_MEMORY'];
if (memory !== undefined) {
  os.totalmem = () => Number(memory);
  syncBuiltinESMExports();
}

type Load = (name: string, ...rest: unknown[]) => unknown;
const loader = Module as unknown as { _load: Load };
const load = loader._load;
// electron-updater requires it.
loader._load = (name, ...rest) => (name === 'electron' ? electron : load(name, ...rest));
