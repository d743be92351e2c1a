/** The app as it would be shipped, around a stub of Electron: everything but the runtime is real. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { extractAll } from '@electron/asar';
import { Arch, build, Platform } from 'electron-builder';
import { afterAll } from 'vitest';
import { type OnEnd, temporaryFolder } from '../support/service.ts';

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
  /** What an AppImage would be made with. */
  appImage: {
    /** Its desktop entry. */
    desktop: string;
    /** The version of its runtime; undefined: electron-builder's own choice. */
    toolset: string | undefined;
  };
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

/**
 * Packages the built app for Linux, up to where an AppImage needs programs from the network; takes some seconds.
 * @param onEnd when its folder goes
 */
export const packageApp = async (onEnd: OnEnd = afterAll): Promise<Packaged> => {
  const work = temporaryFolder(onEnd);
  let desktop = '';
  let toolset: string | undefined;
  const options = {
    projectDir: root,
    publish: 'never' as const,
    targets: Platform.LINUX.createTarget(['AppImage'], Arch.x64),
    config: {
      extends: join(root, 'electron-builder.yml'),
      electronDist: makeElectron(work),
      directories: { output: join(work, 'release') },
      afterPack: ({ packager }: { packager: { config: { toolsets?: { appimage?: string } } } }) => {
        toolset = packager.config.toolsets?.appimage;
      },
    },
    effectiveOptionComputed: async (given: unknown) => {
      ({ desktop } = given as { desktop: string });
      // Nothing more.
      return true;
    },
  };
  await build(options as Parameters<typeof build>[0]);

  const folder = join(work, 'release', 'linux-unpacked');
  const resources = join(folder, 'resources');
  const extracted = join(work, 'extracted');
  extractAll(join(resources, 'app.asar'), extracted);
  symlinkSync(resources, join(extracted, 'resources'));
  return { folder, resources, extracted, appImage: { desktop, toolset } };
};
