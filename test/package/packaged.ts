/** The app as it would be shipped, around a stub of Electron: everything but the runtime is real. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { extractAll } from '@electron/asar';
import { afterAll } from 'vitest';
import { temporaryFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');

/** How `@electron/fuses` finds the fuses in a binary: this, the version of the wire, its length, a character a fuse. */
const SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';

/** The fuses by their place in version 1 of the wire. */
const fuseNames = [
  'runAsNode',
  'cookieEncryption',
  'nodeOptions',
  'inspectArguments',
  'asarIntegrity',
  'onlyLoadAppFromAsar',
  'browserSnapshot',
  'fileProtocolPrivileges',
] as const;

/** Electron's own defaults, so that a fuse that nobody sets is seen to stand as it comes. */
const DEFAULT_WIRE = '10110001';

export const readFuses = (binary: Buffer): Record<string, boolean> => {
  const at = binary.indexOf(SENTINEL) + SENTINEL.length + 2;
  return Object.fromEntries(
    fuseNames.map((name, index) => [name, String.fromCharCode(binary[at + index] ?? 0) === '1']),
  );
};

export interface Packaged {
  /** The folder that would be installed. */
  folder: string;
  /** Its `resources`, where `app.asar` is. */
  resources: string;
  /** `app.asar`, taken apart; its `resources` are the packaged ones. */
  extracted: string;
}

/** Makes a folder with a stub of Electron, which is nothing but its fuses. */
export const makeElectron = (work: string): string => {
  const stub = join(work, 'electron');
  mkdirSync(stub);
  const wire = Buffer.from([1, DEFAULT_WIRE.length]);
  writeFileSync(join(stub, 'electron'), Buffer.concat([Buffer.from(SENTINEL), wire, Buffer.from(DEFAULT_WIRE)]));
  chmodSync(join(stub, 'electron'), 0o755);
  return stub;
};

/** Packages the built app for Linux; takes some seconds. The folder goes with the test file. */
export const packageApp = async (): Promise<Packaged> => {
  const work = temporaryFolder(afterAll);
  const stub = makeElectron(work);
  const builder = join(root, 'node_modules', 'electron-builder', 'cli.js');
  const settings = [`-c.electronDist=${stub}`, `-c.directories.output=${join(work, 'release')}`];
  await promisify(execFile)(process.execPath, [builder, '--linux', 'dir', '--x64', '--publish', 'never', ...settings], {
    cwd: root,
    maxBuffer: 2 ** 24,
  });

  const folder = join(work, 'release', 'linux-unpacked');
  const resources = join(folder, 'resources');
  const extracted = join(work, 'extracted');
  extractAll(join(resources, 'app.asar'), extracted);
  symlinkSync(resources, join(extracted, 'resources'));
  return { folder, resources, extracted };
};
