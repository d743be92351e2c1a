import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const read = (name: string): string => readFileSync(join(import.meta.dirname, '..', '..', name), 'utf8');

it('the deb recommends fonts for the scripts that the pages have none for, and the README names them', () => {
  const { deb } = parse(read('electron-builder.yml')) as { deb: { recommends: string[] } };
  for (const name of ['fonts-noto-core', 'fonts-noto-cjk', 'fonts-noto-color-emoji']) {
    expect(deb.recommends).toContain(name);
    expect(read('README.md')).toContain(name);
  }
});
