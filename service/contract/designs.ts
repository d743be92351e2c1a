/** The designs, each a folder of `resources/designs`. The build evaluates this file. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Design } from './console/designs.ts';
import { designPrefix } from './design-prefix.ts';

const folder = join(import.meta.dirname, '..', '..', 'resources', 'designs');

const readDesign = (name: string): Design => {
  const text = (file: string): string => readFileSync(join(folder, name, file), 'utf8');
  const html = `<style>\n${text('style.css')}</style>\n${text('template.liquid')}`;
  return { id: designPrefix + name, ...(JSON.parse(text('design.json')) as Omit<Design, 'id' | 'html'>), html };
};

export const designs: readonly Design[] = readdirSync(folder).sort().map(readDesign);
