/** Makes the double of Electron what `electron` means to every module of this process. */
import { register } from 'node:module';

const double = new URL('./index.ts', import.meta.url).href;
const hooks = `export const resolve = (name, context, next) =>
  next(name === 'electron' ? ${JSON.stringify(double)} : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
