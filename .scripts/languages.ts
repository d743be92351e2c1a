/**
 * The languages of the pages, found in `renderer/texts/`. Pages import `virtual:texts/SECTION`, which has that section
 * in all languages, or `virtual:texts/SECTION/lazy`, which loads each language only when it is asked for.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin as EsbuildPlugin } from 'esbuild';
import type { Plugin as VitePlugin } from 'vite';
import { isPlural, type Message, placeholdersIn } from '../renderer/texts/messages.ts';

const folder = join(import.meta.dirname, '..', 'renderer', 'texts');
const prefix = 'virtual:texts/';

const tags = (): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length));

const pathOf = (tag: string): string => join(folder, `${tag}.json`);
const read = (tag: string): Record<string, Message> => JSON.parse(readFileSync(pathOf(tag), 'utf8'));

const moduleOf = (id: string): string => {
  const [section = '', part] = id.slice(prefix.length).split('/');
  if (part === undefined) {
    const languages = Object.fromEntries(tags().map((tag) => [tag, read(tag)[section]]));
    return `export const languages = ${JSON.stringify(languages)};`;
  }
  if (part !== 'lazy') return `export const section = ${JSON.stringify(read(part)[section])};`;
  const loaders = tags().map((tag) => `${JSON.stringify(tag)}: () => import('${prefix}${section}/${tag}')`);
  return `export const languages = { ${loaders.join(', ')} };`;
};

export const languagesForVite: VitePlugin = {
  name: 'languages',
  resolveId: (id) => (id.startsWith(prefix) ? `\0${id}` : null),
  load(id) {
    if (!id.startsWith(`\0${prefix}`)) return null;
    for (const tag of tags()) this.addWatchFile(pathOf(tag));
    return moduleOf(id.slice(1));
  },
};

export const languagesForEsbuild: EsbuildPlugin = {
  name: 'languages',
  setup: (build) => {
    build.onResolve({ filter: /^virtual:texts\// }, ({ path }) => ({ path, namespace: 'languages' }));
    build.onLoad({ filter: /.*/, namespace: 'languages' }, ({ path }) => ({
      contents: moduleOf(path),
      watchFiles: tags().map(pathOf),
    }));
  },
};

const typeOf = (message: Message): string => {
  const forms = isPlural(message) ? Object.values(message) : typeof message === 'string' ? [message] : null;
  if (forms === null) {
    const fields = Object.entries(message).map(([key, each]) => `${JSON.stringify(key)}: ${typeOf(each)}`);
    return `{ ${fields.join('; ')} }`;
  }
  const names = new Set(forms.flatMap(placeholdersIn));
  const values = [...names].filter((name) => name !== 'count').map((name) => `${name}: string | number`);
  if (names.has('count') || isPlural(message)) values.push('count: number');
  return values.length === 0 ? 'string' : `(values: { ${values.join('; ')} }) => string`;
};

/** Writes what the type checker knows of the modules above. */
export const declareTexts = (): void => {
  const modules = Object.entries(read('en')).map(
    ([section, messages]) => `
declare module '${prefix}${section}' {
  export type Texts = ${typeOf(messages)};
  export const languages: Languages;
}
declare module '${prefix}${section}/lazy' {
  export type { Texts } from '${prefix}${section}';
  export const languages: LazyLanguages;
}`,
  );
  const shared = `type Message = import('./messages.ts').Message;
type Languages = Readonly<Record<string, Message>>;
type LazyLanguages = Readonly<Record<string, () => Promise<{ section: Message }>>>;
`;
  const path = join(folder, 'texts.d.ts');
  const declaration = `/** Made from en.json by .scripts/languages.ts. */\n${shared}${modules.join('')}\n`;
  // A file that is newer than the build makes the build stale.
  if (!existsSync(path) || readFileSync(path, 'utf8') !== declaration) writeFileSync(path, declaration);
};
