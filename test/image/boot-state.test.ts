/** GRUB's environment as the box changes it: over the same bytes, with a second copy. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { environmentBlock } from '../../.scripts/image/layout.ts';
import { temporaryFolder } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';

const root = join(import.meta.dirname, '..', '..');
const script = join(root, 'resources', 'image', 'root', 'usr', 'lib', 'signage', 'boot-state');

const makeBox = () => {
  const folder = temporaryFolder();
  const [grub, bin] = [join(folder, 'efi', 'grub'), join(folder, 'bin')];
  for (const each of [grub, bin]) mkdirSync(each, { recursive: true });
  const mounts = join(folder, 'mounts');
  writeFileSync(join(bin, 'mount'), `#!/bin/sh\necho "$*" >>${mounts}\n`);
  chmodSync(join(bin, 'mount'), 0o755);
  const file = join(grub, 'grubenv');
  const block = environmentBlock({ SLOT: 'A', A_OK: '1', B_OK: '0', STARTS: 'xx', MID: '' });
  writeFileSync(join(folder, 'version'), '1.2.3\n');
  const kernel = join(folder, 'cmdline');
  const starts = (slot: 'A' | 'B'): void => writeFileSync(kernel, `root=x rauc.slot=${slot} gpt\n`);
  starts('A');
  for (const name of [file, `${file}.bak`]) writeFileSync(name, block);
  const state = (...args: string[]): string =>
    execFileSync(script, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${bin}:${process.env.PATH}`,
        EFI: join(folder, 'efi'),
        STATE: folder,
        OWN: folder,
        SYSTEM: folder,
        KERNEL: kernel,
      },
    }).trim();
  const report = () => {
    state('report');
    return JSON.parse(readFileSync(join(folder, 'signage-system.json'), 'utf8'));
  };
  return { folder, file, mounts, state, starts, report };
};

it('changes what it is told, keeps the rest, and writes both copies in their places', () => {
  const { file, mounts, state } = makeBox();
  const before = statSync(file).ino;
  state('set', 'STARTS=', 'MID=0123456789abcdef0123456789abcdef');
  for (const name of [file, `${file}.bak`]) {
    const text = readFileSync(name, 'utf8');
    expect(text).toHaveLength(1024);
    expect(text).toMatch(/^# GRUB Environment Block\nSLOT=A\nA_OK=1\nB_OK=0\nSTARTS=\nMID=[0-9a-f]{32}\n#+$/);
  }
  expect(statSync(file).ino).toBe(before);
  expect(state('get', 'MID')).toBe('0123456789abcdef0123456789abcdef');
  expect(readFileSync(mounts, 'utf8')).toMatch(/^-o remount,rw .*\n-o remount,ro /);
});

it('writes nothing where nothing changes', () => {
  const { mounts, state } = makeBox();
  state('set', 'STARTS=xx');
  expect(() => readFileSync(mounts)).toThrow();
});

it.each(['', 'not a block', '# GRUB Environment Block\n'])('takes the second copy where the first is %j', (text) => {
  const { file, state } = makeBox();
  writeFileSync(file, text);
  expect(state('get', 'STARTS')).toBe('xx');
  state('set', 'STARTS=');
  expect(readFileSync(file, 'utf8')).toMatch(/SLOT=A/);
  expect(readFileSync(file, 'utf8')).toHaveLength(1024);
});

it.each([452, 1_100])('refuses what has no room in a sector, and leaves the file: %s characters', (length) => {
  const { file, state } = makeBox();
  const before = readFileSync(file);
  expect(() => state('set', `MID=${'x'.repeat(length)}`)).toThrow(/there is no room for MID/);
  expect(readFileSync(file).equals(before)).toBe(true);
  rmSync(file);
});

it.each<[string, 'A' | 'B', string[][], string[], quick: string]>([
  ['a slot that has proved itself', 'B', [['set-primary', 'B']], ['set-state', 'B', 'good'], ''],
  ['a slot that has not', 'B', [['set-primary', 'B']], ['set-state', 'B', 'bad'], 'first'],
  ['a slot that was written', 'A', [['set-state', 'B', 'bad']], ['set-primary', 'B'], 'second'],
  ['all that it can hold', 'A', [], ['set', `MID=${'x'.repeat(451)}`], 'first'],
])(
  'is the old or the new state after a power cut between any two sectors of its writes: %s',
  (_, slot, before, change, quick) => {
    const { file, state, starts } = makeBox();
    starts(slot);
    // Also where an earlier cut has left one whole copy alone.
    const damages = ['', 'first', 'second'];
    for (const damage of isSoak ? damages : damages.filter((each) => each === quick)) {
      const reference = environmentBlock({ SLOT: 'A', A_OK: '1', B_OK: '1', STARTS: 'xx', MID: '0'.repeat(32) });
      for (const name of [file, `${file}.bak`]) writeFileSync(name, reference);
      for (const each of before) state(...each);
      if (damage !== '') writeFileSync(damage === 'first' ? file : `${file}.bak`, '');
      /** The values of all names, by a pattern of them. */
      const all = (): string => state('get', '[A-Z_]*');
      const was = [file, `${file}.bak`].map((name) => readFileSync(name));
      const oldState = all();
      state(...change);
      const is = [file, `${file}.bak`].map((name) => readFileSync(name));
      const newState = all();
      expect(newState).not.toEqual(oldState);
      const seen: string[] = [];
      for (let written = 0; written <= 2048; written += 512) {
        for (const [index, name] of [file, `${file}.bak`].entries()) {
          const length = Math.min(Math.max(written - index * 1024, 0), 1024);
          const [old = Buffer.alloc(0), next = Buffer.alloc(0)] = [was[index], is[index]];
          writeFileSync(name, Buffer.concat([next.subarray(0, length), old.subarray(length)]));
        }
        seen.push(all());
      }
      expect(seen.at(0)).toEqual(oldState);
      expect(seen.at(-1)).toEqual(newState);
      for (const each of seen) expect([oldState, newState]).toContainEqual(each);
    }
  },
);

