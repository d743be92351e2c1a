/** What electron-builder makes of the settings of the AppImage, up to where it needs programs from the network. */
import { join } from 'node:path';
import { Arch, build, Platform } from 'electron-builder';
import { expect, it } from 'vitest';
import { refusedSwitches } from '../../main/switches.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { temporaryFolder } from '../support/service.ts';
import { makeElectron } from './packaged.ts';

const root = join(import.meta.dirname, '..', '..');

it('an AppImage passes no switch that the kiosk refuses, and its runtime needs no library of the system', async () => {
  const work = temporaryFolder();
  let computed: { desktop: string } | undefined;
  let toolset: unknown;
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
      computed = given as { desktop: string };
      // Nothing more.
      return true;
    },
  };
  await build(options as Parameters<typeof build>[0]);
  const [, command = ''] = /^Exec=(.*)$/m.exec(computed?.desktop ?? '') ?? [];
  expect(command).toMatch(/^AppRun /);
  expect(refusedSwitches(command.split(' '))).toEqual([]);
  expect(computed?.desktop).toContain(`X-AppImage-Version=${packageJson.version}\n`);
  // Those of version 0 need libfuse2.
  expect(toolset).toMatch(/^[1-9]/);
}, 120_000);
