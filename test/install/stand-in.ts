/** What a machine or a container has in the place of Electron's runtime: its mock with real windows, and Node.js, in /standin. */
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Packaged, packageApp } from '../package/packaged.ts';
import { doubleArguments } from '../support/electron/bundle.ts';
import type { OnEnd } from '../support/service.ts';
import { buildDeb } from './deb.ts';

const launcher = (): string => `#!/bin/sh
export DOUBLE_APP=/standin/app DOUBLE_PACKAGED=1 DOUBLE_WINDOWS=wayland HOME=/var/lib/signage-player
exec /standin/node ${doubleArguments()
  .map((each) => each.replace(/^.*\/(?=register)/, '/standin/double/'))
  .join(' ')} \\
  /standin/app/dist/main/index.js --user-data-dir=/var/lib/signage-player/profile "$@"
`;

/** The package whose runtime is the stand-in. */
export const standInDeb = (app: Packaged, version: string, onEnd?: OnEnd): string =>
  buildDeb(app, version, launcher(), onEnd);

/** Copies the stand-in into a folder that becomes /standin. */
export const layOutStandIn = (app: Packaged, folder: string): void => {
  mkdirSync(folder, { recursive: true });
  cpSync(app.extracted, join(folder, 'app'), { recursive: true, dereference: true });
  cpSync(dirname(doubleArguments().at(-1) ?? ''), join(folder, 'double'), { recursive: true });
  copyFileSync(process.execPath, join(folder, 'node'));
  // They were the test's own.
  for (const name of ['app', 'double']) chmodSync(join(folder, name), 0o755);
};

/** Both, for an image. @returns the path of the package */
export const makeStandIn = async (folder: string, version: string, onEnd: OnEnd): Promise<string> => {
  const app = await packageApp(onEnd);
  const own = join(app.extracted, 'package.json');
  writeFileSync(own, JSON.stringify({ ...JSON.parse(readFileSync(own, 'utf8')), version }));
  layOutStandIn(app, folder);
  return standInDeb(app, version, onEnd);
};
