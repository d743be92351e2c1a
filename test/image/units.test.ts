/** The units of the image: what systemd itself keeps in /var waits until that is there, and all timers run. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const units = join(import.meta.dirname, '..', '..', 'resources/image/root/usr/lib/systemd/system');
const linesOf = (path: string, name: string): string[] =>
  [...readFileSync(join(units, path), 'utf8').matchAll(/^(\w+)=(.*)$/gm)].flatMap(([, key, value = '']) =>
    key === name ? value.split(' ') : [],
  );

it.each(['random-seed', 'journal-flush', 'rfkill', 'pstore', 'timesyncd', 'tmpfiles-setup'])(
  'systemd-%s comes after the data',
  (name) => {
    expect(linesOf('signage-storage.service', 'Before')).toContain(`systemd-${name}.service`);
  },
);

it('so does what keeps the brightness of a display, of which systemd makes a unit for each', () => {
  expect(linesOf('systemd-backlight@.service.d/image.conf', 'After')).toEqual(['signage-storage.service']);
});

it('a start without the data ends in the emergency of systemd, which the package takes from local-fs.target', () => {
  expect(linesOf('local-fs.target.d/image.conf', 'OnFailure')).toEqual(['emergency.target']);
});

it.each(readdirSync(units).filter((name) => name.endsWith('.timer')))(
  'the image starts %s with its service',
  (name) => {
    const build = readFileSync(join(import.meta.dirname, '..', '..', '.scripts/image/root.ts'), 'utf8');
    expect(build).toContain(`'${name}'`);
    expect(linesOf(name.replace('.timer', '.service'), 'Type')).toEqual(['oneshot']);
  },
);