const settled = { slot: 'A', version: '1.2.3', onTrial: false, left: null, fault: null };

it('gives a slot that RAUC has written a trial, and takes it for good once it has proved itself', () => {
  const { state, starts, report } = makeBox();
  expect([state('get-current'), state('get-primary'), state('get-state', 'B'), report()]).toEqual([
    'A',
    'A',
    'bad',
    settled,
  ]);
  state('set-state', 'B', 'bad');
  state('set-primary', 'B');
  expect([state('get-primary'), state('get-state', 'B'), state('get', 'SLOT')]).toEqual(['B', 'good', 'A']);
  starts('B');
  expect(report()).toEqual({ ...settled, slot: 'B', onTrial: true });
  state('set-state', 'B', 'good');
  expect(['SLOT', 'TRIAL', 'STARTS', 'A_OK', 'B_OK'].map((name) => state('get', name))).toEqual([
    'B',
    '',
    '',
    '1',
    '1',
  ]);
  expect(report()).toEqual({ ...settled, slot: 'B' });
});

it('gives a slot up that did not prove itself, and says so until another one has', () => {
  const { folder, state, starts, report } = makeBox();
  state('set-primary', 'B');
  // It has not run yet, and is written once more.
  state('set-state', 'B', 'bad');
  expect([report().left, state('get-primary')]).toEqual([null, 'A']);
  state('set-primary', 'B');
  starts('B');
  state('set-state', 'B', 'bad');
  starts('A');
  expect([state('get-primary'), state('get-state', 'B')]).toEqual(['A', 'bad']);
  expect(report()).toEqual({ ...settled, left: { slot: 'B', why: 'trial' } });
  writeFileSync(join(folder, 'update-fault'), 'x.raucb: its "signature"\n');
  expect(report().fault).toBe('x.raucb: its "signature"');
  // Marking it bad before it is written keeps the report of the earlier failure.
  state('set-state', 'B', 'bad');
  expect(report().left).toEqual({ slot: 'B', why: 'trial' });
  state('set-primary', 'B');
  expect(report().left).toBeNull();
});

it('tells what became of an update until a system of that version runs, however it came to the disk', () => {
  const { folder, report } = makeBox();
  for (const [version, isTold] of [
    ['1.2.3', true],
    ['3.0.0-beta.1', true],
    ['3.0.0', false],
  ] as const) {
    writeFileSync(join(folder, 'version'), `${version}\n`);
    const fault = 'signage-player-3.0.0-amd64.raucb: signature verification failed';
    writeFileSync(join(folder, 'update-fault'), `${fault}\n`);
    expect([version, report().fault]).toEqual([version, isTold ? fault : null]);
  }
});

it('goes back to the slot that is kept where that is made the primary one', () => {
  const { state } = makeBox();
  state('set-primary', 'B');
  state('set-primary', 'A');
  expect([state('get-primary'), state('get', 'TRIAL')]).toEqual(['A', '']);
});
